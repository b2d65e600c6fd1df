import { SingleBar } from 'cli-progress';
import { type Output, paintFor } from './terminal.ts';

export interface ProgressBar {
  /** @param done items, of the total. */
  update(done: number): void;
  /** Stops drawing. The bar stays on the terminal. */
  stop(): void;
}

/**
 * Draws a bar with counts and the remaining time, by the average pace: items come in bursts. Draws nothing if the
 * stream is not a terminal or `total` is 0.
 */
export function progressBar(
  stream: Output,
  label: string,
  total: number,
  nowMs = Date.now,
): ProgressBar {
  if (!stream.isTTY || total === 0) return { update() {}, stop() {} };
  const paint = paintFor(stream);
  const bar = new SingleBar({
    stream,
    format: `  ${label}  ${paint('cyan', '{bar}')}  {value}/{total}  ${paint('dim', '{left}')}`,
    barCompleteChar: '━',
    barIncompleteChar: '─',
    barsize: 30,
  });
  const startMs = nowMs();
  bar.start(total, 0, { left: '' });
  return {
    update(done) {
      const leftMs = ((nowMs() - startMs) / done) * Math.max(0, total - done);
      bar.update(done, { left: done === 0 ? '' : durationText(leftMs) });
    },
    stop: () => bar.stop(),
  };
}

/** `1h 20m`, `2m 5s`, `5s`. */
function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`;
}
