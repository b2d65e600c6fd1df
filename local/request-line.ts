import { type Paint, plain } from '../bin/terminal/terminal.ts';
import type { AccessLine } from './gateway.ts';

/** Characters of a URL that a line shows. */
const urlLength = 90;

/** One answered request as one line: `POST /api/v1/projects/demo → 201  12 ms`. */
export function requestLine(
  { method, url, status, milliseconds }: AccessLine,
  paint: Paint = plain,
): string {
  const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const shown = url.length > urlLength ? `${url.slice(0, urlLength - 1)}…` : url;
  const duration = paint('dim', `${Math.round(milliseconds)} ms`);
  return `${method} ${shown} → ${paint(colour, String(status))}  ${duration}`;
}
