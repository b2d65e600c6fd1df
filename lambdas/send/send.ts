import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { SendResult } from '../../contract/wire/notification.ts';
import type { NotificationStatus } from '../../contract/wire/notification-status.ts';
import { limitOf, type SigningProject } from '../../contract/wire/project.ts';
import { routes } from '../../contract/wire/routes.ts';
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
import { type Supervised, Supervision } from './supervise.ts';

export type SendOutcome = (
  | { readonly kind: 'sent'; readonly result: SendResult }
  | { readonly kind: 'accepted'; readonly id: string; readonly status: NotificationStatus }
) & {
  /** Bytes of the largest message, if they are above `limits.messageBytesEverywhere`. */
  readonly messageBytes?: number;
};

/** A function that Lambda has accepted begins within this time, almost always. */
const startSeconds = 2;

/**
 * Sends one notification. It takes one unit of the month, whatever the size of the audience. The unit is returned if a
 * fault of the service prevented every push. A repeated request gets the response of the first one, or continues its
 * send.
 * @throws {ServiceError} `unavailable` if it has sent nothing; `outcome_unknown` if something may have been sent, and this
 *   request does not know all of it.
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
  // A month that begins long after the pause is not closed.
  if (call.earlier === undefined && project.pausedAt !== undefined)
    await expectSending(deps, sending);
  const outcome = await (call.earlier === undefined
    ? begin(deps, sending, cap)
    : repeat(deps, sending));
  return messageBytes > limits.messageBytesEverywhere ? { ...outcome, messageBytes } : outcome;
}

/**
 * The first chunk is read while the notification begins, and claimed afterwards. So if the response of `begin` is lost,
 * nobody is claimed, and a repetition sends to everyone.
 */
async function begin(
  deps: SendDependencies,
  sending: Sending,
  cap: number | null,
): Promise<SendOutcome> {
  const { call, notification, slices, lastPushAt } = sending;
  // The transaction decides. This only saves reading the audience.
  if (call.sent !== undefined && roomBelow(cap, call.sent) === 0) {
    throw capReached(cap, call.sentAt);
  }
  assertTimeIsLeft(deps, sending);
  const [slice] = slices;
  const untilLastPush = deps.abortAfter(lastPushAt - deps.clock().getTime());
  const reading = call.respondAsync ? undefined : readChunk(deps, slice!, slice!, untilLastPush);
  // An error is thrown where this is awaited; the read is repeated there.
  reading?.catch(() => {});
  let begun: Awaited<ReturnType<typeof deps.sends.begin>>;
  try {
    begun = await whileTimeIsLeft(deps, lastPushAt, (signal) =>
      deps.sends.begin(notification, call.requestId, cap, signal),
    );
  } catch (error) {
    return cancel(deps, sending, { mayHaveBegun: false, error });
  }
  switch (begun) {
    case 'project_gone':
      throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
    case 'cap_reached':
      throw capReached(cap, call.sentAt);
    case 'closed':
      await expectSending(deps, sending);
      // The operator is recounting the project's notifications.
      throw new ServiceError(
        'unavailable',
        'The notifications of this project are being counted; this request has sent nothing. Try again in some seconds.',
        { retryAfterSeconds: 5 },
      );
    case 'repeated':
      return repeat(deps, sending);
    case 'begun': {
      const supervision = new Supervision(deps, sending, []);
      const supervised = await (call.respondAsync
        ? supervision.handOver(false)
        : supervision.deliver(reading));
      const outcome = outcomeOf(deps, sending, supervised);
      if (outcome !== undefined) return outcome;
      if (supervised.hasAttempted) throw outcomeUnknown(sending);
      return cancel(deps, sending, supervised);
    }
  }
}

/**
 * The response to a repeated request. If the notification is delivered, or functions have it, that is the response of
 * the first request. If the first request may still be at work, the caller has to wait. Otherwise this request
 * continues the send. It never cancels it: the first caller may have had a response.
 */
