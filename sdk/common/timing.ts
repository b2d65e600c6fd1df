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

const maxPauseMs = 60 * 60 * 1000;

/**
 * Milliseconds to wait before the next attempt. Each pause is three times the previous one, up to an
 * hour. Half of it is random, so that clients that failed together do not retry together. The pause
 * starts after `Retry-After`.
 * @param failures number of consecutive failures, at least 1.
 * @param retryAfterSeconds if the response says how long to wait.
 * @param random from 0 to 1.
 */
export function retryPauseMs(
  firstPauseMs: number,
  failures: number,
  retryAfterSeconds: number | undefined,
  random: number,
): number {
  const pauseMs = Math.min(firstPauseMs * 3 ** (failures - 1), maxPauseMs);
  return (retryAfterSeconds ?? 0) * 1000 + pauseMs * (0.5 + random / 2);
}

/** @returns seconds, more than 0. Undefined: the response does not say how long to wait. */
export function retryAfterSecondsOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? seconds : undefined;
}

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
