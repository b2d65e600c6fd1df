/** Time and randomness. Tests replace them. */
export interface Timing {
  /** Milliseconds since the epoch, by a clock that people set: only for times that are stored. */
  readonly now: () => number;
  /** Milliseconds from any start, for how long something takes. */
  readonly elapsed: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

export const timing: Timing = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: Math.random,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/**
 * Limits a wait. A browser may never answer: Safari's storage with several tabs, a worker whose installation does not
 * end, a function that the page has replaced.
 * @param work may also throw, or return something else than a promise: then the result rejects. Its signal is aborted
 *   at the limit.
 * @throws {DOMException} a `TimeoutError` if it has not settled in time.
 */
export function within<Result>(
  ms: number,
  work: (signal: AbortSignal) => PromiseLike<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ms);
    signal.onabort = () => reject(signal.reason);
    work(signal).then(resolve, reject);
  });
}

const maxPauseMs = 60 * 60 * 1000;

/**
 * Milliseconds to wait before the next attempt. Each pause is three times the previous one, up to an
 * hour. Half of it is random, so that clients that failed together do not retry together. The pause
 * starts after `Retry-After`, which counts up to an hour.
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
  return Math.min((retryAfterSeconds ?? 0) * 1000, maxPauseMs) + pauseMs * (0.5 + random / 2);
}

/**
 * Milliseconds until the stored end of a pause; 0 or less if it is over. No pause is longer than two hours: an end that
 * is further away was stored while the clock was wrong.
 */
export function remainingMs(end: number, now: number): number {
  return end - now > 2 * maxPauseMs ? 0 : end - now;
}

/**
 * Milliseconds to wait after a failure, as {@link retryPauseMs} has them.
 * @param failure of a request, or anything else that was thrown.
 */
export function pauseAfterMs(
  failure: { readonly response?: Response },
  firstPauseMs: number,
  failures: number,
  environment = timing,
): number {
  return retryPauseMs(
    firstPauseMs,
    failures,
    retryAfterSecondsOf(failure.response),
    environment.random(),
  );
}

/** @returns seconds, more than 0. Undefined: the response does not say how long to wait. */
export function retryAfterSecondsOf(response: Response | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after'));
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
  { elapsed, wait }: Pick<Timing, 'elapsed' | 'wait'>,
): Promise<void> {
  const end = elapsed() + lastAttemptMs;
  for (;;) {
    const pauseMs = await attempt();
    if (pauseMs === undefined || elapsed() + pauseMs > end) return;
    await wait(pauseMs);
  }
}
