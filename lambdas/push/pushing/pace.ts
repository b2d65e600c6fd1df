/**
 * Milliseconds of starts that may be made up for. Timers are late by some milliseconds on a busy
 * processor, and the rate could not be reached otherwise. Any second has at most 5 % more starts.
 */
const catchUpMs = 50;

/** Spaces starts evenly, so that there are at most this many per second (GCRA, ITU-T I.371). */
export class Pace {
  readonly #intervalMs: number;
  #nextAt: number;

  constructor(startsPerSecond: number, now: number) {
    this.#intervalMs = 1000 / startsPerSecond;
    this.#nextAt = now;
  }

  /** Takes a start if one is free. @returns 0 if so, otherwise ms until the next one is. */
  start(now: number): number {
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = Math.max(this.#nextAt, now - catchUpMs) + this.#intervalMs;
    return 0;
  }

  /** Gives back a start that was taken for nothing. */
  notStarted(): void {
    this.#nextAt -= this.#intervalMs;
  }
}
