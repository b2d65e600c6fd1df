import { createInterface } from 'node:readline';
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
