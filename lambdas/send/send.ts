import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { SendResult } from '../../contract/wire/notification.ts';
import { isInProgress, type NotificationStatus } from '../../contract/wire/notification-status.ts';
import { limitOf, type SigningProject } from '../../contract/wire/project.ts';
import { whileTimeIsLeft } from '../deliver/deadlines.ts';
import { readChunk } from '../deliver/deliver-slice.ts';
import {
  finalCounts,
  freeAt,
  isOver,
  isReached,
  isStopped,
  type SliceStates,
  summaryOf,
} from '../results/summary.ts';
import { roomBelow, secondsToNextMonth } from '../store/counters.ts';
import {
  largestMessage,
  newSending,
  type SendCall,
  type SendDependencies,
  type Sending,
  sendingOf,
} from './sending.ts';
import { type Supervised, supervise } from './supervise.ts';

export type SendOutcome = (
  | { readonly kind: 'sent'; readonly result: SendResult }
  | { readonly kind: 'accepted'; readonly id: string; readonly status: NotificationStatus }
) & {
  /** Bytes of the largest message, if they are above `limits.messageBytesEverywhere`. */
  readonly messageBytes?: number;
};

/**
 * Sends one notification. It takes one unit of the month whatever the size of the audience, and returns the unit if
 * nothing was attempted because of a fault here. A repeated request gets the response of the first one, or continues
 * what that one has left.
 */
export async function send(
  deps: SendDependencies,
  project: SigningProject,
  call: SendCall,
): Promise<SendOutcome> {
  const sending = newSending(deps, project, call);
  const { notification, slices } = sending;
  const messageBytes = largestMessage(notification, call.audience, slices[0]!.eventsUrl);
  const cap = limitOf(project.settings.monthlySendCap, deps.monthlyCap);
  // The counter of the month decides. What it would refuse needs no audience.
  if (call.earlier === undefined && project.pausedAt !== undefined)
    await expectSending(deps, sending);
  const outcome = await (call.earlier === undefined
    ? begin(deps, sending, cap)
    : repeat(deps, sending));
  return messageBytes > limits.messageBytesEverywhere ? { ...outcome, messageBytes } : outcome;
}

/**
 * The audience of the first slice is read while the notification begins. It is claimed after that: what has begun
 * without a response is untouched, and a repetition sends it.
 */
async function begin(
  deps: SendDependencies,
  sending: Sending,
  cap: number | null,
): Promise<SendOutcome> {
  const { call, notification, slices, deadlines } = sending;
  // The transaction decides. What it would refuse needs no audience.
  if (call.sent !== undefined && roomBelow(cap, call.sent) === 0) {
    throw capReached(cap, call.sentAt);
  }
  assertTimeIsLeft(deps, sending);
  const msLeft = deadlines.lastPushAt - deps.clock().getTime();
  const [slice] = slices;
  const reading = call.respondAsync
    ? undefined
    : readChunk(deps, slice!, slice!.from, deps.abortAfter(msLeft));
  // It is repeated where it is awaited.
  reading?.catch(() => {});
  let begun: Awaited<ReturnType<typeof deps.sends.begin>>;
  try {
    begun = await whileTimeIsLeft(deps, deadlines.lastPushAt, (signal) =>
      deps.sends.begin(notification, call.requestId, cap, signal),
    );
  } catch (error) {
    return cancel(deps, sending, [], error);
  }
  switch (begun) {
    case 'project_gone':
      throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
    case 'cap_reached':
      throw capReached(cap, call.sentAt);
    case 'closed':
      await expectSending(deps, sending);
      throw beingCounted();
    case 'repeated':
      return repeat(deps, sending);
    case 'begun': {
      const supervised = await supervise(deps, sending, [], reading);
      const { isKnown, states, error } = supervised;
      return isKnown && hasSentNothing(sending, supervised)
        ? cancel(deps, sending, states, error ?? outOfTime())
        : outcomeOf(deps, sending, supervised);
    }
  }
}