async function repeat(deps: SendDependencies, sending: Sending): Promise<SendOutcome> {
  const { call, notification } = sending;
  const { project, keyed } = notification;
  const { keyHash, requestHash } = keyed!;
  const retried = <Result>(attempt: (signal: AbortSignal) => Promise<Result>) =>
    whileTimeIsLeft(deps, sending.lastPushAt, attempt);
  const earlier =
    call.earlier ??
    (await retried((signal) => deps.sends.earlier(project, keyHash, deps.clock(), signal)));
  // The first request has just been undone.
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
  if (stored === undefined) {
    const wasDeleted = await retried((signal) =>
      deps.notifications.wasDeleted(project, earlier.sendId, signal),
    );
    if (!wasDeleted) throw requestInProgress(1);
    throw new ServiceError(
      'notification_deleted',
      'This notification was sent, and then deleted. It is not sent again; use a new key for a new notification.',
    );
  }
  const continued = sendingOf(deps, sending, stored);
  const numbers = continued.slices.map(({ slice }) => slice);
  const states = await retried((signal) => deps.slices.find(stored.id, numbers, signal));
  if (states.some((slice) => slice?.ended === 'cancelled')) throw requestInProgress(1);

  const { respondedAsync } = stored.division;
  // After the reads: a lease may have run out during them.
  const now = deps.clock();
  const isAccepted = states.every(
    (slice) => isOver(slice, now) || (respondedAsync && freeAt(slice) >= now.getTime()),
  );
  if (isAccepted) return respondTo(deps, continued, states);
  const ownedUntil = earlier.ownedAt + sendTimeline.timeoutMs + sliceTimeline.clockDifferenceMs;
  if (now.getTime() <= ownedUntil) {
    const leftSeconds = Math.ceil((ownedUntil - now.getTime()) / 1000) + 1;
    throw requestInProgress(respondedAsync ? Math.min(leftSeconds, startSeconds) : leftSeconds);
  }
  assertTimeIsLeft(deps, sending);
  await expectSending(deps, sending);
  const isOwner = await retried((signal) =>
    deps.sends.continueSend(project, keyHash, earlier, call.requestId, now, signal),
  );
  if (!isOwner) throw requestInProgress(1);
  const supervision = new Supervision(deps, continued, states);
  const supervised = await (respondedAsync ? supervision.handOver(true) : supervision.deliver());
  const outcome = outcomeOf(deps, continued, supervised);
  if (outcome !== undefined) return outcome;
  if (respondedAsync) throw requestInProgress(1);
  if (supervised.mayHaveBegun || supervised.hasAttempted) throw outcomeUnknown(continued);
  // The next repetition continues.
  throw notSent(supervised.error, kept(continued));
}

/** The response, if this request knows the outcome of its notification; otherwise undefined. */
function outcomeOf(
  deps: SendDependencies,
  sending: Sending,
  { states, isDone }: Pick<Supervised, 'states' | 'isDone'>,
): SendOutcome | undefined {
  if (!isDone || states.some((slice) => slice?.ended === 'cancelled')) return undefined;
  const { notification, slices } = sending;
  if (notification.division.respondedAsync) return respondTo(deps, sending, states);
  const counts = finalCounts(notification, states);
  const unjudged = states.reduce((sum, slice) => sum + (slice?.unjudged ?? 0), 0);
  deps.observe.responded(slices[0]!, counts, unjudged, isStopped(notification, states));
  return respondTo(deps, sending, states);
}

