import { Argument, InvalidArgumentError } from 'commander';
import { projectIdPattern } from '../../contract/formats.ts';
import { limits } from '../../contract/limits.ts';
import { notificationIdSchema } from '../../contract/schemas/ids.ts';
import type { ProjectUsage } from '../../lambdas/store/usage.ts';
import type { RegisteredProject } from '../registered-project.ts';
import { printable } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Connection } from './connection.ts';
import type { EffectiveLimits } from './effective-limits.ts';

/** How users call the command. Without `-s`, npm prints a banner before the output. */
export const programName = 'npm run -s carillon --';

/** What a command acts on. */
export interface Context extends Omit<Connection, 'close'> {
  readonly terminal: Terminal;
  /** Whether results are printed as JSON. */
  readonly isJson: boolean;
  /** Prints the result: the value as JSON under `--json`, the text otherwise. */
  print(value: unknown, text: string): void;
  /** A command to type next, for the same stack. */
  next(command: string): string;
}

/** Connects to the stack, runs the task and closes the connection. */
export type RunOnStack = (task: (context: Context) => Promise<void>) => Promise<void>;

/** An expected failure. The message is one line for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    /** Stable: printed under `--json`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

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
  const isShort = name.length <= limits.projectNameLength;
  if (isShort && name.trim() !== '' && printable(name) === name) return name;
  throw new InvalidArgumentError(
    `Use 1 to ${limits.projectNameLength} characters, not only blanks, without control characters.`,
  );
}

export function notificationIdArgument(): Argument {
  return new Argument('<notificationId>', 'id that send returned').argParser(readNotificationId);
}

function readNotificationId(text: string): string {
  if (notificationIdSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('Use the id that send returned, a UUID.');
}

export interface ShownUsage extends ProjectUsage {
  /** Subscribers that use the previous application server key, if the project has one. */
  readonly previousKeySubscribers?: number | undefined;
}

/** A project as `--json` prints it. */
export function projectJson(
  { vapidPublicKey, previousVapidPublicKey, ...project }: RegisteredProject,
  stored?: { readonly usage: ShownUsage; readonly limits: EffectiveLimits },
) {
  const { projectId, name, plan, userIds, createdAt } = project;
  const { previousKeyUntil, previousIdentityKeyUntil } = project;
  return {
    projectId,
    name,
    applicationServerKey: vapidPublicKey,
    previousApplicationServerKey: previousVapidPublicKey,
    plan,
    userIds,
    createdAt,
    previousKeyUntil,
    previousIdentityKeyUntil,
    ...stored,
  };
}
