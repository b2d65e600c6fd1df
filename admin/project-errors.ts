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
  constructor(projectId: string) {
    super(`Project "${projectId}" does not exist.`);
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

/** Somebody else changed the subscriber cap during the wait for a new one. */
export class PlanChangedMeanwhile extends Error {
  override readonly name = 'PlanChangedMeanwhile';
  readonly code = 'plan_changed';
  constructor(projectId: string) {
    super(`The plan of project "${projectId}" was changed meanwhile. Look at it and try again.`);
  }
}
