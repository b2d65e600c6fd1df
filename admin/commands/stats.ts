import { Command, InvalidArgumentError, Option } from 'commander';
import { type AudienceCounts, channelsByCount } from '../../contract/schemas/project.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import { isKept, notificationResult } from '../../lambdas/results/notification-result.ts';
import { countAudience } from '../../lambdas/store/audience-counts.ts';
import { tallyNumbers } from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { ProjectNotFound } from '../project-errors.ts';
import { subscriptionPages } from '../subscriptions/subscription-pages.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printableJson } from '../terminal/printable.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { table } from '../terminal/table.ts';
import { type Paint, paintFor } from '../terminal/terminal.ts';
import { watch } from '../terminal/watch.ts';
import {
  type Context,
  notificationIdArgument,
  projectIdArgument,
  type RunOnStack,
} from './command.ts';
import { countOf, formatCount } from './limits.ts';
import { notificationTable, notificationText } from './notification-text.ts';

/** Notifications in the table. */
const listed = 20;

const watchSeconds = 5;

export function statsCommand(runOnStack: RunOnStack): Command {
  const command = new Command('stats')
    .description(
      `Prints the counts of a notification, or of the last ${listed}; with --subscribers, of the subscribers.`,
    )
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument().argOptional())
    .addOption(
      new Option(
        '--subscribers',
        'count subscribers by when they were seen, and by channel: reads all of them',
      ).conflicts('watch'),
    )
    .option(
      '--watch [seconds]',
      `print again every ${watchSeconds} seconds, or as often as given, until Ctrl-C`,
      readSeconds,
    )
    .action((projectId: string, notificationId: string | undefined, options: StatsOptions) =>
      runOnStack(async (context) => {
        const { registry, terminal, print, isJson } = context;
        if (!(await registry.find(projectId))) throw new ProjectNotFound(projectId);
        const paint = paintFor(terminal.output);
        if (options.subscribers) {
          const counts = await countSubscribers(context, projectId);
          return print(counts, audienceTable(counts, paint));
        }
        const read = () =>
          notificationId === undefined
            ? readNewest(context, projectId, paint)
            : readOne(context, projectId, notificationId, paint);
        if (options.watch === undefined) return print(...(await read()));
        const seconds = options.watch === true ? watchSeconds : options.watch;
        await watch(terminal.output, 1000 * seconds, async () => {
          const [value, text] = await read();
          return isJson ? `${printableJson(value)}\n` : text;
        });
      }),
    );
  return withExamples(
    command,
    'my-site',
    'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e',
    'my-site --watch',
    'my-site --subscribers',
  );
}

interface StatsOptions {
  readonly subscribers?: true;
  /** Seconds; true: the default. */
  readonly watch?: number | true;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('Use whole seconds from 1 to 3600.');
}

/** What `--json` prints, and the text. */
type Shown = readonly [value: unknown, text: string];

async function readOne(
  context: Context,
  projectId: string,
  notificationId: string,
  paint: Paint,
): Promise<Shown> {
  const found = await getNotification(storesOf(context), { projectId }, notificationId);
  return [found, notificationText(found, paint)];
}

async function readNewest(context: Context, projectId: string, paint: Paint): Promise<Shown> {
  const { notifications, tallies, clock } = storesOf(context);
  const now = clock();
  const newest = await notifications.newest(projectId, listed);
  const kept = newest.filter((notification) => isKept(notification, now));
  const found = await tallies.findEach(
    kept.map(({ id, division }) => ({ notificationId: id, numbers: tallyNumbers(division) })),
  );
  const results = kept.map((one, index) => notificationResult(one, found[index]!, now));
  const nothing = `"${projectId}" has sent no notification within the last 90 days.\n`;
  return [results, results.length === 0 ? nothing : notificationTable(results, paint)];
}

function storesOf({ dynamo, tables }: Context) {
  return {
    notifications: notificationStore(dynamo, tables.notifications),
    tallies: tallyStore(dynamo, tables.tallies),
    clock: () => new Date(),
  };
}

/** Reads all subscriptions, with a bar. */
async function countSubscribers(
  { registry, dynamo, tables, terminal }: Context,
  projectId: string,
): Promise<AudienceCounts> {
  const { subscribers } = await registry.usage(projectId);
  const bar = progressBar(terminal.messages, 'counting', subscribers);
  const pages = subscriptionPages(dynamo, tables.subscriptions, projectId, {
    ProjectionExpression: 'updatedAt, channels',
  });
  return countAudience(pages, new Date(), (counted) => bar.update(counted)).finally(() =>
    bar.stop(),
  );
}

/** Channels in the table. */
const listedChannels = 50;

function audienceTable(counts: AudienceCounts, paint: Paint): string {
  const { subscribers, seenWithinDays } = counts;
  const byChannel = channelsByCount(counts);
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
    ) + (more > 0 ? `and ${countOf(more, 'more channel')}: see --json\n` : '')
  );
}
