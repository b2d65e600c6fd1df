import type { NotificationStatus } from '../../contract/notification-status.ts';
import { sendTimeline, shareTimeline } from '../../contract/timeline.ts';
import type { StoredNotification } from '../store/notifications.ts';
import type { Tally } from '../store/tallies.ts';

type Timed = Pick<StoredNotification, 'division' | 'sentAt'>;

/**
 * Whether a notification's shares have all ended. It is `interrupted` if one of them has not, and no
 * function works on it any more; `stopping` or `stopped` if one of them was stopped.
 * @param tallies the first tally of each share.
 */
export function statusOf(
  notification: Timed,
  tallies: readonly (Tally | undefined)[],
  now: Date,
): NotificationStatus {
  const open = tallies.filter((tally) => tally?.ended === undefined);
  const isOver = open.every((tally) => overAt(notification, tally) < now.getTime());
  if (tallies.some((tally) => wasOpenWhenStopped(notification, tally))) {
    return isOver ? 'stopped' : 'stopping';
  }
  if (open.length === 0) return 'sent';
  return isOver ? 'interrupted' : 'sending';
}

/** Nobody worked any more on an interrupted share: it keeps its status. */
function wasOpenWhenStopped(notification: Timed, tally: Tally | undefined): boolean {
  if (!isStopped(tally)) return false;
  return tally.stoppedAt <= overAt(notification, { ...tally, stoppedAt: undefined });
}

export function isStopped(
  tally: Tally | undefined,
): tally is Tally & { readonly stoppedAt: number } {
  return tally?.stoppedAt !== undefined;
}

/** Epoch ms after which nobody works on a share. */
export function overAt(
  { division: { respondedAsync }, sentAt }: Timed,
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
