import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { noCounts } from '../../../contract/counts.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { tallyStore } from '../../../lambdas/store/tallies.ts';
import { type Database, projectCreatedAt } from '../../fixtures/database.ts';

export function sendsOf({ dynamo, tables }: Database) {
  const { NOTIFICATIONS_TABLE, TALLIES_TABLE, USAGE_TABLE } = tables;
  return sendStore(dynamo, {
    notifications: NOTIFICATIONS_TABLE,
    tallies: TALLIES_TABLE,
    usage: USAGE_TABLE,
  });
}

export function talliesOf({ dynamo, tables }: Database) {
  return tallyStore(dynamo, tables.TALLIES_TABLE);
}

let created = 0;

/**
 * Creates a notification to everyone with a unique id.
 * @param sentAt by default a century ahead: DynamoDB Local deletes expired items within seconds.
 */
export function newNotification(
  projectId: string,
  sentAt = '2126-11-20T12:00:00Z',
): NewNotification {
  created += 1;
  return {
    projectId,
    projectCreatedAt,
    id: `n${created}`,
    content: { title: 'T', body: undefined, url: 'https://example.com/' },
    division: { subscribers: 3, shares: 1, talliesPerShare: 1, respondedAsync: false },
    sentAt: new Date(sentAt),
  };
}

/** Claims the first share of a notification. @returns whether the invocation has it now. */
export async function claimFirstShare(
  database: Database,
  { projectId, id: notificationId }: NewNotification,
  by: string,
): Promise<boolean> {
  // A century ahead, as the notifications.
  const key = { projectId, notificationId, firstTally: 0, expiresAt: 5_000_000_000 };
  const progress = { until: 1000, position: 1, pending: 1, counts: noCounts, ended: undefined };
  return (await talliesOf(database).save(key, { by, step: 1 }, progress)) === undefined;
}

/** Reads a notification's item; undefined if it does not exist. */
export async function readNotificationItem(
  { dynamo, tables }: Database,
  projectId: string,
  notificationId: string,
) {
  const { Item } = await dynamo.send(
    new GetCommand({
      TableName: tables.NOTIFICATIONS_TABLE,
      Key: { projectId, notificationId },
    }),
  );
  return Item;
}
