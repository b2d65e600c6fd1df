import { printable } from '../terminal/printable.ts';
import type { Paint } from '../terminal/terminal.ts';

/** `skipped`: the stack has nothing to check. */
export type Level = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  readonly level: Level;
  /** What was found, and what to do about it. One line. */
  readonly message: string;
}

export interface NamedFinding extends Finding {
  readonly check: string;
  /** How long it took, if that tells something. */
  readonly milliseconds?: number;
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;

export function findingLine(
  { check, level, message, milliseconds }: NamedFinding,
  paint: Paint,
): string {
  const time = milliseconds === undefined ? '' : paint('dim', ` (${milliseconds} ms)`);
  return `${paint(colours[level], level.padEnd(7))}  ${check.padEnd(13)}  ${printable(message)}${time}\n`;
}
