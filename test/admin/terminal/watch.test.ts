import { watch } from '../../../admin/terminal/watch.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

/** Watches a count until the third text was read, when somebody presses Ctrl-C. */
async function watchedTexts(isTTY: boolean) {
  const terminal = testTerminal({ isTTY });
  const waits: number[] = [];
  let count = 0;
  const read = async () => {
    count += 1;
    if (count === 3) process.emit('SIGINT');
    return `${count}\n`;
  };
  await watch(terminal.output, 5000, read, async (ms) => {
    waits.push(ms);
  });
  return { output: terminal.written().output, waits };
}

test('on a terminal each text replaces the one before, until Ctrl-C', async () => {
  const { output, waits } = await watchedTexts(true);
  expect(output).toBe('\x1b[H\x1b[J1\n\x1b[H\x1b[J2\n\x1b[H\x1b[J3\n');
  expect(waits).toEqual([5000, 5000, 5000]);
});

test('in a file or pipe the texts follow each other', async () => {
  expect((await watchedTexts(false)).output).toBe('1\n2\n3\n');
});

test('Ctrl-C ends the pause', async () => {
  const { output } = testTerminal();
  const hourMs = 60 * 60 * 1000;
  const read = async () => {
    setImmediate(() => process.emit('SIGINT'));
    return '';
  };
  await watch(output, hourMs, read);
});
