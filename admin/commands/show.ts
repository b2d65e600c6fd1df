import { Command } from 'commander';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, projectJson, type RunOnStack } from './command.ts';
import { effectiveLimits } from './effective-limits.ts';
import { projectText } from './project-text.ts';

export function showCommand(runOnStack: RunOnStack): Command {
  const command = new Command('show')
    .description('Prints a project, its limits and its usage.')
    .addArgument(projectIdArgument())
    .action((projectId: string) =>
      runOnStack(async ({ registry, settings, terminal, print }) => {
        const project = await registry.find(projectId);
        if (!project) throw new ProjectNotFound(projectId);
        const usage = {
          ...(await registry.usage(projectId)),
          previousKeySubscribers: project.previousVapidPublicKey
            ? await registry.countPreviousPair(project)
            : undefined,
        };
        const limits = effectiveLimits(project.plan, settings);
        print(
          projectJson(project, { usage, limits }),
          projectText(project, settings, paintFor(terminal.output), usage),
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --local --json');
}
