import { ServiceError } from '../../contract/errors.ts';
import { isInProgress } from '../../contract/notification-status.ts';
import { sendTimeline, sliceTimeline } from '../../contract/timeline.ts';
import { outcomeOf } from '../results/outcome.ts';
import { isEmptySlice } from '../store/slices.ts';
import { awaitSlices, handOver, isFree, isOver } from './finish.ts';
import { sendingOf } from './new-sending.ts';
import type { SendDependencies, Sending, SendOutcome } from './sending.ts';
import { sentOutcome } from './sent-outcome.ts';

/**
 * The response to a repeated request: that of the first one if its notification is delivered or handed over. If the
 * first request may still work on it, the caller has to wait. If that is over, this request continues it.
 */
export async function repeat(deps: SendDependencies, sending: Sending): Promise<SendOutcome> {
  const { call, notification, signal } = sending;
  const { project, keyed } = notification;
  const { keyHash, requestHash } = keyed!;
  const now = deps.clock();
  const earlier = call.earlier ?? (await deps.sends.earlier(project, keyHash, now, signal));
  // The first request has just returned its unit.
  if (earlier === undefined) throw requestInProgress(1);
  if (earlier.requestHash !== requestHash) {
    throw new ServiceError(
      'idempotency_key_reused',
      'This Idempotency-Key was already used with a different body; use a new key for a new notification.',
    );
  }
  const stored = await deps.notifications.find(project, earlier.sendId, signal);
  if (stored === undefined) throw requestInProgress(1);
  const { respondedAsync } = stored.division;
  const continued = sendingOf(deps, sending, stored);
  const numbers = continued.slices.map(({ slice }) => slice);
  const slices = await deps.slices.find(stored.id, numbers, signal);
  if (slices.some((slice) => slice?.ended === 'cancelled')) throw requestInProgress(1);

  const { status } = outcomeOf(stored, slices, now);
  const accepted = { kind: 'accepted', id: stored.id, status } as const;
  if (earlier.handedOver) return accepted;
  const ownedUntil = earlier.ownedAt + sendTimeline.timeoutMs + sliceTimeline.clockDifferenceMs;
  const isOwned = now.getTime() <= ownedUntil;
  if (slices.every((slice) => isOver(slice, now)) && !isInProgress(status)) {
    // The first request may still cancel what was not attempted, unless nobody was there.
    const mayBeCancelled =
      slices.every((slice) => slice?.counts.attempted === 0) &&
      !slices.every((slice) => slice && isEmptySlice(slice)) &&
      status !== 'stopped';
    if (!mayBeCancelled || !isOwned) {
      return respondedAsync ? accepted : sentOutcome(continued, slices);
    }
  }
  if (isOwned) throw requestInProgress(Math.ceil((ownedUntil - now.getTime()) / 1000) + 1);
  // Functions have all of them.
  if (respondedAsync && slices.every((slice) => !isFree(slice, now) || isOver(slice, now))) {
    return accepted;
  }
  const { requestId } = call;
  if (!(await deps.sends.continueSend(project, keyHash, earlier, requestId, now, signal))) {
    throw requestInProgress(1);
  }
  await continued.project.refresh();
  return respondedAsync
    ? handOver(deps, continued)
    : awaitSlices(deps, continued, undefined, [...slices]);
}

function requestInProgress(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfterSeconds },
  );
}
