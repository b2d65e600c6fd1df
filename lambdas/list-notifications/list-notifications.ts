import type { NotificationList } from '../../contract/wire/notification.ts';
import type { NotificationListQuery } from '../../contract/wire/notification-list.ts';
import type { Project } from '../../contract/wire/project.ts';
import { notificationResult } from '../results/notification-result.ts';
import { itemsOf, type ReadDeliveries } from '../store/deliveries.ts';
import type { NotificationStore, StoredNotification } from '../store/notifications.ts';

export interface ListDependencies {
  readonly notifications: Pick<NotificationStore, 'newest'>;
  readonly deliveries: ReadDeliveries;
  readonly clock: () => Date;
}

/**
 * Items of deliveries that one page of the list reads, so that 100 notifications to millions do not use up what
 * DynamoDB reads in a second. A page of them ends earlier. Above the items of one notification: 864.
 */
const pageItems = 2000;

/** Bytes of content in one page, so that many translations fit: Lambda's response has at most 6 MB. */
const pageBytes = 4_000_000;

/** A page of the project's notifications, the newest first, with the counts stored so far. */
export async function listNotifications(
  { notifications, deliveries, clock }: ListDependencies,
  { ref }: Pick<Project, 'ref'>,
  { limit, cursor }: NotificationListQuery,
  signal?: AbortSignal,
): Promise<NotificationList> {
  const now = clock();
  // One more than the page can have tells where the next page starts.
  const found = await notifications.newest(ref, limit + 1, cursor && idOf(cursor), signal);
  const page = found.slice(0, pageLength(found.slice(0, limit)));
  const next = found[page.length];
  const delivered = await deliveries(page, signal);
  return {
    notifications: page.map((one, index) => notificationResult(one, delivered[index]!, now)),
    ...(next === undefined ? {} : { nextCursor: cursorOf(next.id) }),
  };
}

/** How many notifications fit into a page by their items and bytes; at least one of them does. */
function pageLength(notifications: readonly StoredNotification[]): number {
  let [items, bytes] = [pageItems, pageBytes];
  const end = notifications.findIndex((notification) => {
    items -= itemsOf(notification);
    bytes -= Buffer.byteLength(JSON.stringify(notification.content));
    return items < 0 || bytes < 0;
  });
  return end === -1 ? notifications.length : end;
}

/** The cursor of a page that starts with this notification: the bytes of its UUID, base64url. */
export function cursorOf(notificationId: string): string {
  return Buffer.from(notificationId.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The UUID in a cursor. @param cursor 16 bytes. */
function idOf(cursor: Uint8Array): string {
  const hex = Buffer.from(cursor).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