/**
 * The response to a repeated request: that of the first one if its notification is delivered, or Lambda has it. If the
 * first request may still work on it, the caller has to wait. If that is over, this request continues it. It never
 * cancels it: the first one may have had its response.
 */
async function repeat(deps: SendDependencies, sending: Sending): Promise<SendOutcome> {
  const { call, notification, deadlines } = sending;
  const { project, keyed } = notification;
  const { keyHash, requestHash } = keyed!;
  const now = deps.clock();
  const retried = <Result>(attempt: (signal: AbortSignal) => Promise<Result>) =>
    whileTimeIsLeft(deps, deadlines.lastPushAt, attempt);
  const earlier =
    call.earlier ?? (await retried((signal) => deps.sends.earlier(project, keyHash, now, signal)));
  // The first request has just returned its unit.
  if (earlier === undefined) throw requestInProgress(1);
  if (earlier.requestHash !== requestHash) {
    throw new ServiceError(
      'idempotency_key_reused',
      'This Idempotency-Key was already used with a different body; use a new key for a new notification.',
    );
  }
  const stored = await retried((signal) =>
    deps.notifications.find(project, earlier.sendId, signal),
  );
  if (stored === undefined) throw requestInProgress(1);
  const continued = sendingOf(deps, sending, stored);
  const numbers = continued.slices.map(({ slice }) => slice);
  const states = await retried((signal) => deps.slices.find(stored.id, numbers, signal));
  if (states.some((slice) => slice?.ended === 'cancelled')) throw requestInProgress(1);

  const { respondedAsync } = stored.division;
  const { status } = summaryOf(stored, states, now);
  const accepted = { kind: 'accepted', id: stored.id, status } as const;
  if (states.every((slice) => isOver(slice, now)) && !isInProgress(status)) {
    return respondedAsync ? accepted : sentOutcome(continued, states);
  }
  const ownedUntil = earlier.ownedAt + sendTimeline.timeoutMs + sliceTimeline.clockDifferenceMs;
  const isOwned = now.getTime() <= ownedUntil;
  if (respondedAsync) {
    // By a function, which Lambda repeats. The owner of the send may be dead.
    const isHeld = (slice: SliceStates[number]) =>
      freeAt(slice) >= now.getTime() && slice?.lease?.by !== earlier.ownedBy;
    const isElsewhere = states.every((slice) => isOver(slice, now) || isHeld(slice));
    if (isElsewhere || (isOwned && earlier.handedOver)) return accepted;
  }
  if (isOwned) throw requestInProgress(Math.ceil((ownedUntil - now.getTime()) / 1000) + 1);
  assertTimeIsLeft(deps, sending);
  await expectSending(deps, sending);
  const isOwner = await retried((signal) =>
    deps.sends.continueSend(project, keyHash, earlier, call.requestId, now, signal),
  );
  if (!isOwner) throw requestInProgress(1);
  await retried((signal) => continued.project.refresh(signal));
  const supervised = await supervise(deps, continued, states);
  // The next repetition continues.
  if (hasSentNothing(continued, supervised)) throw supervised.error ?? outOfTime();
  return outcomeOf(deps, continued, supervised);
}

/** Whether there was somebody to send to, and nobody was attempted or will be. */
function hasSentNothing({ notification }: Sending, { states, hasBegun }: Supervised): boolean {
  if (notification.division.respondedAsync) return !hasBegun;
  const { attempted, unreached } = finalCounts(notification, states);
  return attempted === 0 && unreached > 0 && !isStopped(notification, states);
}

/** The response to a request that has done what it could. */
async function outcomeOf(
  deps: SendDependencies,
  sending: Sending,
  { states, isHandedOver }: Supervised,
): Promise<SendOutcome> {
  const { notification, slices } = sending;
  if (notification.division.respondedAsync) {
    if (isHandedOver) await markHandedOver(deps, sending);
    return { kind: 'accepted', id: notification.id, status: 'sending' };
  }
  const counts = finalCounts(notification, states);
  deps.observe.responded(slices[0]!, counts, isStopped(notification, states));
  return sentOutcome(sending, states);
}

