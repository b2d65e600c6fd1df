const longestPauseMs = 60 * 60 * 1000;

/**
 * Milliseconds to wait before the next attempt. Each pause is three times the one before, up to an
 * hour. Half of it is random, so that browsers that failed together do not return together. A
 * `Retry-After` is waited for first, in full.
 * @param failures in a row, 1 or more.
 * @param retryAfter seconds.
 * @param random 0 to 1.
 */
export function retryPauseMs(
  firstPauseMs: number,
  failures: number,
  retryAfter = 0,
  random = Math.random(),
): number {
  const pauseMs = Math.min(firstPauseMs * 3 ** (failures - 1), longestPauseMs);
  return retryAfter * 1000 + pauseMs * (0.5 + random / 2);
}
