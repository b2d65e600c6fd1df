import { CommandError } from '../errors.ts';
import { ask } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Confirmation } from './command.ts';

/**
 * Asks the operator to type an id before something that cannot be undone.
 * @throws {CommandError} unless the operator types it.
 */
export async function confirm(
  { effect, expected, label = 'project id', refusal, yes }: Confirmation,
  { input, messages }: Pick<Terminal, 'input' | 'messages'>,
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) {
    throw new CommandError(
      'confirmation_needed',
      'Cannot ask without a terminal. Use --yes to continue without asking.',
    );
  }
  const question = `This ${effect}.\nType the ${label} to continue: `;
  const typed = await ask({ input, messages }, question);
  if (typed?.trim() !== expected.trim()) throw new CommandError('not_confirmed', refusal);
}
