import { Command } from 'commander';
import type { AudienceCounts } from '../../contract/schemas/project.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import { isKept, notificationResult } from '../../lambdas/results/notification-result.ts';
import { countAudience } from '../../lambdas/store/audience-counts.ts';
import { tallyNumbers } from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { ProjectNotFound } from '../project-errors.ts';
import { subscriptionPages } from '../subscriptions/subscription-pages.ts';
import { withExamples } from '../terminal/command-line.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { table } from '../terminal/table.ts';
import { type Paint, paintFor } from '../terminal/terminal.ts';
import { notificationIdArgument, projectIdArgument, type RunOnStack } from './command.ts';
import { formatCount } from './limits.ts';
import { notificationTable, notificationText } from './notification-text.ts';

/** Notifications in the table. */
const listed = 20;

export function statsCommand(runOnStack: RunOnStack): Command {
  const command = new Command('stats')
    .description(
      `Prints the counts of a notification, or of the last ${listed}; or counts the subscribers that conditions select.`,
    )
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument().argOptional())
    .option(
      '--subscribers',
      'count subscribers by when they were seen, and by channel: reads all of them',
    )
    .action(
      (projectId: string, notificationId: string | undefined, { subscribers }: StatsOptions) =>
        runOnStack(async ({ registry, dynamo, tables, terminal, print }) => {
          if (!(await registry.find(projectId))) throw new ProjectNotFound(projectId);
          const paint = paintFor(terminal.output);
          if (subscribers) {
            const { subscribers: total } = await registry.usage(projectId);
            const bar = progressBar(terminal.messages, 'counting', total);
            const pages = subscriptionPages(dynamo, tables.subscriptions, projectId, {
              ProjectionExpression: 'updatedAt, channels',
            });
            const counts = await countAudience(pages, new Date(), (counted) =>
              bar.update(counted),
            ).finally(() => bar.stop());
            print(counts, audienceTable(counts, paint));
            return;
          }
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
            kept.map(({ id, division }) => ({
              notificationId: id,
              numbers: tallyNumbers(division),
            })),
          );
          const found = kept.map((one, index) => notificationResult(one, tallies[index]!, now));
          const nothing = `"${projectId}" has sent no notification within the last 90 days.\n`;
          print(found, found.length === 0 ? nothing : notificationTable(found, paint));
        }),
    );
  return withExamples(
    command,
    'my-site',
    'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e',
    'my-site --subscribers',
  );
}

interface StatsOptions {
  readonly subscribers?: true;
}

/** Channels in the table. */
const listedChannels = 50;

function audienceTable(
  { subscribers, seenWithinDays, channels }: AudienceCounts,
  paint: Paint,
): string {
  const byChannel = Object.entries(channels);
  const rows: readonly (readonly [string, number])[] = [
    ['everyone', subscribers],
    ...Object.entries(seenWithinDays).map(
      ([days, count]) => [`seen within ${days} days`, count] as const,
    ),
    ...byChannel
      .slice(0, listedChannels)
      .map(([name, count]) => [`channel ${name}`, count] as const),
  ];
  const columns = [{ title: 'subscribers' }, { title: 'count', align: 'right' }] as const;
  const more = byChannel.length - listedChannels;
  return (
    table(
      columns,
      rows.map(([label, count]) => [label, formatCount(count)]),
      paint,
    ) + (more > 0 ? `and ${formatCount(more)} more channels: see --json\n` : '')
  );
}
