import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { noCounts } from '../../../contract/wire/counts.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { type NewNotification, sendStore } from '../../../lambdas/store/sends.ts';
import {
  type SliceKey,
  type SliceWrite,
  type StoredSlice,
  sliceStore,
} from '../../../lambdas/store/slices.ts';
import type { Database } from '../../fixtures/database.ts';

export function sendsOf({ dynamo, tables }: Pick<Database, 'dynamo' | 'tables'>) {
  return sendStore(dynamo, projectTables(tables));
}

export function slicesOf({ dynamo, tables }: Database) {
  return sliceStore(dynamo, tables.DELIVERIES_TABLE);
}

let created = 0;

/**
 * Creates a notification to everyone with a unique id.
 * @param sentAt by default a century ahead: DynamoDB Local deletes expired items within seconds.
 */
export function newNotification(
  project: ProjectRef,
  sentAt = '2126-11-20T12:00:00Z',
): NewNotification {
  created += 1;
  return {
    project,
    id: `n${created}`,
    content: { title: 'T', body: undefined, url: 'https://example.com/' },
    division: {
      ...{ subscribers: 3, conditions: {}, slices: 1, countersPerSlice: 1 },
      ...{ shownSample: 10, respondedAsync: false },
    },
    sentAt: new Date(sentAt),
    expiresAt: 5_000_000_000,
  };
}

/** A slice of a notification. */
export function sliceKey({ id }: Pick<NewNotification, 'id'>, slice = 0): SliceKey {
  return { notificationId: id, slice, expiresAt: 5_000_000_000 };
}

/** A write of an invocation: its first one for a slice that nobody has had, unless this says otherwise. */
export function writeOf(
  by: string,
  n = 1,
  { known, knowsStop = false, ...progress }: Partial<SliceWrite & SliceWrite['event']> = {},
): SliceWrite {
  return {
    event: { kind: 'write', id: { by, n }, known, knowsStop },
    ...{ until: 1000, position: 1, claimed: 1, isRead: false, counts: noCounts },
    ...progress,
  };
}

/** Claims a slice. @returns undefined if the invocation has it now, otherwise the slice. */
export async function claimSlice(
  database: Database,
  notification: Pick<NewNotification, 'id'>,
  by: string,
): Promise<StoredSlice | undefined> {
  return (await slicesOf(database).write(sliceKey(notification), writeOf(by)))?.slice;
}

/** Reads a notification's item; undefined if it does not exist. */
export async function readNotificationItem(
  { dynamo, tables }: Database,
  projectRef: ProjectRef,
  notificationId: string,
) {
  const { Item } = await dynamo.send(
    new GetCommand({
      TableName: tables.NOTIFICATIONS_TABLE,
      Key: { projectRef, notificationId },
    }),
  );
  return Item;
}
