import type { CarillonError } from './error.ts';
import { exclusively } from './exclusively.ts';
import { recallFailures, rememberFailures } from './memory.ts';
import { retryPauseMs } from './retry-pause.ts';

const firstPauseMs = 10_000;

/**
 * Attempts what nobody waits for, unless an attempt failed too recently. A failure is remembered,
 * not thrown: otherwise each page view would be one more request to a service under overload.
 * @returns milliseconds until the next attempt may be made, 0 after a success.
 */
export function inBackground(scope: string, work: () => Promise<void>): Promise<number> {
  return exclusively(async () => {
    const { count = 0, notBefore = 0 } = { ...(await recallFailures(scope)) };
    const remainingMs = notBefore - Date.now();
    if (remainingMs > 0) return remainingMs;
    try {
      await work();
      return 0;
    } catch (error) {
      const pauseMs = retryPauseMs(firstPauseMs, count + 1, (error as CarillonError).retryAfter);
      await rememberFailures(scope, { count: count + 1, notBefore: Date.now() + pauseMs });
      return pauseMs;
    }
  });
}
