import { UsageError } from '../terminal/arguments.ts';
import { paintFor } from '../terminal/terminal.ts';
import { type Command, projectJson } from './command.ts';
import { limitFlags, readLimits } from './limits.ts';
import { projectText } from './project-text.ts';

export const setPlan: Command<typeof limitFlags> = {
  summary: "Changes a project's limits; default gives one back to the deployment.",
  takesProject: true,
  flags: limitFlags,
  prepare(given, projectId) {
    const changes = readLimits(given);
    if (Object.keys(changes).length === 0) {
      const names = Object.keys(limitFlags).map((name) => `--${name}`);
      throw new UsageError(`Nothing to change: give ${names.join(', ')}.`);
    }
    return async ({ registry, terminal, print }) => {
      const project = await registry.setPlan(projectId, changes);
      print(projectJson(project), projectText(project, paintFor(terminal.output)));
    };
  },
};
