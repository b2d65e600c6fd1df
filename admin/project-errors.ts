/** What an operator's task may find out about a project id. `code` is stable: commands print it. */

export class ProjectExists extends Error {
  override readonly name = 'ProjectExists';
  readonly code = 'project_exists';
  constructor(projectId: string) {
    super(`There is a project "${projectId}" already.`);
  }
}

export class ProjectNotFound extends Error {
  override readonly name = 'ProjectNotFound';
  readonly code = 'project_not_found';
  constructor(projectId: string) {
    super(`There is no project "${projectId}".`);
  }
}

/** The removal of an earlier project with this id is still running, or was interrupted. */
export class ProjectHalfRemoved extends Error {
  override readonly name = 'ProjectHalfRemoved';
  readonly code = 'project_half_removed';
  constructor(projectId: string) {
    super(`An earlier project "${projectId}" is not removed entirely yet; delete it again.`);
  }
}
