import { type Command, Option } from 'commander';
import { type UserIdMode, userIdModes } from '../../contract/project.ts';
import { readProjectName } from './command.ts';
import { addLimitOptions, type LimitOptions } from './limits.ts';

/** What `create` and `set` can set. */
export interface ProjectOptions extends LimitOptions {
  readonly name?: string;
  readonly userIds?: UserIdMode;
}

export function addProjectOptions(command: Command): Command {
  const named = command.option('--name <text>', 'name that people see', readProjectName);
  return addLimitOptions(named).addOption(
    new Option(
      '--user-ids <open|signed>',
      'accept any user id, or only those with a signature',
    ).choices(userIdModes),
  );
}
