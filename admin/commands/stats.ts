import type { Command } from 'commander';
import { limits } from '../../contract/limits.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import { listNotifications } from '../../lambdas/list-notifications/list-notifications.ts';
import { deliveriesOf } from '../../lambdas/store/deliveries.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { newCommand } from '../terminal/command-line.ts';
import { notificationIdArgument, projectIdArgument, type RunOnStack } from './command.ts';
import { notificationTable, notificationText } from './notification-text.ts';

/** Notifications in the table. */
const limit = 20;

export function statsCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'stats',
    `Prints the counts of a notification, or of the last ${limit}.`,
    ...['my-site', 'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e'],
  )
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument().argOptional())
    .action((projectId: string, notificationId?: string) =>
      runOnStack(async ({ registry, dynamo, tables, paint, print }) => {
        const found = await registry.get(projectId);
        const stores = {
          notifications: notificationStore(dynamo, tables.notifications),
          deliveries: deliveriesOf(dynamo, tables.deliveries),
          clock: () => new Date(),
        };
        if (notificationId !== undefined) {
          const notification = await getNotification(stores, found, notificationId);
          return print(notification, notificationText(notification, paint));
        }
        const { notifications } = await listNotifications(stores, found, { limit });
        const nothing = `"${projectId}" has sent no notification within the last ${limits.notificationRetentionDays} days.\n`;
        print(
          notifications,
          notifications.length === 0 ? nothing : notificationTable(notifications, paint),
        );
      }),
    );
}
