import { openDialogue } from '../terminal/dialogue.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError } from './command.ts';

interface Confirmation {
  /** What the command does, as in "This deletes …". */
  readonly effect: string;
  /** What the operator has to type. */
  readonly expected: string;
  /** What the expected text is called. @default "project id" */
  readonly label?: string;
  /** The message if the operator types anything else. */
  readonly refusal: string;
}

/**
 * Asks the operator to type an id before something that cannot be undone.
 * @throws {CommandError} unless the operator types it.
 */
export async function confirm(
  { effect, expected, label = 'project id', refusal }: Confirmation,
  { input, messages }: Pick<Terminal, 'input' | 'messages'>,
): Promise<void> {
  if (!input.isTTY) {
    throw new CommandError(
      'confirmation_needed',
      'Cannot ask without a terminal. Use --yes to continue without asking.',
    );
  }
  const dialogue = openDialogue({ input, messages });
  const typed = await dialogue.ask(`This ${effect}.\nType the ${label} to continue: `);
  dialogue.close();
  if (typed?.trim() !== expected.trim()) throw new CommandError('not_confirmed', refusal);
}
