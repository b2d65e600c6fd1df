import type { Output } from '../../admin/terminal/terminal.ts';
import type { Progress } from './scenario.ts';

/** Writes a line where a step begins and one where it ends: for a stream that is no terminal. */
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
