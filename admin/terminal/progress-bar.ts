import { SingleBar } from 'cli-progress';
import { type Output, paintFor } from './terminal.ts';

export interface ProgressBar {
  /** @param done items, of the total. */
  update(done: number): void;
  /** Stops drawing. The bar stays on the terminal. */
  stop(): void;
}

/** Draws a bar with counts and the remaining time. Draws nothing if the stream is not a terminal or `total` is 0. */
export function progressBar(stream: Output, label: string, total: number): ProgressBar {
  if (!stream.isTTY || total === 0) return { update() {}, stop() {} };
  const paint = paintFor(stream);
  const bar = new SingleBar({
    stream,
    format: `  ${label}  ${paint('cyan', '{bar}')}  {value}/{total}  ${paint('dim', '{eta_formatted}')}`,
    barCompleteChar: '━',
    barIncompleteChar: '─',
    barsize: 30,
    // Items come in bursts: the pace is the average of this many updates.
    etaBuffer: 1000,
  });
  bar.start(total, 0);
  return { update: (done) => bar.update(done), stop: () => bar.stop() };
}
