import type { CarillonError } from './error.ts';
import { retryPauseMs } from './retry-pause.ts';
import { readFailures, storeFailures } from './storage.ts';
import { withLock } from './with-lock.ts';

const firstPauseMs = 10_000;

/**
 * Runs work that nobody waits for, unless the pause after a failure has not ended. Failures are stored,
 * not thrown: without the pause, each page view would send another request to an overloaded service.
 * @returns milliseconds until the next attempt is allowed, 0 after a success.
 */
export function attemptInBackground(scope: string, work: () => Promise<void>): Promise<number> {
  return withLock(async () => {
    const { count = 0, notBefore = 0 } = { ...(await readFailures(scope)) };
    const remainingMs = notBefore - Date.now();
    if (remainingMs > 0) return remainingMs;
    try {
      await work();
      return 0;
    } catch (error) {
      const pauseMs = retryPauseMs(firstPauseMs, count + 1, (error as CarillonError).retryAfter);
      await storeFailures(scope, { count: count + 1, notBefore: Date.now() + pauseMs });
      return pauseMs;
    }
  });
}
