/** Most pushes in flight, over all push services and to one of them. */
export interface InFlightLimits {
  readonly overall: number;
  readonly perPushService: number;
  /** The limit that a push service begins with, and the lowest one for a slow push service. */
  readonly initial: number;
  /** The lowest limit for a push service whose pushes fail. */
  readonly minimum: number;
}

/**
 * Each push in flight has a connection, and a function should have at most 512. With pushes that take
 * 60 to 90 ms, 360 keep one processor busy.
 */
export const inFlight: InFlightLimits = {
  overall: 480,
  perPushService: 360,
  initial: 32,
  minimum: 4,
};

/** Milliseconds within which a healthy push service responds. */
export const promptMs = 1000;

/**
 * Limits the pushes in flight to one push service, and adapts the limit to how it responds: one more
 * after each prompt success, one less after each slow or failed push. Pushes in flight cannot be
 * recalled; so a slow push service never holds the connections that the others could use, and a
 * failing one does not take the processor from them. While half of all connections are free, a slow
 * or failing push service may have more as well.
 */
export class Limiter {
  readonly #limits: InFlightLimits;
  #limit: number;
  #inFlight = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
    this.#limit = limits.initial;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  hasRoom(): boolean {
    return this.#inFlight < this.#limit;
  }

  started(): void {
    this.#inFlight += 1;
  }

  /**
   * @param succeeded whether the push service is healthy, as far as this push shows.
   * @param inFlightOverall pushes still in flight to all push services.
   */
  ended(succeeded: boolean, tookMs: number, inFlightOverall: number): void {
    this.#inFlight -= 1;
    const { overall, perPushService, initial, minimum } = this.#limits;
    const isHealthy = succeeded && tookMs < promptMs;
    if (isHealthy || inFlightOverall < overall / 2) {
      this.#limit = Math.min(perPushService, this.#limit + 1);
    } else {
      this.#limit = Math.max(succeeded ? initial : minimum, this.#limit - 1);
    }
  }
}
