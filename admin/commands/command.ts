import { Argument, InvalidArgumentError, Option } from 'commander';
import { projectIdPattern } from '../../contract/formats.ts';
import { limits } from '../../contract/limits.ts';
import { notificationIdSchema } from '../../contract/schemas/fields.ts';
import { printable } from '../terminal/printable.ts';
import type { ProgressBar } from '../terminal/progress-bar.ts';
import type { Paint, Terminal } from '../terminal/terminal.ts';
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

/** A question before something that cannot be undone. */
export interface Confirmation {
  /** What the command does, as in "This deletes …". */
  readonly effect: string;
  /** What the operator has to type. */
  readonly expected: string;
  /** What the expected text is called. @default "project id" */
  readonly label?: string;
  /** The message if the operator types anything else. */
  readonly refusal: string;
  /** Whether the operator has agreed already. */
  readonly yes: true | undefined;
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

export function notificationIdArgument(): Argument {
  return new Argument('<notificationId>', 'id that send returned').argParser((text) => {
    if (notificationIdSchema.safeParse(text).success) return text;
    throw new InvalidArgumentError('Use the id that send returned, a UUID.');
  });
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
