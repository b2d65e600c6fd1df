import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import { projectIdSchema } from '../../contract/schemas.ts';
import type { Step } from './reply.ts';

export type FindProject<Found extends Project = Project> = (
  projectId: string,
) => Promise<Found | undefined>;

/** Finds the project that the path names. It does not answer yet: {@link requireProject} does. */
export function findProject(find: FindProject): Step<{ project?: Project }> {
  return {
    before: async ({ event }) => {
      const projectId = event.pathParameters?.projectId ?? '';
      if (!projectIdSchema.safeParse(projectId).success) return;
      const project = await find(projectId);
      if (project !== undefined) event.project = project;
    },
  };
}

/** Answers 404 where no project was found, once the request is counted. */
export function requireProject(): Step<{ project: Project }> {
  return {
    before: ({ event }) => {
      if (event.project !== undefined) return;
      throw new ServiceError(
        'project_not_found',
        'There is no project with this id; check the address.',
      );
    },
  };
}
