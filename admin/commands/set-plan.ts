import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, projectJson, type RunOnStack } from './command.ts';
import { addLimitOptions, type LimitOptions, readPlanChange } from './limits.ts';
import { projectText } from './project-text.ts';

export function setPlanCommand(runOnStack: RunOnStack): Command {
  const command = addLimitOptions(
    new Command('set-plan')
      .description("Changes a project's limits. default removes a limit from the plan.")
      .addArgument(projectIdArgument()),
  ).action(async (projectId: string, options: LimitOptions) => {
    const changes = readPlanChange(options);
    if (Object.keys(changes).length === 0) {
      command.error('nothing to change: give --subscriber-cap, --send-cap or --rate-limit');
    }
    await runOnStack(async ({ registry, settings, terminal, print }) => {
      const project = await registry.setPlan(projectId, changes, settings);
      print(projectJson(project), projectText(project, settings, paintFor(terminal.output)));
    });
  });
  return withExamples(command, 'my-site --subscriber-cap 5000', 'my-site --send-cap default');
}
