import {
  isInProgress,
  type NotificationResult,
  type NotificationStatus,
  type SendResult,
} from '../../../contract/schemas/notification.ts';
import { countOf, countText } from '../format.ts';

type Counts = Pick<SendResult, 'attempted' | 'delivered' | 'unreached'>;

/** Whether the audience was empty. A send that is in progress may still find subscribers. */
export function hasNoSubscriber(
  { attempted, unreached }: Counts,
  status: NotificationStatus = 'sent',
): boolean {
  return attempted === 0 && unreached === undefined && !isInProgress(status);
}

/** What became of a send, in a sentence. */
export function deliveryText(counts: Counts, toUsers: boolean): string {
  if (hasNoSubscriber(counts)) {
    return toUsers
      ? 'No subscriber matched: none of the user ids has a subscription.'
      : 'No subscriber matched: nobody is subscribed to this project.';
  }
  const { attempted, delivered } = counts;
  return `Delivered to ${countText(delivered)} of ${countOf(attempted, 'subscriber')}.`;
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
    return `Stopped. ${deliveryText(notification, notification.audience !== 'everyone')}`;
  }
  if (notification.status === 'interrupted') {
    return 'Interrupted: a function crashed, and nobody continues its work. Some subscribers did not get the notification.';
  }
  return deliveryText(notification, notification.audience !== 'everyone');
}

export function audienceText({ audience }: Pick<NotificationResult, 'audience'>): string {
  return audience === 'everyone' ? 'everyone' : countOf(audience.users, 'user id');
}
