import { ServiceError } from '../../contract/errors.ts';
import type { Share } from '../../contract/share.ts';
import { sendTimeline } from '../../contract/timeline.ts';
import { totalOf } from '../results/results.ts';
import { expiryOf, type NewNotification } from '../store/send-writes.ts';
import { cancel } from './cancel.ts';
import { type Audience, paceOf, sharesOf } from './divide.ts';
import { requestInProgress } from './request-in-progress.ts';
import { runShares, startShares } from './run-shares.ts';
import {
  eventsUrl,
  type Sending,
  type SendOutcome,
  type SendParts,
  sentOutcome,
} from './sending.ts';

type Deadline = NonNullable<Share['deadline']>;

/** Runs the shares of a notification that has begun, or hands them to functions that will. */
export async function runNotification(
  parts: SendParts,
  sending: Sending,
  begun: NewNotification,
): Promise<SendOutcome> {
  const { startedAt } = sending;
  const deadline = {
    lastPushAt: startedAt.getTime() + sendTimeline.lastPushMs,
    endAt: startedAt.getTime() + sendTimeline.pushEndMs,
  };
  return begun.plan.respondedAsync
    ? handOver(parts, sending, begun, deadline)
    : awaitShares(parts, sending, begun, deadline);
}

async function awaitShares(
  parts: SendParts,
  sending: Sending,
  begun: NewNotification,
  deadline: Deadline,
): Promise<SendOutcome> {
  const { project, requestId, endsAt } = sending;
  const { id, plan } = begun;
  const shares = planShares(parts, sending, begun, deadline);
  const outcome = await runShares(parts, project, shares, { id: requestId, endsAt });
  if (outcome === undefined) throw requestInProgress(1);
  const total = totalOf(outcome.results, plan.subscribers);
  if (total.attempted === 0 && total.unreached > 0 && !outcome.isUnknown) {
    await cancel(parts, sending, begun);
    throw outcome.error ?? outOfTime();
  }
  parts.observe.sent(shares[0]!, total);
  return sentOutcome(id, total);
}

/** @param deadline of the shares that Lambda does not accept. */
async function handOver(
  parts: SendParts,
  sending: Sending,
  begun: NewNotification,
  deadline: Deadline,
): Promise<SendOutcome> {
  const { project, requestId, endsAt } = sending;
  const { id } = begun;
  const shares = planShares(parts, sending, begun, undefined);
  const invocation = { id: requestId, endsAt };
  const started = await startShares(parts, project, shares, deadline, invocation);
  if (!started.isStarted) {
    await cancel(parts, sending, begun);
    throw outOfTime();
  }
  await markQueued(parts, sending, shares[0]!);
  if (started.results.length > 0) {
    parts.observe.sent(shares[0]!, totalOf(started.results, undefined));
  }
  return { kind: 'accepted', id, status: 'sending' };
}

function planShares(
  { pushesPerSecond }: SendParts,
  sending: Sending,
  begun: NewNotification,
  deadline: Deadline | undefined,
): readonly Share[] {
  const { project, request, requestId } = sending;
  const { id, plan } = begun;
  const { userIds, ...content } = request;
  const audience: Audience = userIds ? { userIds } : { subscribers: plan.subscribers! };
  return sharesOf(
    {
      ...{ projectId: project.projectId, projectCreatedAt: project.createdAt },
      ...{ notificationId: id, content, requestId, deadline },
      eventsUrl: eventsUrl(sending, id),
      expiresAt: expiryOf(begun.sentAt),
    },
    audience,
    plan,
    paceOf(audience, pushesPerSecond, plan.respondedAsync),
  );
}

/** Tells a repeated request that functions will deliver the notification. */
async function markQueued(parts: SendParts, { signal }: Sending, share: Share): Promise<void> {
  try {
    await parts.tallies.open(share, share.firstTally, signal);
  } catch (error) {
    parts.observe.recordFailed(share, error);
  }
}

function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}