/** 201 or 202, as the first request asked for. With counts, nobody works on the slices any more. */
function respondTo(deps: SendDependencies, sending: Sending, slices: SliceStates): SendOutcome {
  const { call, notification } = sending;
  const { id, division } = notification;
  if (division.respondedAsync) {
    return { kind: 'accepted', id, status: summaryOf(notification, slices, deps.clock()).status };
  }
  const { audience } = call;
  const userIds = 'userIds' in audience ? audience.userIds : [];
  // A synchronous send to users has one slice.
  const usersNotReached = userIds.filter((_, index) => !isReached(slices[0]?.reached, index));
  const { attempted, delivered, removed, failed, failures, unreached } = finalCounts(
    notification,
    slices,
  );
  return {
    kind: 'sent',
    result: {
      id,
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

/**
 * Undoes a send that has attempted nobody, so that a repeated request starts from the beginning. If that fails, a
 * repeated request continues the send.
 * @returns the response if the send is over nevertheless: it was stopped, or functions have ended it.
 */
async function cancel(
  deps: SendDependencies,
  sending: Sending,
  { mayHaveBegun, error }: Pick<Supervised, 'mayHaveBegun' | 'error'>,
): Promise<SendOutcome> {
  const { call, notification, slices, endsAt } = sending;
  const retried = <Result>(attempt: (signal: AbortSignal) => Promise<Result>) =>
    whileTimeIsLeft(deps, endsAt, attempt);
  let isUndone: boolean;
  try {
    isUndone = await retried((signal) => deps.sends.cancel(notification, call.requestId, signal));
  } catch (failure) {
    deps.observe.cancelFailed(slices[0]!, failure);
    throw mayHaveBegun ? outcomeUnknown(sending) : notSent(error, kept(sending));
  }
  if (isUndone) throw notSent(error, undone);
  const numbers = slices.map(({ slice }) => slice);
  const states = await retried((signal) =>
    deps.slices.find(notification.id, numbers, signal),
  ).catch(() => []);
  // The send was stopped, or functions are delivering it.
  const isDone = numbers.every((number) => isOver(states[number], deps.clock()));
  const known = outcomeOf(deps, sending, { states, isDone });
  if (known === undefined) throw outcomeUnknown(sending);
  return known;
}

function assertTimeIsLeft({ clock }: SendDependencies, { lastPushAt }: Sending): void {
  // After this, there is no time left to undo what begins.
  if (clock().getTime() > lastPushAt) throw notSent(undefined, undone);
}

// An earlier request with the same key may have sent something.
const undone =
  'This request has sent nothing, and counts nothing against the month. Try again in a second.';

/** The end of the message if the send could not be undone. */
function kept({ notification }: Sending): string {
  const counts = 'This request has sent nothing, but its notification may count against the month';
  return notification.keyed === undefined
    ? `${counts}. Try again in a second.`
    : `${counts}. Repeat the request with the same Idempotency-Key to send it.`;
}

/**
 * The error of a send that has attempted nobody. An error that is not the database's or Lambda's is returned as it is.
 */
function notSent(cause: unknown, consequence: string): unknown {
  if (cause !== undefined && !(cause instanceof ServiceError)) return cause;
  const message = `The database or Lambda was too slow. ${consequence}`;
  return new ServiceError('unavailable', message, { retryAfterSeconds: 1, cause });
}

/** The error if somebody may have been attempted, and this request does not know the whole outcome. */
function outcomeUnknown({ call, notification, slices }: Sending): ServiceError {
  const { id: notificationId } = notification;
  const { projectId } = slices[0]!;
  return new ServiceError(
    'outcome_unknown',
    `The notification ${notificationId} may have been sent to some of its recipients. Read it to learn to how many; ` +
      'repeat the request only with the same Idempotency-Key.',
    { location: call.baseUrl + pathOf(routes.getNotification, { projectId, notificationId }) },
  );
}

function capReached(cap: number | null, now: Date): ServiceError {
  return new ServiceError(
    'send_cap_reached',
    `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
    { retryAfterSeconds: secondsToNextMonth(now) },
  );
}

/** @throws {ServiceError} `project_paused`. Reads the project again: it may have been resumed. */
async function expectSending(
  deps: SendDependencies,
  { project, lastPushAt }: Sending,
): Promise<void> {
  await whileTimeIsLeft(deps, lastPushAt, (signal) => project.refresh(signal));
  if (!project.isPaused) return;
  throw new ServiceError(
    'project_paused',
    'The operator has paused this project. This request has sent nothing; send again when it is resumed.',
  );
}

function requestInProgress(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfterSeconds },
  );
}
