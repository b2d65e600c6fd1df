import { randomBytes } from 'node:crypto';
import type { Argument, Command, Option } from 'commander';
import { auditStore } from '../../lambdas/store/audit.ts';
import type { CommandError } from '../errors.ts';
import type { Context } from './command.ts';

/** What leaves no entry: it changes nothing, and gives nobody's data away. */
export const unrecordedCommands: readonly string[] = [
  'show',
  'list',
  'members',
  'notifications list',
  'doctor',
  'audit',
];

/** The project of entries that are not about one project. */
export const everyProject = '*';

/** A command as it was called: what was chosen of given choices, and no value that somebody has typed. */
export function calledAs(command: Command) {
  const { registeredArguments, options, processedArgs } = command;
  const chosen = ({ argChoices }: Argument | Option, value: unknown) =>
    argChoices !== undefined && typeof value === 'string' ? value : undefined;
  const given = options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => {
      const value = chosen(option, command.getOptionValue(option.attributeName()));
      return value === undefined ? option.long : `${option.long}=${value}`;
    });
  const words = registeredArguments.map((argument, at) => chosen(argument, processedArgs[at]));
  const at = registeredArguments.findIndex((argument) => argument.name() === 'projectId');
  const path = pathOf(command);
  return {
    path,
    projectId: (processedArgs[at] as string | undefined) ?? everyProject,
    action: [path, ...words, ...given].filter(Boolean).join(' '),
  };
}

/** Such as `users delete`. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

/** Errors of commands that have done nothing. */
const unchangedCodes = [
  'project_not_found',
  'not_confirmed',
  'confirmation_needed',
  'nobody_found',
];

/** Whether a failed command may have done something. */
function mayHaveChanged(error: unknown): boolean {
  const { code } = error as Partial<CommandError>;
  return !unchangedCodes.includes(code!);
}

/**
 * Runs the task of a command and records it. What cannot be recorded is said, and changes nothing else.
 */
export async function recorded(
  { dynamo, tables, caller, terminal, dryRun }: Omit<Context, 'note'>,
  { path, ...call }: ReturnType<typeof calledAs>,
  task: (note: Context['note']) => Promise<void>,
): Promise<void> {
  const notes = new Map<string, Parameters<Context['note']>[0]>();
  const record = async (failed?: true) => {
    if (dryRun || unrecordedCommands.includes(path)) return;
    try {
      const by = await caller().catch(() => 'unknown');
      const audit = auditStore(dynamo, tables.audit, () => new Date(), randomBytes);
      const entries = notes.size === 0 ? [call] : notes.values();
      for (const entry of entries) await audit.record({ ...call, ...entry, by, failed });
    } catch (error) {
      terminal.messages.write(`The audit has no entry of this: ${(error as Error).message}\n`);
    }
  };
  try {
    await task((more) => {
      notes.set(more.projectId ?? call.projectId, more);
    });
  } catch (error) {
    // What was noted has begun, whatever the error says.
    if (notes.size > 0 || mayHaveChanged(error)) await record(true);
    throw error;
  }
  await record();
}
