import { createHash } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { limitOf, type SigningProject } from '../../contract/project.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type {
  NotificationStatus,
  SendRequest,
  SendResult,
} from '../../contract/schemas/notification.ts';
import type { Share } from '../../contract/share.ts';
import { storedResult, totalOf } from '../results/results.ts';
import { firstTallies, overAt, statusOf } from '../results/status.ts';
import { secondsToNextMonth } from '../store/calendar.ts';
import { expiryOf, type NewNotification } from '../store/send-writes.ts';
import type { SendStore } from '../store/sends.ts';
import type { Tally } from '../store/tallies.ts';
import { type Audience, divide, paceOf, sharesOf } from './divide.ts';
import { expectFits } from './expect-fits.ts';
import { requestHash } from './request-hash.ts';
import { type RunParts, runShares, startShares } from './run-shares.ts';

export interface SendParts extends RunParts {
  readonly sends: SendStore;
  readonly countSubscribers: (projectId: string, signal: AbortSignal) => Promise<number>;
  readonly newId: (time: Date) => string;
  /** Most notifications per month where the project's plan sets no cap. */
  readonly monthlyCap: number;
  /** Pushes per second over all functions that deliver a notification. */
  readonly pushesPerSecond: number;
  readonly observeSend: SendObserver;
}

/** What operators see of a send, besides its shares. */
export interface SendObserver {
  /** The send has its response. The total is that of the shares that it waited for. */
  sent(project: SigningProject, id: string, total: ReturnType<typeof totalOf>): void;
  /** A send could not be undone. */
  cancelFailed(project: SigningProject, id: string, error: unknown): void;
}

export interface SendCall {
  readonly request: SendRequest;
  /** The header of that name, if given. */
  readonly idempotencyKey?: string | undefined;
  /** Whether the caller asks not to wait for the delivery (RFC 7240 §4.1). */
  readonly respondAsync: boolean;
  /** Address of the service, for the events URL in the message. */
  readonly baseUrl: string;
  /** Unique to this request. */
  readonly requestId: string;
  /** When the request reached the gateway. All time limits count from here. */
  readonly startedAt: Date;
}

export type SendOutcome =
  | { readonly kind: 'sent'; readonly result: SendResult }
  | { readonly kind: 'accepted'; readonly id: string; readonly status: NotificationStatus };

/**
 * Sends one notification. It takes one unit of the month whatever the size of the audience, and returns
 * the unit if nothing was attempted because of a fault here. A repeated request gets the response of the
 * first one and sends nothing. Only if the first one failed before its delivery began, the repeated
 * request delivers its notification.
 */
