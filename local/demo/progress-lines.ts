import type { Output } from '../../admin/terminal/terminal.ts';
import type { Progress } from './progress.ts';

/** Prints one line when a step starts and one when it ends, to a stream that is not a terminal. */
export function progressLines(stream: Output, step: string, total: number): Progress {
  let latest = 0;
  const write = () => stream.write(`  ${step}: ${latest} of ${total}\n`);
  write();
  return {
    update(done) {
      latest = done;
    },
    stop: write,
  };
}
