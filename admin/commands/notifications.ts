import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { countOf, countText } from '../../contract/text/text.ts';
import { notificationIdSchema } from '../../contract/wire/fields.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
  removedText,
} from '../../contract/wording/delivery-verdict.ts';
import { CommandError } from '../errors.ts';
import {
  type SentNotification,
  type SentNotifications,
  sentNotifications,
} from '../sent-notifications.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, formatTime, table, truncate } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import {
  allProjectIds,
  type Context,
  dryRunOption,
  optionalProject,
  projectCommand,
  type RunOnStack,
} from './command.ts';

export function notificationsCommand(runOnStack: RunOnStack): Command {
  return new Command('notifications')
    .description('Lists what a project sends and has sent, stops it, and deletes it. Needs no key.')
    .addCommand(listCommand(runOnStack))
    .addCommand(stopCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

/** Notifications that are listed beside those that are being sent. */
const listed = 10;

function listCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'list',
    `Lists what a project sends, or all projects, and the latest ${listed} notifications, with their counts.`,
    ...['', 'my-site', 'my-site --json'],
  )
    .addArgument(optionalProject())
    .action((only: string | undefined) =>
      runOnStack(async (context) => {
        const found: ListedNotification[] = [];
        for (const projectId of only === undefined ? await allProjectIds(context) : [only]) {
          const latest = await (await sentBy(context, projectId)).latest(listed);
          found.push(...latest.map((one) => ({ projectId, ...one })));
        }
        found.sort((one, other) => (one.sentAt > other.sentAt ? -1 : 1));
        const isSending = ({ status }: SentNotification) => isInProgress(status);
        const printed = found.filter((one, index) => index < listed || isSending(one));
        const sending = new Set(printed.filter(isSending).map(({ projectId }) => projectId));
        const calls = [...sending].map(
          (projectId) => `  ${context.next(`notifications stop ${projectId} --running`)}\n`,
        );
        context.print(
          printed,
          (only === undefined && printed.length > 0
            ? table([['project', ({ projectId }) => projectId], ...columns], printed, context.paint)
            : notificationsText(printed, context)) +
            (calls.length === 0 ? '' : `\nTo stop what is being sent:\n\n${calls.join('')}`),
        );
      }),
    );
}

interface ListedNotification extends SentNotification {
  readonly projectId: string;
}

/** @throws {ProjectNotFound} */
export async function sentBy(
  { registry, dynamo, tables }: Pick<Context, 'registry' | 'dynamo' | 'tables'>,
  projectId: string,
): Promise<SentNotifications> {
  const { ref } = await registry.get(projectId);
  return sentNotifications(dynamo, tables, ref, () => new Date());
}

const columns: readonly Column<SentNotification>[] = [
  ['id', ({ id }) => id],
  ['sent', ({ sentAt }) => formatTime(sentAt)],
  ['to', (notification) => truncate(printable(audienceText(notification)), 30)],
  ['outcome', outcomeText],
  ['title', ({ title }) => truncate(printable(title), 30)],
];

export function notificationsText(
  notifications: readonly SentNotification[],
  { paint }: Pick<Context, 'paint'>,
): string {
  return notifications.length === 0 ? 'Nothing was sent.\n' : table(columns, notifications, paint);
}

/** What became of a notification, why pushes failed, what was removed, and since when there is no news. */
export function outcomeText(notification: SentNotification): string {
  const { word, sentence } = deliveryVerdict(notification);
  const { noNewsSince } = notification;
  const quiet = noNewsSince === undefined ? '' : ` No news since ${formatTime(noNewsSince)}.`;
  const reasons = Object.entries(notification.failures ?? {}).map(
    ([reason, count]) => `${reason} ${countText(count)}`,
  );
  const failures = reasons.length === 0 ? '' : ` Failures: ${reasons.join(', ')}.`;
  const gone = notification.removed === 0 ? '' : ` Gone: ${removedText(notification)}.`;
  return `${word}: ${sentence}${failures}${gone}${quiet}`;
}

interface StopOptions {
  readonly running?: true;
}

