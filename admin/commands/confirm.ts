import { createInterface } from 'node:readline';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError } from './command.ts';

/**
 * Asks before something is deleted.
 * @throws {CommandError} unless the operator types the expected text.
 */
export async function confirm(
  question: string,
  expected: string,
  { input, messages }: Terminal,
): Promise<void> {
  if (!input.isTTY) {
    throw new CommandError('Cannot ask without a terminal. Use --yes to delete without asking.');
  }
  const lines = createInterface({ input, output: messages });
  const typed = await new Promise<string | undefined>((resolve) => {
    lines.question(question, resolve);
    // Ctrl-C and Ctrl-D close the input without calling the callback of `question`.
    lines.once('close', () => resolve(undefined));
  });
  lines.close();
  if (typed === undefined) messages.write('\n');
  if (typed?.trim() !== expected.trim()) throw new CommandError('Nothing was deleted.');
}
