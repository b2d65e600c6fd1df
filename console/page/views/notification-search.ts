import { countOf, countText } from '../../../contract/count-text.ts';
import { notificationIdSchema } from '../../../contract/schemas/fields.ts';
import type {
  NotificationList,
  NotificationResult,
} from '../../../contract/schemas/notification.ts';
import { dateText } from '../format.ts';

/** Those whose title, body or id contains the text; all of them if it is empty. */
export function matching(
  notifications: readonly NotificationResult[],
  text: string,
): readonly NotificationResult[] {
  const wanted = text.trim().toLowerCase();
  return notifications.filter(({ title, body = '', id }) =>
    [title, body, id].some((field) => field.toLowerCase().includes(wanted)),
  );
}

/** The id that the text is, of a notification that may not be loaded. */
export function idIn(text: string): string | undefined {
  return notificationIdSchema.safeParse(text.trim().toLowerCase()).data;
}

/** How far a search came: `2 found in 120 notifications since Nov 3, 2026. There are older ones.` */
export function searchText(found: number, { notifications, nextCursor }: NotificationList): string {
  const oldest = notifications.at(-1);
  if (oldest === undefined) return '';
  const where = `${countText(found)} found in ${countOf(notifications.length, 'notification')}`;
  return nextCursor === undefined
    ? `${where}: all that are stored.`
    : `${where} since ${dateText(oldest.sentAt)}. Older ones were not searched.`;
}
