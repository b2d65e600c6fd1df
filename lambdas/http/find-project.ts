import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { PathIds } from './path-ids.ts';
import type { Middleware } from './response.ts';
import type { TimeLimit } from './time-limit.ts';

/**
 * Finds the project that the path names. {@link requireProject} refuses the request if there is
 * none, after it has been counted.
 */
export function findProject<Found extends Project>(
  find: ProjectStore<Found>['find'],
): Middleware<{ ids: PathIds; project?: Found } & TimeLimit> {
  return {
    before: async ({ event }) => {
      const { projectId } = event.ids;
      if (projectId === undefined) return;
      const project = await find(projectId, event.signal);
      if (project !== undefined) event.project = project;
    },
  };
}

/** Refuses a request without a project: 404. */
export function requireProject<Found extends Project>(): Middleware<{
  ids: PathIds;
  project: Found;
}> {
  return {
    before: ({ event }) => {
      if (event.project !== undefined) return;
      const { projectId } = event.ids;
      const project = projectId === undefined ? 'project with this id' : `project "${projectId}"`;
      throw new ServiceError(
        'project_not_found',
        `There is no ${project}; check the project id and the address.`,
      );
    },
  };
}