/** Tells a repeated request that Lambda will deliver the notification. */
async function markHandedOver(deps: SendDependencies, sending: Sending): Promise<void> {
  const { call, notification, slices, deadlines } = sending;
  const { project, keyed } = notification;
  if (keyed === undefined) return;
  try {
    await whileTimeIsLeft(deps, deadlines.endsAt, (signal) =>
      deps.sends.handedOver(project, keyed.keyHash, call.requestId, signal),
    );
  } catch (error) {
    deps.observe.recordFailed(slices[0]!, error);
  }
}

/**
 * Undoes what may have begun of a send that has attempted nothing, so that a repeated request starts from the
 * beginning. If that fails until the end, a repeated request continues what is stored.
 * @returns the response if the send is kept, because it was stopped or other functions deliver it.
 * @throws the error otherwise.
 */
async function cancel(
  deps: SendDependencies,
  sending: Sending,
  known: SliceStates,
  error: unknown,
): Promise<SendOutcome> {
  const { call, notification, slices, deadlines, signal } = sending;
  const { id, division } = notification;
  let outcome: Awaited<ReturnType<typeof deps.sends.cancel>>;
  try {
    outcome = await whileTimeIsLeft(deps, deadlines.endsAt, (until) =>
      deps.sends.cancel(notification, call.requestId, until),
    );
  } catch (failure) {
    deps.observe.cancelFailed(slices[0]!, failure);
    throw error;
  }
  if (outcome === 'cancelled') throw error;
  const numbers = slices.map(({ slice }) => slice);
  const states = await deps.slices.find(id, numbers, signal).catch(() => known);
  if (!division.respondedAsync)
    return sentOutcome(
      sending,
      numbers.map((number) => states[number]),
    );
  const { status } = summaryOf(notification, states, deps.clock());
  return { kind: 'accepted', id, status: outcome === 'stopped' ? 'stopped' : status };
}

/** The response with the counts, as if all work on the slices had ended. @param slices all of them. */
function sentOutcome({ call, notification }: Sending, slices: SliceStates): SendOutcome {
  const { audience } = call;
  const userIds = 'userIds' in audience ? audience.userIds : [];
  // Users for whose counts a caller waits are in one slice.
  const usersNotReached = userIds.filter((_, index) => !isReached(slices[0]?.reached, index));
  const { attempted, delivered, removed, failed, failures, unreached } = finalCounts(
    notification,
    slices,
  );
  return {
    kind: 'sent',
    result: {
      id: notification.id,
      attempted,
      delivered,
      removed,
      failed,
      failures: failed > 0 ? failures : undefined,
      unreached: unreached || undefined,
      usersNotReached: usersNotReached.length > 0 ? usersNotReached : undefined,
      status: isStopped(notification, slices) ? 'stopped' : undefined,
    },
  };
}

function assertTimeIsLeft({ clock }: SendDependencies, { deadlines }: Sending): void {
  // Later, what begins could not be undone in time.
  if (clock().getTime() > deadlines.lastPushAt) throw outOfTime();
}

/** The response to a send for which no time was left. */
function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}

function capReached(cap: number | null, now: Date): ServiceError {
  return new ServiceError(
    'send_cap_reached',
    `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
    { retryAfterSeconds: secondsToNextMonth(now) },
  );
}

/** @throws {ServiceError} `project_paused`, as the project is now: it may have been resumed. */
async function expectSending(deps: SendDependencies, { slices, signal }: Sending): Promise<void> {
  const project = await deps.projects.refresh(slices[0]!.projectId, signal);
  if (project?.pausedAt === undefined) return;
  throw new ServiceError(
    'project_paused',
    'The operator has paused this project. Nothing was sent; send again when it is resumed.',
  );
}

/** The operator counts a month's notifications again. */
function beingCounted(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The notifications of this project are being counted; nothing was sent. Try again in some seconds.',
    { retryAfterSeconds: 5 },
  );
}

function requestInProgress(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfterSeconds },
  );
}
