import { setMaxListeners } from 'node:events';

/** The waits that code under test is given. */
export interface Timers {
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A signal that aborts after this many ms. */
  readonly abortAfter: (ms: number) => AbortSignal;
}

/** @param after does something in this many ms. */
export function timers(after: (ms: number, act: () => void) => void): Timers {
  return {
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const abort = () => reject(signal!.reason);
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort);
        after(ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
      }),

    // As `AbortSignal.timeout` of Node: it takes whole milliseconds that are not negative.
    abortAfter(ms) {
      if (!Number.isInteger(ms) || ms < 0) throw new RangeError(`Not a delay: ${ms}`);
      const controller = new AbortController();
      // Every call that waits listens.
      setMaxListeners(0, controller.signal);
      after(ms, () => controller.abort());
      return controller.signal;
    },
  };
}
