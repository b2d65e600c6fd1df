/**
 * Milliseconds of pushes that may be made up for after a pause. Timers are late by some milliseconds
 * on a busy processor; without it the rate would never be reached. In any second there are therefore
 * at most 5 % more starts than the rate.
 */
const catchUpMs = 50;

/** Spaces starts evenly, so that there are at most so many per second (GCRA, ITU-T I.371). */
export class Pace {
  readonly #intervalMs: number;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(startsPerSecond: number) {
    this.#intervalMs = 1000 / startsPerSecond;
  }

  /** Milliseconds until the next start is allowed; 0 or less if it is. */
  wait(now: number): number {
    return this.#nextAt - now;
  }

  started(now: number): void {
    // The first start has no pause before it.
    const earliest = this.#nextAt === Number.NEGATIVE_INFINITY ? now : now - catchUpMs;
    this.#nextAt = Math.max(this.#nextAt, earliest) + this.#intervalMs;
  }
}
