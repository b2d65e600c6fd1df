import { ServiceError } from '../contract/errors.ts';
import type { Project } from '../contract/project.ts';
import { projectIdSchema } from '../contract/schemas.ts';
import type { Step } from './reply.ts';

export type FindProject<Found extends Project = Project> = (
  projectId: string,
) => Promise<Found | undefined>;

/** Finds the project that the path names, or answers 404. */
export function findProject(find: FindProject): Step<{ project: Project }> {
  return {
    before: async ({ event }) => {
      const projectId = event.pathParameters?.projectId ?? '';
      const project = projectIdSchema.safeParse(projectId).success
        ? await find(projectId)
        : undefined;
      if (project === undefined) {
        throw new ServiceError(
          'project_not_found',
          'There is no project with this id; check the address.',
        );
      }
      event.project = project;
    },
  };
}
