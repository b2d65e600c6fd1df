import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { FunctionLog } from 'aws-emulator/function-pool';

/** The functions' output: one JSON object per line, `{ time, function, log }`. */
export const functionLogFile = '.carillon/functions.log';

/** The first line replaces the previous log, so that a failed start without output keeps it. */
export function functionLog(file = functionLogFile) {
  let stream: WriteStream | undefined;
  const open = () => {
    mkdirSync(dirname(file), { recursive: true });
    // Readable by its owner only: logs may contain personal data.
    return createWriteStream(file, { mode: 0o600 });
  };
  return {
    write({ function: name, text }: FunctionLog): void {
      stream ??= open();
      const time = new Date().toISOString();
      stream.write(`${JSON.stringify({ time, function: name, log: parseIfJson(text) })}\n`);
    },
    async close() {
      if (stream === undefined) return;
      stream.end();
      await finished(stream);
    },
  };
}

/** The functions log JSON objects. Warnings of Node.js are text. */
function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
