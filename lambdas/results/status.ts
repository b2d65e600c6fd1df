import type { NotificationStatus } from '../../contract/schemas/notification.ts';
import { sendTimeline, shareTimeline } from '../../contract/timeline.ts';
import type { StoredNotification } from '../store/notifications.ts';
import type { Tally } from '../store/tallies.ts';

/**
 * Whether a notification's shares have all ended. It is `interrupted` if one of them has not, and no
 * function works on it any more; `stopping` or `stopped` if one of them was stopped.
 * @param tallies the first tally of each share.
 */
export function statusOf(
  notification: Pick<StoredNotification, 'division' | 'sentAt'>,
  tallies: readonly (Tally | undefined)[],
  now: Date,
): NotificationStatus {
  const open = tallies.filter((tally) => tally?.ended === undefined);
  const isOver = open.every((tally) => overAt(notification, tally) < now.getTime());
  if (tallies.some(isStopped)) return isOver ? 'stopped' : 'stopping';
  if (open.length === 0) return 'sent';
  return isOver ? 'interrupted' : 'sending';
}

export function isStopped(tally: Tally | undefined): boolean {
  return tally?.stoppedAt !== undefined;
}

/** Epoch ms after which nobody works on a share. */
export function overAt(
  { division: { respondedAsync }, sentAt }: Pick<StoredNotification, 'division' | 'sentAt'>,
  tally: Tally | undefined,
): number {
  const sent = sentAt.getTime();
  const claimedUntil = tally?.claim?.until;
  // Nobody claims it any more.
  if (isStopped(tally)) return claimedUntil ?? 0;
  if (!respondedAsync) return claimedUntil ?? sent + sendTimeline.timeoutMs;
  // A repetition may be throttled until its event is too old, and then runs as long as a function may.
  const { startWithinMs, timeoutMs, clockDifferenceMs } = shareTimeline;
  return Math.max(claimedUntil ?? 0, sent + startWithinMs + timeoutMs) + clockDifferenceMs;
}
