import { Argument, InvalidArgumentError, Option } from 'commander';
import { projectIdPattern } from '../../contract/wire/formats.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { Confirmation } from '../terminal/ask.ts';
import { type Paint, type ProgressBar, printable, type Terminal } from '../terminal/terminal.ts';
import type { Connection } from './connection.ts';

/** What a command acts on. */
export interface Context extends Omit<Connection, 'close'> {
  readonly terminal: Terminal;
  /** Whether results are printed as JSON. */
  readonly isJson: boolean;
  /** Styles of the output. */
  readonly paint: Paint;
  /** Prints the result: the value as JSON under `--json`, the text otherwise. */
  print(value: unknown, text: string): void;
  /** A command to type next, for the same stack. */
  next(command: string): string;
  /** @throws {CommandError} unless the operator agrees, or has with `--yes`. */
  confirm(confirmation: Confirmation): Promise<void>;
  /** Draws a bar while the task runs. @param total items. */
  withBar<Result>(
    label: string,
    total: number,
    task: (update: ProgressBar['update']) => Promise<Result>,
  ): Promise<Result>;
}

/** Connects to the stack, runs the task and closes the connection. */
export type RunOnStack = (task: (context: Context) => Promise<void>) => Promise<void>;

export function projectIdArgument(): Argument {
  return new Argument('<projectId>', 'id of the project').argParser(readProjectId);
}

/** @throws {InvalidArgumentError} */
export function readProjectId(text: string): string {
  if (projectIdPattern.test(text)) return text;
  throw new InvalidArgumentError(
    'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.',
  );
}

/** @throws {InvalidArgumentError} */
export function readProjectName(name: string): string {
  return readName(name, name.length, limits.projectNameLength);
}

/**
 * @param length of the name, in the unit of its limit.
 * @throws {InvalidArgumentError}
 */
export function readName(name: string, length: number, most: number): string {
  if (length <= most && name.trim() !== '' && printable(name) === name) return name;
  throw new InvalidArgumentError(
    `Use 1 to ${most} characters, not only blanks, without control characters.`,
  );
}

export interface YesOption {
  readonly yes?: true;
}

export interface DryRunOption {
  readonly dryRun?: true;
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'print what would happen, and change nothing');
}

/** The last line of a result. */
export function dryRunText(dryRun: true | undefined): string {
  return dryRun ? 'This was a dry run: nothing was changed.\n' : '';
}

const unitsMs = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 } as const;

/**
 * Parses a duration of up to 30 days, such as `0`, `30m`, `24h` or `7d`.
 * @returns milliseconds.
 * @throws {InvalidArgumentError}
 */
export function readDuration(text: string): number {
  return text === '0'
    ? 0
    : readLifetime(text, 30, 'Use 0, or minutes, hours or days up to 30d, such as 30m, 24h or 7d.');
}

/**
 * Parses a duration above 0, such as `90d`.
 * @returns milliseconds.
 * @throws {InvalidArgumentError}
 */
export function readLifetime(text: string, maxDays: number, expected: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const durationMs = Number(amount) * unitsMs[unit as keyof typeof unitsMs];
  if (durationMs > 0 && durationMs <= maxDays * unitsMs.d) return durationMs;
  throw new InvalidArgumentError(expected);
}
