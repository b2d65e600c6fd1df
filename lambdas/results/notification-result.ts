import { hasConditions } from '../../contract/conditions.ts';
import { isInProgress } from '../../contract/notification-status.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import type { Delivery } from '../store/deliveries.ts';
import type { Division } from '../store/items.ts';
import { expiryOf, type StoredNotification } from '../store/notifications.ts';
import { countReached, outcomeOf } from './outcome.ts';

/** Whether a notification is still kept. DynamoDB deletes it and the items of its delivery at some later time. */
export function isKept({ sentAt }: StoredNotification, now: Date): boolean {
  return now.getTime() < expiryOf(sentAt) * 1000;
}

/** A notification with the counts stored so far. */
export function notificationResult(
  notification: StoredNotification,
  { slices, shown, clicked }: Delivery,
  now: Date,
): NotificationResult {
  const { id, content, division, sentAt, sentBy } = notification;
  const { status, counts, reached } = outcomeOf(notification, slices, now);
  const { attempted, delivered, removed, failed, failures, unreached } = counts;
  const usersReached = reached.reduce((sum, bits) => sum + countReached(bits), 0);
  const { shownSample } = division;
  const isKnown = !isInProgress(status) && division.users !== undefined;
  return {
    id,
    ...content,
    audience: audienceOf(division),
    status,
    sentAt: sentAt.toISOString(),
    ...(sentBy === undefined ? {} : { sentBy }),
    ...{ attempted, delivered, removed, failed },
    ...(unreached > 0 ? { unreached } : {}),
    ...(failed > 0 ? { failures } : {}),
    ...(isKnown ? { usersReached } : {}),
    shown: shown * (shownSample ?? 1),
    clicked,
    ...(shownSample === undefined ? {} : { shownSample }),
  };
}

function audienceOf({ users, conditions }: Division): NotificationResult['audience'] {
  if (users === undefined && !hasConditions(conditions)) return 'everyone';
  return { users, ...conditions };
}
