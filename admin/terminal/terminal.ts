import { styleText } from 'node:util';

/** A stream to write to, which may be a terminal. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/** Where a command reads and writes; tests hand in their own. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: Output;
  /** For people: messages, questions, progress. What `output` carries may be piped on. */
  readonly messages: Output;
}

/** The terminal of this process. */
export const processTerminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  messages: process.stderr,
};

/** Gives a text its looks: `paint('bold', 'x')`. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Leaves every text as it is. */
export const plain: Paint = (_format, text) => text;

/** Colours what goes to a terminal, unless `NO_COLOR` is set (no-color.org). */
export function paintFor(stream: Output, env: NodeJS.ProcessEnv = process.env): Paint {
  if (!stream.isTTY || env.NO_COLOR) return plain;
  // The stream has been looked at; later versions of Node would look at stdout instead.
  return (format, text) => styleText(format, text, { validateStream: false });
}
