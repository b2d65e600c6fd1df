import { isInProgress } from '../../contract/notification-status.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { type Division, firstTallies } from '../store/items.ts';
import type { StoredNotification } from '../store/notifications.ts';
import { expiryOf } from '../store/send-writes.ts';
import type { Tally } from '../store/tallies.ts';
import { countReached } from './reached-users.ts';
import { expectedSubscribers, storedResult, totalOf } from './results.ts';
import { statusOf } from './status.ts';

/** Whether a notification is still kept. DynamoDB deletes it, and each of its tallies, at some later time. */
export function isKept({ sentAt }: StoredNotification, now: Date): boolean {
  return now.getTime() < expiryOf(sentAt) * 1000;
}

/**
 * A notification with the counts stored so far.
 * @param tallies all of its tallies.
 */
export function notificationResult(
  { id, content, division, sentAt }: StoredNotification,
  tallies: readonly (Tally | undefined)[],
  now: Date,
): NotificationResult {
  const firsts = firstTallies(division).map((number) => tallies[number]);
  const status = statusOf({ division, sentAt }, firsts, now);
  // While functions work on it, nobody knows yet which pushes are interrupted and who is not reached.
  const results = firsts.map((tally) =>
    isInProgress(status) && tally !== undefined
      ? { ...tally.counts, isComplete: true }
      : storedResult(tally),
  );
  const total = totalOf(results, expectedSubscribers(division));
  const { attempted, delivered, removed, failed, failures, unreached } = total;
  return {
    id,
    ...content,
    audience: audienceOf(division),
    status,
    sentAt: sentAt.toISOString(),
    ...{ attempted, delivered, removed, failed },
    ...(!isInProgress(status) && unreached > 0 ? { unreached } : {}),
    ...(failed > 0 ? { failures } : {}),
    ...(!isInProgress(status) && division.users !== undefined
      ? { usersReached: sum(firsts.map((tally) => countReached(tally?.reached))) }
      : {}),
    shown: sum(tallies.map((tally) => tally?.shown)),
    clicked: sum(tallies.map((tally) => tally?.clicked)),
  };
}

function audienceOf({ users, channels, seenWithinDays }: Division): NotificationResult['audience'] {
  const isEveryone = [users, channels, seenWithinDays].every((part) => part === undefined);
  return isEveryone ? 'everyone' : { users, channels, seenWithinDays };
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((total, number = 0) => total + number, 0);
}
