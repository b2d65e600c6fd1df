/** Shows the progress of one step. */
export interface Progress {
  update(done: number): void;
  stop(): void;
}

/** Starts to show the progress of a step that consists of `total` items. */
export type StartProgress = (step: string, total: number) => Progress;

const pollIntervalMs = 100;

/** Does work that reports its progress itself. */
export async function withProgress<Result>(
  progress: Progress,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(progress);
  } finally {
    // Also after an error: a bar that is not stopped keeps the process running.
    progress.stop();
  }
}

/** Does work whose progress is polled: `done` returns how many items are done. */
export function withPolledProgress<Result>(
  progress: Progress,
  done: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  return withProgress(progress, async () => {
    const timer = setInterval(() => progress.update(done()), pollIntervalMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      progress.update(done());
    }
  });
}
