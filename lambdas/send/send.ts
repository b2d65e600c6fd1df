import { createHash } from 'node:crypto';
import type { Audience, Recipient } from '../../contract/audience.ts';
import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { pushMessage } from '../../contract/message.ts';
import { limitOf, type SigningProject } from '../../contract/project.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { SendRequest, SendResult } from '../../contract/schemas.ts';
import type { ChunkReport, Deliver } from '../push/delivery/deliver-chunk.ts';
import type { AudienceStore } from '../store/audience.ts';
import { secondsToNextMonth } from '../store/calendar.ts';
import type { NewNotification } from '../store/send-writes.ts';
import type { SendStore } from '../store/sends.ts';

export interface DeliveryReport extends ChunkReport {
  /** Why the audience could not be read to its end, if so. */
  readonly interruption?: unknown;
}

export interface SendParts {
  readonly sends: SendStore;
  readonly audiences: AudienceStore;
  readonly deliver: Deliver;
  readonly clock: () => Date;
  /** A signal that aborts after this many ms. */
  readonly abortAfter: (ms: number) => AbortSignal;
  readonly newId: () => string;
  /** Most notifications per month where the project's plan sets no cap. */
  readonly monthlyCap: number;
  /** Is called after every delivery, and when something could not be stored. */
  readonly observe: {
    delivered(project: SigningProject, id: string, report: DeliveryReport): void;
    recordFailed(project: SigningProject, id: string, error: unknown): void;
  };
}

export interface SendCall {
  readonly request: SendRequest;
  /** The header of that name, if given. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the service, for the events URL in the message. */
  readonly baseUrl: string;
  /** Unique to this request. */
  readonly requestId: string;
  /** When the request reached the gateway. All time limits count from here. */
  readonly startedAt: Date;
}

/**
 * Sends one notification and returns its counts. It takes one unit of the month whatever the size of
 * the audience, and returns the unit if nothing was attempted because of a fault here. A repeated
 * request gets the response of the first one and sends nothing. Only if the first one failed before
 * its delivery began, the repeated request delivers its notification.
 */
export async function send(
  parts: SendParts,
  project: SigningProject,
  call: SendCall,
): Promise<SendResult> {
  const { sends, clock, abortAfter, newId, monthlyCap } = parts;
  const { request, idempotencyKey, requestId, startedAt } = call;
  const { projectId, plan } = project;
  const { userIds, ...content } = request;
  const id = newId();
  const sentAt = clock();
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : { keyHash: sha256(idempotencyKey), requestHash: sha256(JSON.stringify(request)) };
  const notification = { projectId, id, content, sentAt, idempotency };
  expectFits(serialise(notification, call.baseUrl));

  const msLeft = startedAt.getTime() + limits.send.endMs - sentAt.getTime();
  const signal = abortAfter(Math.max(0, msLeft));
  const cap = limitOf(plan.monthlySendCap, monthlyCap);
  const begun = await undoing(notification, () => sends.begin(notification, cap, signal));
  if (begun === 'project_gone') {
    throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
  }
  if (begun === 'cap_reached') {
    throw new ServiceError(
      'send_cap_reached',
      `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
      { retryAfter: secondsToNextMonth(sentAt) },
    );
  }
  if (begun === 'repeated') return repeat();
  // Without a key, no repeated request can deliver it.
  if (idempotency && !(await claim(notification))) throw inProgress(1);
  return deliver(notification);

  function claim(wanted: NewNotification): Promise<boolean> {
    return undoing(wanted, () => sends.claim(wanted, { requestId, at: sentAt }, signal));
  }

  /** Undoes what a failed call may have done, so that a repeated request starts from the beginning. */
  async function undoing<Result>(
    undone: NewNotification,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await sends.cancel(undone, requestId, signal).catch(recordFailed);
      throw error;
    }
  }

  async function repeat(): Promise<SendResult> {
    const { keyHash, requestHash } = idempotency!;
    const earlier = await sends.earlier(projectId, keyHash, signal);
    // The first request has just returned its unit.
    if (earlier === undefined) throw inProgress(1);
    if (earlier.requestHash !== requestHash) {
      throw new ServiceError(
        'idempotency_key_reused',
        'This Idempotency-Key was already used with a different body; use a new key for a new notification.',
      );
    }
    if (earlier.result !== undefined) return earlier.result;
    const taken = { ...notification, id: earlier.id, sentAt: earlier.sentAt };
    if (earlier.claimedAt === undefined && (await claim(taken))) return deliver(taken);
    const age = sentAt.getTime() - (earlier.claimedAt ?? sentAt).getTime();
    if (age < limits.send.timeoutMs) {
      throw inProgress(Math.ceil((limits.send.timeoutMs - age) / 1000));
    }
    throw new ServiceError(
      'send_interrupted',
      'The first request with this Idempotency-Key was interrupted. Some subscribers may have been ' +
        'notified; use a new key to send again.',
    );
  }

  async function deliver(claimed: NewNotification): Promise<SendResult> {
    const { audiences, observe } = parts;
    const lastPushAt = startedAt.getTime() + limits.send.lastPushMs;
    const audience = userIds ? audiences.users(projectId, userIds) : audiences.everyone(projectId);
    const { recipients, ...interruption } = await readAll(audience, signal);
    const counted = await parts.deliver({
      recipients,
      messages: [serialise(claimed, call.baseUrl)],
      vapid: project.vapid,
      lastPushAt,
      endAt: startedAt.getTime() + limits.send.deliveryEndMs,
      pushesPerSecond: Number.POSITIVE_INFINITY,
      removalGroup: () => 0,
      remove: (gone, end) => {
        const hashes = gone.map(({ endpointHash }) => Buffer.from(endpointHash).toString('hex'));
        return audiences.removeGone(projectId, hashes, end);
      },
    }).done;
    // Those of the next page at least.
    const unread = 'interruption' in interruption ? 1 : 0;
    const report = { ...counted, ...interruption, unreached: counted.unreached + unread };
    observe.delivered(project, claimed.id, report);

    const { attempted, delivered, removed, failed, unreached } = report;
    if (attempted === 0 && unreached > 0) {
      await sends.release(claimed, requestId, signal).catch(recordFailed);
      throw interruption.interruption ?? outOfTime();
    }
    const counts = { attempted, delivered, removed, failed, unreached: unreached || undefined };
    const result = { id: claimed.id, ...counts };
    // The pushes have been sent. After an error the caller would send them all again.
    await sends.finish(projectId, result, signal).catch(recordFailed);
    return result;
  }

  function recordFailed(error: unknown): void {
    parts.observe.recordFailed(project, id, error);
  }
}

/** Reads an audience, as far as possible. */
async function readAll(audience: Audience, signal: AbortSignal) {
  const recipients: Recipient[] = [];
  try {
    for await (const page of audience.pages({ signal })) recipients.push(...page);
  } catch (interruption) {
    return { recipients, interruption };
  }
  return { recipients };
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

function serialise({ projectId, id, content }: NewNotification, baseUrl: string): Buffer {
  const events = baseUrl + pathOf(routes.track, { projectId, notificationId: id });
  return Buffer.from(JSON.stringify(pushMessage(id, content, events)));
}

function expectFits(message: Buffer): void {
  const excess = message.length - limits.messageBytes;
  if (excess <= 0) return;
  throw new ServiceError(
    'payload_too_large',
    `The notification is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
