import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { projectIdPattern } from '../../contract/wire/formats.ts';
import type { AuditEntry } from '../../lambdas/store/audit.ts';
import type { Confirmation } from '../terminal/ask.ts';
import { newCommand, repeatable } from '../terminal/command-line.ts';
import { type Paint, type ProgressBar, printable, type Terminal } from '../terminal/terminal.ts';
import type { Connection } from './connection.ts';

/** What a command acts on. */
export interface Context extends Omit<Connection, 'close'> {
  readonly terminal: Terminal;
  /** Whether results are printed as JSON. */
  readonly isJson: boolean;
  /** The options of the commands that have them. */
  readonly yes: true | undefined;
  readonly dryRun: true | undefined;
  /** Styles of the output. */
  readonly paint: Paint;
  /** Prints the result: the value as JSON under `--json`; otherwise the text, and whether it was a dry run. */
  print(value: unknown, text: string): void;
  /** Adds to the entry that the audit gets of this command: to one for each project, if it names some. */
  note(details: Partial<Pick<AuditEntry, 'projectId' | 'count' | 'subject' | 'member'>>): void;
  /** A command to type next, for the same stack. */
  next(command: string): string;
  /** @throws {CommandError} unless the operator agrees, or has with `--yes`. */
  confirm(confirmation: Omit<Confirmation, 'yes'>): Promise<void>;
  /** Draws a bar while the task runs. @param total items. */
  withBar<Result>(
    label: string,
    total: number,
    task: (update: ProgressBar['update']) => Promise<Result>,
  ): Promise<Result>;
}

/** Connects to the stack, runs the task and closes the connection. */
export type RunOnStack = (task: (context: Context) => Promise<void>) => Promise<void>;

/** A command on one project. @param examples the arguments after its name. */
export function projectCommand(
  name: string,
  description: string,
  ...examples: readonly string[]
): Command {
  return newCommand(name, description, ...examples).addArgument(
    new Argument('<projectId>', 'id of the project').argParser(readProjectId),
  );
}

/** The project of a command that also works on all of them. */
export function optionalProject(): Argument {
  return new Argument('[projectId]', 'id of the project').argParser(readProjectId);
}

/** The ids of all projects, in their order. */
export async function allProjectIds({ registry }: Pick<Context, 'registry'>) {
  const projectIds: string[] = [];
  for await (const { projectId } of registry.list()) projectIds.push(projectId);
  return projectIds.sort();
}

/** Names one project, and more if it is given again. */
export function projectsOption(description: string): Option {
  const option = new Option('--project <projectId>', description).argParser(
    (id: string, ids: readonly string[] = []) => [...ids, readProjectId(id)],
  );
  repeatable.add(option);
  return option;
}

export const dryRunOption = ['--dry-run', 'print what would happen, and change nothing'] as const;

/** @throws {InvalidArgumentError} if the text is another URL, or none: a path would look as if it restricted anything. */
export function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (/^https?:$/.test(url?.protocol ?? '') && url!.href === `${url!.origin}/`) return url!.origin;
  throw new InvalidArgumentError(
    `"${printable(text)}" is not an origin, such as https://www.example.com.`,
  );
}

/** @throws {InvalidArgumentError} */
export function readProjectId(text: string): string {
  if (projectIdPattern.test(text)) return text;
  throw new InvalidArgumentError(
    'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.',
  );
}

/** Parses RFC 3339. @throws {InvalidArgumentError} */
export function readTime(text: string): Date {
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
  throw new InvalidArgumentError('Use a time such as 2026-11-27T09:00:00Z.');
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
