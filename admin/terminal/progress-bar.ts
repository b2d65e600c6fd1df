import { SingleBar } from 'cli-progress';
import { type Output, paintFor } from './terminal.ts';

export interface ProgressBar {
  /** Sets how much is done. */
  update(done: number): void;
  /** Leaves the bar as it is and gives the terminal back. */
  stop(): void;
}

/**
 * Draws a bar with counts and the time left; draws nothing where the stream is no terminal, or
 * where there is nothing to do.
 */
export function progressBar(stream: Output, label: string, total: number): ProgressBar {
  if (!stream.isTTY || total === 0) return { update() {}, stop() {} };
  const paint = paintFor(stream);
  const bar = new SingleBar({
    stream,
    format: `  ${label}  ${paint('cyan', '{bar}')}  {value}/{total}  ${paint('dim', '{eta_formatted}')}`,
    barCompleteChar: '━',
    barIncompleteChar: '─',
    barsize: 30,
  });
  bar.start(total, 0);
  return { update: (done) => bar.update(done), stop: () => bar.stop() };
}
