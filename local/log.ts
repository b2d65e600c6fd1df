import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { FunctionLog } from 'aws-emulator/function-pool';
import type { AccessLine } from 'aws-emulator/gateway';
import { type Paint, plain } from '../admin/terminal/terminal.ts';
import { parseJson } from '../contract/text/text.ts';
import { projectIdSchema } from '../contract/wire/fields.ts';

/** The functions' output: one JSON object per line, `{ time, function, log }`. */
export const functionLogFile = '.carillon/functions.log';

/** The first line replaces the previous log, so that a failed start without output keeps it. */
export function functionLog(file = functionLogFile) {
  let stream: WriteStream | undefined;
  return {
    write({ function: name, text }: FunctionLog): void {
      if (stream === undefined) mkdirSync(dirname(file), { recursive: true });
      // Readable by its owner only: logs may contain personal data.
      stream ??= createWriteStream(file, { mode: 0o600 });
      const time = new Date().toISOString();
      // The functions log JSON objects. Warnings of Node.js are text.
      const log = parseJson(text) ?? text;
      stream.write(`${JSON.stringify({ time, function: name, log })}\n`);
    },
    async close() {
      if (stream === undefined) return;
      stream.end();
      await finished(stream);
    },
  };
}

/** The line that is printed for a request: `POST /api/v1/projects/demo → 201  12 ms`. */
export function requestLine(
  { method, match, response: { status }, durationMs }: AccessLine,
  paint: Paint = plain,
): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const duration = paint('dim', `${Math.round(durationMs)} ms`);
  return `${method} ${pathOf(match)} → ${paint(colour, String(status))}  ${duration}`;
}

/**
 * The route's path with the project id, which is public. The rest of the URL is left out: it may
 * contain a notification id, an endpoint, or by mistake a secret key.
 */
function pathOf(match: AccessLine['match']): string {
  if (match === undefined) return '(no route)';
  const { route, parameters } = match;
  const { data: projectId } = projectIdSchema.safeParse(parameters.projectId);
  return `/${route.segments.join('/')}`.replace('{projectId}', projectId ?? '{projectId}');
}
