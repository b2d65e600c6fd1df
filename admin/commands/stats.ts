import { Argument, Command, InvalidArgumentError } from 'commander';
import { notificationIdSchema } from '../../contract/schemas/ids.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { type Paint, paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { formatCount } from './limits.ts';
import { formatTime } from './project-text.ts';

export function statsCommand(runOnStack: RunOnStack): Command {
  const command = new Command('stats')
    .description('Prints the counts of a notification.')
    .addArgument(projectIdArgument())
    .addArgument(
      new Argument('<notificationId>', 'id that send returned').argParser(readNotificationId),
    )
    .action((projectId: string, notificationId: string) =>
      runOnStack(async ({ registry, dynamo, tables, terminal, print }) => {
        if (!(await registry.find(projectId))) throw new ProjectNotFound(projectId);
        const parts = {
          notifications: notificationStore(dynamo, tables.notifications),
          tallies: tallyStore(dynamo, tables.tallies),
          clock: () => new Date(),
        };
        const found = await getNotification(parts, { projectId }, notificationId);
        print(found, notificationText(found, paintFor(terminal.output)));
      }),
    );
  return withExamples(command, 'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e');
}

function readNotificationId(text: string): string {
  if (notificationIdSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('Use the id that send returned, a UUID.');
}

/** A notification's counts, one per line. */
export function notificationText(notification: NotificationResult, paint: Paint): string {
  const { id, title, audience, status, sentAt, failures = {} } = notification;
  const { attempted, delivered, removed, failed, unreached = 0, shown, clicked } = notification;
  const reasons = Object.entries(failures).map(([reason, count]) => `${reason} ${count}`);
  const fields: readonly (readonly [string, string])[] = [
    ['Title', printable(title)],
    ['Sent', `${formatTime(sentAt)} to ${audienceText(audience)}`],
    ['Status', status],
    ['Attempted', formatCount(attempted)],
    ['Delivered', formatCount(delivered)],
    ['Removed', formatCount(removed)],
    ['Failed', [formatCount(failed), ...reasons].join('  ')],
    ...(unreached > 0 ? [['Unreached', formatCount(unreached)] as const] : []),
    ['Shown', formatCount(shown)],
    ['Clicked', formatCount(clicked)],
  ];
  const lines = fields.map(([label, value]) => `  ${paint('dim', label.padEnd(9))}  ${value}\n`);
  return `${paint('bold', id)}\n${lines.join('')}`;
}

function audienceText(audience: NotificationResult['audience']): string {
  return audience === 'everyone' ? 'everyone' : `${formatCount(audience.users)} users`;
}
