import { styleText } from 'node:util';
import { SingleBar } from 'cli-progress';

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

// Control characters (also ESC and CSI), line separators, unpaired surrogates, and characters that
// change the text direction. Each is one UTF-16 code unit.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

/** Escapes, as JSON does, the characters that could control a terminal. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Escapes each line of a text; JSON in it parses to the same value. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON that is safe to print on a terminal. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2));
}

export interface ProgressBar {
  /** @param done items, of the total. */
  update(done: number): void;
  /** Stops drawing. The bar stays on the terminal. */
  stop(): void;
}

/** Draws a bar with counts and the remaining time. Draws nothing if the stream is not a terminal or `total` is 0. */
export function progressBar(stream: Output, label: string, total: number): ProgressBar {
  if (!stream.isTTY || total === 0) return { update() {}, stop() {} };
  const paint = paintFor(stream);
  const bar = new SingleBar({
    stream,
    format: `  ${label}  ${paint('cyan', '{bar}')}  {value}/{total}  ${paint('dim', '{eta_formatted}')}`,
    barCompleteChar: '━',
    barIncompleteChar: '─',
    barsize: 30,
    // Items come in bursts: the pace is the average of this many updates.
    etaBuffer: 1000,
  });
  bar.start(total, 0);
  return { update: (done) => bar.update(done), stop: () => bar.stop() };
}

/** Sets up the process of a command. */
export function prepareProcess(): void {
  // The AWS SDK's warning about old Node.js versions does not concern the operator.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

  // `carillon list | head` closes the output before its end: that is no fault.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}
