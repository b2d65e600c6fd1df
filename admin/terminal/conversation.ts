import { CommandError } from '../errors.ts';
import { ask } from './ask.ts';
import type { Terminal } from './terminal.ts';

/** What a command asks the operator. */
export interface Conversation {
  /** Whether the operator agrees to everything. */
  readonly isAgreed: boolean;
  /** @param flag gives the same answer. @throws {CommandError} without an answer. */
  ask(question: string, flag: string): Promise<string>;
  /** @throws {CommandError} unless the operator agrees. */
  agree(question: string): Promise<void>;
}

export function openConversation(terminal: Terminal, isAgreed: boolean): Conversation {
  async function askOrStop(question: string, flag: string): Promise<string> {
    if (!terminal.input.isTTY) {
      throw new CommandError('confirmation_needed', `Cannot ask "${question.trim()}" Use ${flag}.`);
    }
    const typed = await ask(terminal, question);
    if (typed !== undefined) return typed.trim();
    throw new CommandError('not_confirmed', 'Stopped. Run the command again to continue.');
  }

  return {
    isAgreed,
    ask: askOrStop,
    async agree(question) {
      if (isAgreed || /^y(es)?$/i.test(await askOrStop(`${question} [y/N] `, '--yes'))) return;
      throw new CommandError('not_confirmed', 'Nothing was changed in AWS.');
    },
  };
}
