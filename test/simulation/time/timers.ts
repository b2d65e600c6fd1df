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

    abortAfter(ms) {
      const controller = new AbortController();
      // Every call that waits listens.
      setMaxListeners(0, controller.signal);
      if (ms <= 0) controller.abort();
      else after(ms, () => controller.abort());
      return controller.signal;
    },
  };
}
