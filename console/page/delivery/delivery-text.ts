import { isInProgress, type NotificationStatus } from '../../../contract/notification-status.ts';
import type { NotificationResult, SendResult } from '../../../contract/schemas/notification.ts';
import { countOf, countText } from '../format.ts';

export type Audience = NotificationResult['audience'];

type Counts = Pick<SendResult, 'attempted' | 'delivered' | 'unreached'>;

/** Whether the audience was empty. A send that is in progress may still find subscribers. */
export function hasNoSubscriber(
  { attempted, unreached }: Counts,
  status: NotificationStatus = 'sent',
): boolean {
  return attempted === 0 && unreached === undefined && !isInProgress(status);
}

/** What became of a send, in a sentence. */
export function deliveryText(counts: Counts, audience: Audience): string {
  if (hasNoSubscriber(counts)) return `No subscriber matched: ${reasonFor(audience)}.`;
  const { attempted, delivered } = counts;
  return `Delivered to ${countText(delivered)} of ${countOf(attempted, 'subscriber')}.`;
}

function reasonFor(audience: Audience): string {
  if (audience === 'everyone') return 'nobody is subscribed to this project';
  const { channels, seenWithinDays } = audience;
  const hasConditions = channels !== undefined || seenWithinDays !== undefined;
  return hasConditions
    ? 'no subscription meets the conditions'
    : 'none of the user ids has a subscription';
}

/** The status of the delivery, in a sentence. */
export function statusText(notification: NotificationResult): string {
  if (notification.status === 'sending') {
    return 'Sending. The counts of the last seconds may be missing.';
  }
  if (notification.status === 'stopping') {
    return 'Stopping: no push starts any more in a few seconds. The counts may still change.';
  }
  if (notification.status === 'stopped') {
    return `Stopped. ${deliveryText(notification, notification.audience)}`;
  }
  if (notification.status === 'interrupted') {
    return 'Interrupted: a function crashed, and nobody continues its work. Some subscribers did not get the notification.';
  }
  return deliveryText(notification, notification.audience);
}

/** `2 user ids, with news or sales, seen within 30 days`. */
export function audienceText({ audience }: { readonly audience: Audience }): string {
  if (audience === 'everyone') return audience;
  const { users, channels, seenWithinDays } = audience;
  return [
    users === undefined ? 'everyone' : countOf(users, 'user id'),
    ...(channels === undefined ? [] : [`with ${channels.join(' or ')}`]),
    ...(seenWithinDays === undefined ? [] : [`seen within ${countOf(seenWithinDays, 'day')}`]),
  ].join(', ');
}
