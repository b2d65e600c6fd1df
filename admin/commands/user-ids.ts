import { Option } from 'commander';
import { type UserIdMode, userIdModes } from '../../contract/project.ts';
import type { Context } from './command.ts';

export interface UserIdsOption {
  readonly userIds?: UserIdMode;
}

export function userIdsOption(): Option {
  return new Option(
    '--user-ids <open|signed>',
    'accept any user id, or only those with a signature (default: open)',
  ).choices(userIdModes);
}

/** What an operator has to know who requires signatures. */
export function signedNote(projectId: string, next: Context['next']): string {
  return (
    'Within 30 seconds, every new user id needs a signature. Subscriptions that already have a user id\n' +
    'keep it, with or without one. To remove those of a user:\n\n' +
    `  ${next(`users delete ${projectId} <userId>`)}\n`
  );
}
