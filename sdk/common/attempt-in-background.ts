import { retryPauseMs } from './retry-pause.ts';
import { backgroundPauseMs, type Failure } from './service.ts';
import { readFailures, storeFailures } from './storage.ts';
import { timing } from './timing.ts';
import { withLock } from './with-lock.ts';

/**
 * Runs work that nobody waits for, unless the pause after a failure has not ended. Failures are stored,
 * not thrown: without the pause, each page view would send another request to an overloaded service.
 * @returns milliseconds until the next attempt is allowed, undefined after a success.
 */
export function attemptInBackground(
  scope: string,
  work: () => Promise<void>,
  { now, random } = timing,
): Promise<number | undefined> {
  return withLock(async () => {
    const { count = 0, notBefore = 0 } = { ...(await readFailures(scope)) };
    const remainingMs = notBefore - now();
    if (remainingMs > 0) return remainingMs;
    try {
      await work();
      return undefined;
    } catch (error) {
      const { retryAfter } = error as Failure;
      const pauseMs = retryPauseMs(backgroundPauseMs, count + 1, retryAfter, random());
      await storeFailures(scope, { count: count + 1, notBefore: now() + pauseMs });
      return pauseMs;
    }
  });
}
