import { styleText } from 'node:util';

/** An output stream, which may be a terminal. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/** The streams of a command. Tests pass their own. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: Output;
  /** For messages, questions and progress, because `output` may be piped to another program. */
  readonly messages: Output;
}

/** The terminal of this process. */
export const processTerminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  messages: process.stderr,
};

/** Adds a style to a text: `paint('bold', 'x')`. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Adds no style. */
export const plain: Paint = (_format, text) => text;

/** Adds styles if the stream is a terminal and `NO_COLOR` is not set (no-color.org). */
export function paintFor(stream: Output, env: NodeJS.ProcessEnv = process.env): Paint {
  if (!stream.isTTY || env.NO_COLOR) return plain;
  // The stream is checked above. Later versions of Node would check stdout instead.
  return (format, text) => styleText(format, text, { validateStream: false });
}
