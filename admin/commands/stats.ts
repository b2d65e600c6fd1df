import { Command } from 'commander';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import { isKept, notificationResult } from '../../lambdas/results/notification-result.ts';
import { tallyNumbers } from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { notificationIdArgument, projectIdArgument, type RunOnStack } from './command.ts';
import { notificationTable, notificationText } from './notification-text.ts';

/** Notifications in the table. */
const listed = 20;

export function statsCommand(runOnStack: RunOnStack): Command {
  const command = new Command('stats')
    .description(`Prints the counts of a notification, or of the last ${listed}.`)
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument().argOptional())
    .action((projectId: string, notificationId: string | undefined) =>
      runOnStack(async ({ registry, dynamo, tables, terminal, print }) => {
        if (!(await registry.find(projectId))) throw new ProjectNotFound(projectId);
        const paint = paintFor(terminal.output);
        const deps = {
          notifications: notificationStore(dynamo, tables.notifications),
          tallies: tallyStore(dynamo, tables.tallies),
          clock: () => new Date(),
        };
        if (notificationId !== undefined) {
          const found = await getNotification(deps, { projectId }, notificationId);
          print(found, notificationText(found, paint));
          return;
        }
        const now = deps.clock();
        const newest = await deps.notifications.newest(projectId, listed);
        const kept = newest.filter((notification) => isKept(notification, now));
        const tallies = await deps.tallies.findEach(
          kept.map(({ id, division }) => ({ notificationId: id, numbers: tallyNumbers(division) })),
        );
        const found = kept.map((one, index) => notificationResult(one, tallies[index]!, now));
        const nothing = `"${projectId}" has sent no notification within the last 90 days.\n`;
        print(found, found.length === 0 ? nothing : notificationTable(found, paint));
      }),
    );
  return withExamples(command, 'my-site', 'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e');
}
