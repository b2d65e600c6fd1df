import { ProjectNotFound } from '../project-errors.ts';
import { paintFor } from '../terminal/terminal.ts';
import { type Command, projectJson } from './command.ts';
import { projectText } from './project-text.ts';

export const show: Command<Record<never, never>> = {
  summary: 'Shows a project, its limits and what it has used of them.',
  takesProject: true,
  flags: {},
  prepare:
    (_flags, projectId) =>
    async ({ registry, terminal, print }) => {
      const project = await registry.find(projectId);
      if (!project) throw new ProjectNotFound(projectId);
      const usage = await registry.usage(projectId);
      print(projectJson(project, usage), projectText(project, paintFor(terminal.output), usage));
    },
};
