import { ServiceError } from '../../contract/errors.ts';
import { isInProgress } from '../../contract/notification-status.ts';
import { sendTimeline } from '../../contract/timeline.ts';
import { storedResult, totalOf } from '../results/results.ts';
import { isStopped, overAt, statusOf } from '../results/status.ts';
import { firstTallies } from '../store/items.ts';
import type { NewNotification } from '../store/send-writes.ts';
import type { Tally } from '../store/tallies.ts';
import { handOver } from './hand-over.ts';
import { type SendDependencies, type Sending, type SendOutcome, sentOutcome } from './sending.ts';
import { sharesOfNotification } from './shares-of-notification.ts';

/**
 * The response of the first request with the same Idempotency-Key. Its notification is only handed over
 * here if that request is over and has not done it.
 * @param notification as this request would have sent it.
 */
export async function repeat(
  deps: SendDependencies,
  sending: Sending,
  notification: NewNotification,
): Promise<SendOutcome> {
  const { project, sentAt, signal } = sending;
  const { keyHash, requestHash } = notification.idempotency!;
  const earlier = await deps.sends.earlier(project.projectId, keyHash, signal);
  // The first request has just returned its unit.
  if (earlier === undefined) throw requestInProgress(1);
  if (earlier.requestHash !== requestHash) {
    throw new ServiceError(
      'idempotency_key_reused',
      'This Idempotency-Key was already used with a different body; use a new key for a new notification.',
    );
  }
  const first = { ...notification, ...earlier.notification };
  const found = await deps.tallies.find(first.id, firstTallies(first.division), signal);
  if (found[0]?.ended === 'cancelled') throw requestInProgress(1);
  if (first.division.respondedAsync && found.every((tally) => tally === undefined)) {
    // Until its function is over, the first request may hand its notification over or cancel it.
    const isOver = first.sentAt.getTime() + sendTimeline.timeoutMs < sentAt.getTime();
    if (!isOver) throw requestInProgress(1);
    return handOver(deps, sending, first, sharesOfNotification(deps, sending, first));
  }
  if (mayBeCancelled(found, sentAt)) throw requestInProgress(1);
  const status = statusOf(first, found, sentAt);
  if (first.division.respondedAsync) return { kind: 'accepted', id: first.id, status };
  if (isInProgress(status)) {
    const over = Math.max(...found.map((tally) => overAt(first, tally)));
    // Until this time, inclusive.
    throw requestInProgress(Math.floor((over - sentAt.getTime()) / 1000) + 1);
  }
  const results = found.map(storedResult);
  const isStopped = status === 'stopped';
  return sentOutcome(sending, first, { results, reached: found[0]?.reached, isStopped });
}

/**
 * Whether the request that delivers a notification may still cancel it: nothing was attempted, so it
 * returns the unit. What was stopped is not cancelled.
 */
function mayBeCancelled(found: readonly (Tally | undefined)[], now: Date): boolean {
  if (found.some(isStopped)) return false;
  const { attempted } = totalOf(found.map(storedResult), undefined);
  const claimed = found.filter((tally) => tally?.claim !== undefined);
  if (attempted > 0 || claimed.some((tally) => tally!.ended !== 'incomplete')) return false;
  const cancelMs = sendTimeline.timeoutMs - sendTimeline.endMs;
  return claimed.some((tally) => now.getTime() < tally!.claim!.until + cancelMs);
}

function requestInProgress(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfterSeconds },
  );
}
