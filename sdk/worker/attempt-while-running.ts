import type { Timing } from '../common/timing.ts';

/** Firefox ends a worker 60 s after its event, and a request may take 15 s. */
const lastAttemptMs = 45_000;

/**
 * Repeats attempts for as long as the browser lets the worker run.
 * @param attempt resolves to the milliseconds until the next attempt, undefined if none is needed.
 */
export async function attemptWhileRunning(
  attempt: () => Promise<number | undefined>,
  { now, wait }: Timing,
): Promise<void> {
  const end = now() + lastAttemptMs;
  for (;;) {
    const pauseMs = await attempt();
    if (pauseMs === undefined || now() + pauseMs > end) return;
    await wait(pauseMs);
  }
}
