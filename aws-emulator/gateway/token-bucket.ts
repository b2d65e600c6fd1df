/** The limit on all callers of a route together. */
export interface Throttle {
  readonly ratePerSecond: number;
  /** How many requests may come at once. */
  readonly burst: number;
}

/**
 * Throttles as API Gateway does. The bucket starts with `burst` tokens. Each request takes one, and
 * `ratePerSecond` tokens are added per second up to `burst`.
 */
export class TokenBucket {
  readonly #throttle: Throttle;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  /** @param nowMs a clock that never goes back. */
  constructor(throttle: Throttle, nowMs: () => number) {
    this.#throttle = throttle;
    this.#nowMs = nowMs;
    this.#tokens = throttle.burst;
    this.#filledAtMs = nowMs();
  }

  /** Takes a token. @returns false if the bucket is empty. */
  take(): boolean {
    const { ratePerSecond, burst } = this.#throttle;
    const nowMs = this.#nowMs();
    const added = ((nowMs - this.#filledAtMs) / 1000) * ratePerSecond;
    this.#tokens = Math.min(burst, this.#tokens + added);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