function stopCommand(runOnStack: RunOnStack): Command {
  const command = projectCommand(
    'stop',
    'Stops a notification, or all that are being sent, and says how many got it. Asks nothing.',
    ...['my-site 0199f3c1-6d5e-7b1a-9c53-0a4f6d2e8b71', 'my-site --running'],
    'my-site --running --dry-run',
  )
    .addArgument(new Argument('[id]', 'id of the notification').argParser(readNotificationId))
    .option('--running', 'all notifications of the project that are being sent')
    .option(...dryRunOption);
  return command.action((projectId: string, id: string | undefined, { running }: StopOptions) => {
    if ((id === undefined) === (running === undefined)) {
      command.error('name a notification by its id, or use --running');
    }
    return runOnStack(async (context) => {
      const sent = await sentBy(context, projectId);
      const found = id === undefined ? await runningOf(sent) : [await sent.find(id)];
      const stopped = context.dryRun ? found : await stopAll(context, sent, found);
      context.print(
        { projectId, dryRun: context.dryRun, notifications: stopped },
        stopped.length === 0
          ? `"${projectId}" is sending nothing. The latest:\n\n  ${context.next(`notifications list ${projectId}`)}\n`
          : stopped.map((one) => stoppedText(one, context.dryRun)).join(''),
      );
    });
  });
}

function deleteCommand(runOnStack: RunOnStack): Command {
  const id = '0199f3c1-6d5e-7b1a-9c53-0a4f6d2e8b71';
  const command = projectCommand(
    'delete',
    'Deletes the content and the counts of a notification that is over. Browsers that show it keep showing it.',
    `my-site ${id}`,
  )
    .addArgument(new Argument('<id>', 'id of the notification').argParser(readNotificationId))
    .option('--yes', 'delete without asking for confirmation');
  return command.action((projectId: string, id: string) =>
    runOnStack(async (context) => {
      const sent = await sentBy(context, projectId);
      const { title } = await sent.find(id);
      const name = `"${truncate(printable(title), 60)}" (${id})`;
      const remove = await sent.deletionOf(id);
      if (remove === undefined) {
        const stop = context.next(`notifications stop ${projectId} ${id}`);
        throw new CommandError(
          'notification_not_over',
          `${name} is not over, or a repeated request could continue it. Stop it first: ${stop}`,
        );
      }
      await context.confirm({
        effect: `permanently deletes content and counts of ${name}`,
        expected: projectId,
        refusal: 'Nothing was deleted.',
      });
      await remove();
      context.print(
        { projectId, id, deleted: true },
        `Deleted ${name}. The recovery of the tables keeps it for up to ${context.settings.RECOVERY_DAYS} days; nobody can delete it there.\n`,
      );
    }),
  );
}

/** @throws {InvalidArgumentError} */
function readNotificationId(text: string): string {
  const { data } = notificationIdSchema.safeParse(text);
  if (data !== undefined) return data;
  throw new InvalidArgumentError('It is a UUID, as the command notifications list prints it.');
}

export async function runningOf(sent: SentNotifications): Promise<readonly SentNotification[]> {
  return (await sent.latest(0)).filter(({ status }) => isInProgress(status));
}

/** Ms between two looks at the counts. */
const pollMs = 500;

/** Stops notifications, and waits until their counts are final: that of a function which has died, a minute later. */
async function stopAll(
  { terminal }: Pick<Context, 'terminal'>,
  sent: SentNotifications,
  notifications: readonly SentNotification[],
): Promise<readonly SentNotification[]> {
  let found = await Promise.all(notifications.map(({ id }) => sent.stop(id)));
  const isOpen = () => found.some(({ status }) => isInProgress(status));
  if (isOpen()) {
    const seconds = sliceTimeline.lastPushAfterStopMs / 1000;
    terminal.messages.write(
      `Stopped. The last push starts within ${seconds} s. Waiting for the counts, for 75 s at most.\n`,
    );
  }
  while (isOpen()) {
    await sleep(pollMs);
    const reads = found.map((one) => (isInProgress(one.status) ? sent.find(one.id) : one));
    found = await Promise.all(reads);
  }
  return found;
}

/** What became of a notification that was to be stopped. */
export function stoppedText(notification: SentNotification, dryRun?: true | undefined): string {
  const { id, title, status, delivered, tag } = notification;
  const name = `"${truncate(printable(title), 60)}" (${id})`;
  if (dryRun)
    return `${isInProgress(status) ? 'Would stop' : 'Has ended:'} ${name}. ${outcomeText(notification)}\n`;
  const isOpen = isInProgress(status);
  const what =
    status === 'stopped' ? `Stopped ${name}` : `${name} ${isOpen ? 'is stopping' : 'had ended'}`;
  const size = audienceSize(notification);
  const got = `${countText(delivered)} of ${countOf(size, 'subscriber')} got it${isOpen ? ' so far' : ''}.`;
  if (delivered === 0) return `${what}. ${got}\n`;
  // The service worker shows a message without a tag under its id.
  const correction = `A correction with the tag "${printable(tag ?? id)}" replaces it.`;
  return `${what}. ${got} It cannot be taken back. ${correction}\n`;
}
