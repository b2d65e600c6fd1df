import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, projectJson, type RunOnStack } from './command.ts';
import { addLimitOptions, type LimitOptions, readPlanChange } from './limits.ts';
import { projectText } from './project-text.ts';
import { signedNote, type UserIdsOption, userIdsOption } from './user-ids.ts';

export function setPlanCommand(runOnStack: RunOnStack): Command {
  const command = addLimitOptions(
    new Command('set-plan')
      .description(
        "Changes a project's limits, and whether user ids need a signature. default removes a limit from the plan.",
      )
      .addArgument(projectIdArgument()),
  )
    .addOption(userIdsOption())
    .action(async (projectId: string, options: LimitOptions & UserIdsOption) => {
      const { userIds } = options;
      const changes = readPlanChange(options);
      const changesLimits = Object.keys(changes).length > 0;
      if (!changesLimits && userIds === undefined) {
        command.error(
          'nothing to change: give --subscriber-cap, --send-cap, --rate-limit or --user-ids',
        );
      }
      await runOnStack(async ({ registry, settings, terminal, print, next }) => {
        const changed = userIds && (await registry.setUserIds(projectId, userIds));
        const project =
          changed && !changesLimits
            ? changed
            : await registry.setPlan(projectId, changes, settings);
        const text = projectText(project, settings, paintFor(terminal.output));
        const note = userIds === 'signed' ? `\n${signedNote(projectId, next)}` : '';
        print(projectJson(project), text + note);
      });
    });
  return withExamples(
    command,
    'my-site --subscriber-cap 5000',
    'my-site --send-cap default',
    'my-site --user-ids signed',
  );
}
