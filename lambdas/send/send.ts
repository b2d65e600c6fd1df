import { createHash } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { limitOf, type SigningProject } from '../../contract/project.ts';
import { sendTimeline } from '../../contract/timeline.ts';
import { prepareShare } from '../deliver/deliver-share.ts';
import type { Invocation } from '../deliver/share-progress.ts';
import { secondsToNextMonth } from '../store/calendar.ts';
import type { NewNotification } from '../store/send-writes.ts';
import type { SendStore } from '../store/sends.ts';
import { awaitShares } from './await-shares.ts';
import { cancel } from './cancel.ts';
import { divide, paceOf } from './divide.ts';
import { handOver } from './hand-over.ts';
import { largestMessage } from './largest-message.ts';
import { repeat } from './repeat.ts';
import { requestHash } from './request-hash.ts';
import { delivering } from './run-shares.ts';
import {
  eventsUrl,
  type SendCall,
  type SendDependencies,
  type Sending,
  type SendOutcome,
} from './sending.ts';
import { sharesOfNotification } from './shares-of-notification.ts';

/**
 * Sends one notification. It takes one unit of the month whatever the size of the audience, and returns
 * the unit if nothing was attempted because of a fault here. A repeated request gets the response of the
 * first one and sends nothing. Only if the first one did not hand its notification to the functions that
 * were to deliver it, the repeated request does.
 *
 * What is delivered here is read before the notification begins, and claimed by the same transaction: a
 * function that dies leaves no notification that nobody has claimed.
 */
export async function send(
  deps: SendDependencies,
  project: SigningProject,
  call: SendCall,
): Promise<SendOutcome> {
  const sentAt = deps.clock();
  const endsAt = call.startedAt.getTime() + sendTimeline.endMs;
  const signal = deps.abortAfter(Math.max(0, endsAt - sentAt.getTime()));
  const invocation: Invocation = { id: call.requestId, endsAt };
  const sending: Sending = { ...call, project, sentAt, invocation, signal };

  const notification = newNotification(deps, sending);
  const url = eventsUrl(sending, notification.id);
  const messageBytes = largestMessage(notification, call.audience, url);
  const outcome = await beginAndDeliver(deps, sending, notification);
  return messageBytes > limits.messageBytesEverywhere ? { ...outcome, messageBytes } : outcome;
}

async function beginAndDeliver(
  deps: SendDependencies,
  sending: Sending,
  notification: NewNotification,
): Promise<SendOutcome> {
  const { project, invocation, respondAsync, sentAt, signal } = sending;
  const shares = sharesOfNotification(deps, sending, notification);
  const first = respondAsync
    ? undefined
    : await prepareShare(deps, project, shares[0]!, delivering(invocation));
  const cap = limitOf(project.plan.monthlySendCap, deps.monthlyCap);
  let begun: Awaited<ReturnType<SendStore['begin']>>;
  try {
    begun = await deps.sends.begin({ ...notification, claimed: first?.tallies }, cap, signal);
  } catch (error) {
    const stopped = await cancel(deps, sending, notification);
    if (stopped !== undefined) return stopped;
    throw error;
  }
  switch (begun) {
    case 'project_gone':
      throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
    case 'cap_reached':
      throw new ServiceError(
        'send_cap_reached',
        `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
        { retryAfterSeconds: secondsToNextMonth(sentAt) },
      );
    case 'repeated':
      return repeat(deps, sending, notification);
    case 'begun':
      return first === undefined
        ? handOver(deps, sending, notification, shares)
        : awaitShares(deps, sending, notification, first, shares.slice(1));
  }
}

function newNotification(deps: SendDependencies, sending: Sending): NewNotification {
  const { project, request, audience, idempotencyKey, respondAsync, sentAt } = sending;
  const { projectId, createdAt: projectCreatedAt } = project;
  const { userIds: _, recipients: __, channels, seenWithinDays, ...content } = request;
  const conditions = { channels, seenWithinDays };
  // Values that no placeholder uses may be anything, and have no meaning.
  const users = 'userIds' in audience ? audience : {};
  const pace = paceOf(audience, deps.pushesPerSecond, respondAsync);
  return {
    ...{ projectId, projectCreatedAt, content, sentAt },
    id: deps.newId(sentAt),
    division: {
      ...('userIds' in audience ? { users: audience.userIds.length } : audience),
      ...conditions,
      ...divide(audience, pace, respondAsync),
      respondedAsync: respondAsync,
    },
    idempotency:
      idempotencyKey === undefined
        ? undefined
        : {
            keyHash: sha256(idempotencyKey),
            requestHash: requestHash(idempotencyKey, { ...content, ...conditions, ...users }),
          },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
