import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Questions to a person at a terminal. */
export interface Dialogue {
  /** Asks one question. @returns undefined if the person ends the input (Ctrl-C, Ctrl-D). */
  ask(question: string): Promise<string | undefined>;
  close(): void;
}

/** Opens the input, which must be a terminal. */
export function openDialogue({ input, messages }: Pick<Terminal, 'input' | 'messages'>): Dialogue {
  const reader = createInterface({ input, output: messages });
  const lines = reader[Symbol.asyncIterator]();
  return {
    async ask(question) {
      reader.setPrompt(question);
      reader.prompt();
      const { value, done } = await lines.next();
      if (done) messages.write('\n');
      return done ? undefined : value;
    },
    close: () => reader.close(),
  };
}
