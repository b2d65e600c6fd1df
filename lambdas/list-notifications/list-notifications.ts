import type { Project } from '../../contract/project.ts';
import type { NotificationList } from '../../contract/schemas/notification.ts';
import type { NotificationListQuery } from '../../contract/schemas/notification-list.ts';
import { isKept, notificationResult } from '../results/notification-result.ts';
import { tallyNumbers } from '../store/items.ts';
import type { NotificationStore, StoredNotification } from '../store/notifications.ts';
import type { TallyStore } from '../store/tallies.ts';

export interface ListDependencies {
  readonly notifications: Pick<NotificationStore, 'newest'>;
  readonly tallies: Pick<TallyStore, 'findEach'>;
  readonly clock: () => Date;
}

/**
 * Tallies that one page of the list reads, so that 100 notifications to millions do not use up what
 * DynamoDB reads in a second. A page of them ends earlier. Above the tallies of one notification: 768.
 */
const pageTallies = 2000;

/** A page of the project's notifications, the newest first, with the counts stored so far. */
export async function listNotifications(
  { notifications, tallies, clock }: ListDependencies,
  { projectId }: Pick<Project, 'projectId'>,
  { limit, cursor }: NotificationListQuery,
  signal?: AbortSignal,
): Promise<NotificationList> {
  const now = clock();
  // One more than the page can have tells where the next page starts.
  const found = await notifications.newest(projectId, limit + 1, cursor && idOf(cursor), signal);
  const kept = found.filter((notification) => isKept(notification, now));
  const page = kept.slice(0, pageLength(kept.slice(0, limit)));
  const next = kept[page.length];
  const counts = await tallies.findEach(
    page.map(({ id, division }) => ({ notificationId: id, numbers: tallyNumbers(division) })),
    signal,
  );
  return {
    notifications: page.map((one, index) => notificationResult(one, counts[index]!, now)),
    ...(next === undefined ? {} : { nextCursor: cursorOf(next.id) }),
  };
}

/** How many notifications fit into a page by their tallies; at least one of them does. */
function pageLength(notifications: readonly StoredNotification[]): number {
  let left = pageTallies;
  const end = notifications.findIndex(({ division }) => {
    left -= tallyNumbers(division).length;
    return left < 0;
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
