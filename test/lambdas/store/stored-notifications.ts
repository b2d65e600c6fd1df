import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { eventStore } from '../../../lambdas/store/events.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import type { Database } from '../../fixtures/database.ts';

export function sendsOf({ dynamo, tables }: Database) {
  const { PROJECTS_TABLE, NOTIFICATIONS_TABLE, USAGE_TABLE } = tables;
  return sendStore(dynamo, {
    projects: PROJECTS_TABLE,
    notifications: NOTIFICATIONS_TABLE,
    usage: USAGE_TABLE,
  });
}

export function eventsOf({ dynamo, tables }: Database) {
  return eventStore(dynamo, tables.NOTIFICATIONS_TABLE);
}

let created = 0;

/**
 * Creates a notification with a unique id.
 * @param sentAt by default a century ahead: DynamoDB Local deletes expired items within seconds.
 */
export function newNotification(
  projectId: string,
  sentAt = '2126-11-20T12:00:00Z',
): NewNotification {
  created += 1;
  const content = { title: 'T', body: undefined, url: 'https://example.com/' };
  return { projectId, id: `n${created}`, content, sentAt: new Date(sentAt) };
}

/** Reads a notification's item; undefined if it does not exist. */
export async function readRecord(
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