export async function send(
  parts: SendParts,
  project: SigningProject,
  call: SendCall,
): Promise<SendOutcome> {
  const { sends, tallies, clock } = parts;
  const { request, idempotencyKey, respondAsync, requestId, startedAt } = call;
  const { projectId, plan } = project;
  const { userIds, ...content } = request;
  const sentAt = clock();
  const endsAt = startedAt.getTime() + limits.send.endMs;
  const signal = parts.abortAfter(Math.max(0, endsAt - sentAt.getTime()));

  const audience: Audience = userIds
    ? { userIds }
    : { subscribers: await parts.countSubscribers(projectId, signal) };
  const pace = paceOf(audience, parts.pushesPerSecond, respondAsync);
  const notification: NewNotification = {
    projectId,
    projectCreatedAt: project.createdAt,
    id: parts.newId(sentAt),
    content,
    plan: {
      ...('userIds' in audience ? { users: audience.userIds.length } : audience),
      ...divide(audience, pace, respondAsync),
      respondedAsync: respondAsync,
    },
    sentAt,
    idempotency:
      idempotencyKey === undefined
        ? undefined
        : { keyHash: sha256(idempotencyKey), requestHash: requestHash(request) },
  };
  expectFits(notification, eventsUrl(notification.id));

  const cap = limitOf(plan.monthlySendCap, parts.monthlyCap);
  switch (await begin()) {
    case 'project_gone':
      throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
    case 'cap_reached':
      throw new ServiceError(
        'send_cap_reached',
        `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
        { retryAfter: secondsToNextMonth(sentAt) },
      );
    case 'repeated':
      return repeat();
    case 'begun':
      return deliver(notification);
  }

  async function begin(): ReturnType<SendStore['begin']> {
    try {
      return await sends.begin(notification, cap, signal);
    } catch (error) {
      await cancel(notification);
      throw error;
    }
  }

  async function repeat(): Promise<SendOutcome> {
    const { keyHash, requestHash: ownHash } = notification.idempotency!;
    const earlier = await sends.earlier(projectId, keyHash, signal);
    // The first request has just returned its unit.
    if (earlier === undefined) throw inProgress(1);
    if (earlier.requestHash !== ownHash) {
      throw new ServiceError(
        'idempotency_key_reused',
        'This Idempotency-Key was already used with a different body; use a new key for a new notification.',
      );
    }
    const first = { ...notification, ...earlier.notification };
    const found = await tallies.find(first.id, firstTallies(first), signal);
    if (found[0]?.ended === 'cancelled') throw inProgress(1);
    const isQueued = first.plan.respondedAsync && found[0] !== undefined;
    if (!isQueued && found.every((tally) => tally?.claim === undefined)) {
      // Until its function is over, the first request may deliver its notification or cancel it.
      const isOver = first.sentAt.getTime() + limits.send.timeoutMs < sentAt.getTime();
      if (!isOver) throw inProgress(1);
      return deliver(first);
    }
    if (mayBeCancelled(found, sentAt)) throw inProgress(1);
    const status = statusOf(first, found, sentAt);
    if (first.plan.respondedAsync) return { kind: 'accepted', id: first.id, status };
    if (status === 'sending') {
      const over = Math.max(...found.map((tally) => overAt(first, tally)));
      // Until this time, inclusive.
      throw inProgress(Math.floor((over - sentAt.getTime()) / 1000) + 1);
    }
    return {
      kind: 'sent',
      result: resultOf(first.id, totalOf(found.map(storedResult), first.plan.subscribers)),
    };
  }

  async function deliver(begun: NewNotification): Promise<SendOutcome> {
    const { id, plan: division } = begun;
    const deadline = {
      lastPushAt: startedAt.getTime() + limits.send.lastPushMs,
      endAt: startedAt.getTime() + limits.send.deliveryEndMs,
    };
    const invocation = { id: requestId, endsAt };
    const begunAudience = userIds ? { userIds } : { subscribers: division.subscribers! };
    const shares = sharesOf(
      {
        ...{ projectId, projectCreatedAt: project.createdAt, notificationId: id, content },
        requestId,
        eventsUrl: eventsUrl(id),
        expiresAt: expiryOf(begun.sentAt),
        deadline: division.respondedAsync ? undefined : deadline,
      },
      begunAudience,
      division,
      paceOf(begunAudience, parts.pushesPerSecond, division.respondedAsync),
    );
    if (division.respondedAsync) {
      const started = await startShares(parts, project, shares, deadline, invocation);
      if (!started.isStarted) {
        await cancel(begun);
        throw outOfTime();
      }
      await markQueued(shares[0]!);
      if (started.results.length > 0) {
        parts.observeSend.sent(project, id, totalOf(started.results, undefined));
      }
      return { kind: 'accepted', id, status: 'sending' };
    }
    const outcome = await runShares(parts, project, shares, invocation);
    if (outcome === undefined) throw inProgress(1);
    const total = totalOf(outcome.results, division.subscribers);
    if (total.attempted === 0 && total.unreached > 0 && !outcome.isUnknown) {
      await cancel(begun);
      throw outcome.error ?? outOfTime();
    }
    parts.observeSend.sent(project, id, total);
    return { kind: 'sent', result: resultOf(id, total) };
  }

  /** Tells a repeated request that functions will deliver the notification. */
  async function markQueued(share: Share): Promise<void> {
    try {
      await tallies.open(share, share.firstTally, signal);
    } catch (error) {
      parts.observe.recordFailed(share, error);
    }
  }

  /** Undoes what may have begun, so that a repeated request starts from the beginning. */
  async function cancel(begun: NewNotification): Promise<void> {
    try {
      await sends.cancel(begun, requestId, signal);
    } catch (error) {
      parts.observeSend.cancelFailed(project, begun.id, error);
    }
  }

  function eventsUrl(notificationId: string): string {
    return call.baseUrl + pathOf(routes.track, { projectId, notificationId });
  }
}

function resultOf(id: string, total: ReturnType<typeof totalOf>): SendResult {
  const { attempted, delivered, removed, failed, failures, unreached } = total;
  return {
    ...{ id, attempted, delivered, removed, failed },
    failures: failed > 0 ? failures : undefined,
    unreached: unreached || undefined,
  };
}

/**
 * Whether the request that delivers a notification may still cancel it: nothing was attempted, so it
 * returns the unit.
 */
function mayBeCancelled(found: readonly (Tally | undefined)[], now: Date): boolean {
  const { attempted } = totalOf(found.map(storedResult), undefined);
  const claimed = found.filter((tally) => tally?.claim !== undefined);
  if (attempted > 0 || claimed.some((tally) => tally!.ended !== 'incomplete')) return false;
  const cancelMs = limits.send.timeoutMs - limits.send.endMs;
  return claimed.some((tally) => now.getTime() < tally!.claim!.until + cancelMs);
}

function inProgress(retryAfter: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfter },
  );
}

function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfter: 1 },
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
