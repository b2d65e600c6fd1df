import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { CommandError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks a person at a terminal one question. The input is not kept open: what is typed later may be for a program that
 * this one starts.
 * @returns undefined if the person ends the input (Ctrl-C, Ctrl-D).
 */
export async function ask(
  { input, messages }: Pick<Terminal, 'input' | 'messages'>,
  question: string,
): Promise<string | undefined> {
  const reader = createInterface({ input, output: messages, prompt: question });
  reader.prompt();
  try {
    for await (const line of reader) return line;
    messages.write('\n');
    return undefined;
  } finally {
    reader.close();
  }
}

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

/**
 * Reads a secret, without the white space around it. Never from an argument, which other users of the machine
 * can see and the shell stores in its history.
 * @param file `-` reads standard input.
 * @throws {CommandError} without the name of the file, which may be the secret.
 */
export async function readSecret(file: string, input: Terminal['input']): Promise<string> {
  try {
    const bytes = file === '-' ? await buffer(input) : await readFile(file);
    // The redirection of Windows PowerShell writes UTF-16.
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes).trim();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new CommandError(
      'unreadable_secret',
      `Cannot read the file with the secret (${code}). Give the name of a file, or - for standard input; never the secret.`,
      { cause },
    );
  }
}

/** A question before something that cannot be undone. */
export interface Confirmation {
  /** What the command does, as in "This deletes …". */
  readonly effect: string;
  /** What the operator has to type. */
  readonly expected: string;
  /** What the expected text is called. @default "project id" */
  readonly label?: string;
  /** The message if the operator types anything else. */
  readonly refusal: string;
  /** Whether the operator has agreed already. */
  readonly yes: true | undefined;
}

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
      `This ${effect}. Without a terminal nobody can be asked: use --yes to continue.`,
    );
  }
  const question = `This ${effect}.\nType the ${label} to continue: `;
  const typed = await ask({ input, messages }, question);
  if (typed?.trim() !== expected.trim()) throw new CommandError('not_confirmed', refusal);
}
