/** Time and randomness. Tests replace them. */
export interface Timing {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

export const timing: Timing = {
  now: () => Date.now(),
  random: Math.random,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
