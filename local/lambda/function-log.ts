import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { FunctionLog } from './function-instance.ts';

/** Where the functions' output goes: one JSON object per line, `{ time, function, log }`. */
export const functionLogFile = '.carillon/functions.log';

export interface FunctionLogFile {
  write(line: FunctionLog): void;
  close(): Promise<void>;
}

/** A log that replaces the one before at its first line: a start that fails leaves that as it is. */
export function functionLog(file = functionLogFile): FunctionLogFile {
  let stream: WriteStream | undefined;
  const open = () => {
    mkdirSync(dirname(file), { recursive: true });
    // What functions log may tell of people: nobody else's to read.
    return createWriteStream(file, { mode: 0o600 });
  };
  return {
    write({ function: name, text }) {
      stream ??= open();
      const time = new Date().toISOString();
      stream.write(`${JSON.stringify({ time, function: name, log: structured(text) })}\n`);
    },
    async close() {
      if (stream === undefined) return;
      stream.end();
      await finished(stream);
    },
  };
}

/** The functions log JSON objects; the runtime's own lines are text. */
function structured(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
