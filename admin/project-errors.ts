import { limits } from '../contract/limits.ts';
import { printable } from './terminal/printable.ts';

/** The errors of operator tasks. `code` is stable: commands print it under `--json`. */

export class ProjectExists extends Error {
  override readonly name = 'ProjectExists';
  readonly code = 'project_exists';
  constructor(projectId: string) {
    super(`Project "${projectId}" already exists.`);
  }
}

export class ProjectNotFound extends Error {
  override readonly name = 'ProjectNotFound';
  readonly code = 'project_not_found';
  constructor(
    readonly projectId: string,
    /** What an operator can do. */
    advice = '',
  ) {
    super(`Project "${projectId}" does not exist.${advice}`);
  }
}

/** The removal of an earlier project with this id is running or was interrupted. */
export class ProjectRemovalIncomplete extends Error {
  override readonly name = 'ProjectRemovalIncomplete';
  readonly code = 'project_half_removed';
  constructor(projectId: string) {
    super(`An earlier project "${projectId}" is not fully removed. Delete it again to finish.`);
  }
}

/** Tables that were restored from a backup have keys of a project of different moments. */
export class RestoredKeysMismatch extends Error {
  override readonly name = 'RestoredKeysMismatch';
  readonly code = 'restored_keys_mismatch';
  constructor(projectId: string) {
    super(
      `The restored tables Projects, VapidKeys and IdentityKeys do not have the same keys of project "${projectId}", ` +
        'which was changed at that moment. Restore all of them to an earlier second.',
    );
  }
}

/** A table that the operator named for a restore is not the one. */
export class WrongRestoredTable extends Error {
  override readonly name = 'WrongRestoredTable';
  readonly code = 'wrong_table';
}

/** A project has at most two VAPID pairs: another rotation would orphan the oldest subscriptions. */
export class PreviousVapidPairExists extends Error {
  override readonly name = 'PreviousVapidPairExists';
  readonly code = 'previous_vapid_pair_exists';
  constructor(projectId: string) {
    super(
      `Project "${projectId}" still has a previous application server key. ` +
        `Drop it first, with the command rotate ${projectId} vapid --drop-previous.`,
    );
  }
}

/** The application server key was never rotated. */
export class NoPreviousVapidPair extends Error {
  override readonly name = 'NoPreviousVapidPair';
  readonly code = 'no_previous_vapid_pair';
  constructor(projectId: string) {
    super(`Project "${projectId}" has no previous application server key.`);
  }
}

/** Functions may not know the new pair yet. */
export class VapidPairJustRotated extends Error {
  override readonly name = 'VapidPairJustRotated';
  readonly code = 'vapid_pair_just_rotated';
  constructor(projectId: string, waitMs: number) {
    super(
      `The application server key of "${projectId}" was just rotated. ` +
        `Drop the previous one in ${Math.ceil(waitMs / 1000)} s at the earliest. Until then, some functions do not know the new key.`,
    );
  }
}

export class PreviousVapidPairInUse extends Error {
  override readonly name = 'PreviousVapidPairInUse';
  readonly code = 'previous_vapid_pair_in_use';
  constructor(projectId: string, subscribers: number) {
    super(
      `Subscribers of "${projectId}" that still use its previous application server key: ` +
        `${subscribers.toLocaleString('en-US')}. Wait until they have visited the site, or remove them with --revoke.`,
    );
  }
}

/** A project's members have different names. */
export class MemberExists extends Error {
  override readonly name = 'MemberExists';
  readonly code = 'member_exists';
  constructor(projectId: string, member: string) {
    super(
      `Project "${projectId}" has a member "${printable(member)}". Choose another name, or revoke that one first.`,
    );
  }
}

export class TooManyMembers extends Error {
  override readonly name = 'TooManyMembers';
  readonly code = 'too_many_members';
  constructor(projectId: string) {
    super(
      `Project "${projectId}" has ${limits.members} members, the most possible. Revoke one first.`,
    );
  }
}

export class MemberNotFound extends Error {
  override readonly name = 'MemberNotFound';
  readonly code = 'member_not_found';
  constructor(projectId: string, member: string) {
    super(
      `Project "${projectId}" has no member "${printable(member)}". List them with the command members ${projectId}.`,
    );
  }
}
