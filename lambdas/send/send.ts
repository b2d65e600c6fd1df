import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { limitOf, type SigningProject } from '../../contract/project.ts';
import { countersOf, nextChunk } from '../deliver/deliver-slice.ts';
import { roomBelow, secondsToNextMonth } from '../store/counters.ts';
import { cancel, outOfTime } from './cancel.ts';
import { awaitSlices, handOver, workHere } from './finish.ts';
import { largestMessage } from './largest-message.ts';
import { newSending } from './new-sending.ts';
import { repeat } from './repeat.ts';
import type { SendCall, SendDependencies, Sending, SendOutcome } from './sending.ts';

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
  const cap = limitOf(project.plan.monthlySendCap, deps.monthlyCap);
  const outcome = await (call.earlier === undefined
    ? beginSend(deps, sending, cap)
    : repeat(deps, sending));
  return messageBytes > limits.messageBytesEverywhere ? { ...outcome, messageBytes } : outcome;
}

/**
 * What is delivered here is read before the notification begins, and claimed by the same transaction: a function
 * that dies leaves no notification that nobody has.
 */
async function beginSend(
  deps: SendDependencies,
  sending: Sending,
  cap: number | null,
): Promise<SendOutcome> {
  const { call, notification, project, deadlines } = sending;
  const { requestId } = call;
  // The transaction decides. What it would refuse needs no audience.
  if (call.sent !== undefined && roomBelow(cap, call.sent) === 0) {
    throw capReached(cap, notification.sentAt);
  }
  // Later, what begins could not be undone in time.
  if (deps.clock().getTime() > deadlines.lastPushAt) throw outOfTime();
  const signal = deps.abortAfter(deadlines.pushEndAt - deps.clock().getTime());
  const slice = sending.slices[0]!;
  const work = workHere(deps, sending, slice);
  const chunk = call.respondAsync
    ? undefined
    : await nextChunk(deps, project, slice, slice.from, signal);
  const first = chunk && { slice: work.lease.claimFirst(chunk), counters: countersOf(slice) };
  let begun: Awaited<ReturnType<typeof deps.sends.begin>>;
  try {
    begun = await deps.sends.begin(notification, requestId, first, cap, signal);
  } catch (error) {
    return cancel(deps, sending, error);
  }
  switch (begun) {
    case 'project_gone':
      throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
    case 'cap_reached':
      throw capReached(cap, notification.sentAt);
    case 'repeated':
      return repeat(deps, sending);
    case 'begun':
      return chunk === undefined
        ? handOver(deps, sending)
        : awaitSlices(deps, sending, { work, chunk });
  }
}

function capReached(cap: number | null, now: Date): ServiceError {
  return new ServiceError(
    'send_cap_reached',
    `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
    { retryAfterSeconds: secondsToNextMonth(now) },
  );
}
