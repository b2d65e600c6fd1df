import { formatTime } from './terminal/table.ts';

/** An expected failure of an operator's task. The message is one line for the operator. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';

  constructor(
    /** Stable: commands print it under `--json`. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The stack cannot be reached. The message says what to do. */
export class ConnectionError extends CommandError {
  constructor(message: string, options?: ErrorOptions) {
    super('stack_unreachable', message, options);
  }
}

/** What to do if AWS refuses the credentials with this error. */
export function signInAdvice(error: string, region: string): string {
  // A region that is not enabled says so of every credential.
  const isUnknownThere = ['InvalidClientTokenId', 'UnrecognizedClientException'].includes(error);
  return `Sign in again${isUnknownThere ? `, or enable the region ${region} in your account` : ''}.`;
}

export class ProjectNotFound extends CommandError {
  override readonly name = 'ProjectNotFound';

  constructor(
    readonly projectId: string,
    /** What an operator can do. */
    advice = '',
  ) {
    super('project_not_found', `Project "${projectId}" does not exist.${advice}`);
  }
}

/** The removal of an earlier project with this id is running or was interrupted. */
export function removalIncomplete(projectId: string): CommandError {
  return new CommandError(
    'project_half_removed',
    `An earlier project "${projectId}" is not fully removed. Delete it again to finish.`,
  );
}

/** A rotation would end a secret key that is still to stay valid. @param until ISO 8601. */
export function gracePeriod(projectId: string, until: string): CommandError {
  return new CommandError(
    'grace_period',
    `The previous secret key of "${projectId}" is valid until ${formatTime(until)}. A rotation would end it now. Wait, or use --revoke; with --grace as well, the present one then stays valid.`,
  );
}

/** The items of projects are there, and those of their keys are not. */
export function keysMissing(projectIds: readonly string[]): CommandError {
  return new CommandError(
    'keys_missing',
    `VapidKeys or IdentityKeys have nothing of ${projectIds.join(', ')}. Restore it: see "From another second" in docs/backup.md.`,
  );
}
