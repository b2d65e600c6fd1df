import type { Parameters } from 'fast-check';

/** Names the number that all generated cases of a run come from. */
export const seedVariable = 'SEED';

export const seed = Number(process.env[seedVariable] ?? Date.now() % 2 ** 31);

/** How fast-check runs a property here: so many cases, from the run's seed. */
export function cases<T>(numRuns: number, more: Parameters<T> = {}): Parameters<T> {
  return { seed, numRuns, ...more };
}
