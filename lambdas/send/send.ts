import { createHash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { pushMessage } from '../contract/message.ts';
import { limitOf, type SigningProject } from '../contract/project.ts';
import { pathOf, routes } from '../contract/routes.ts';
import type { SendRequest, SendResult } from '../contract/schemas.ts';
import type { Deliver, DeliveryReport } from '../push/delivery.ts';
import type { AudienceStore } from '../store/audience.ts';
import {
  type EarlierSend,
  type NewNotification,
  type SendStore,
  secondsToNextMonth,
} from '../store/notifications.ts';

export interface SendParts {
  readonly sends: SendStore;
  readonly audiences: AudienceStore;
  readonly deliver: Deliver;
  readonly clock: () => Date;
  readonly newId: () => string;
  /** Most notifications a month of a project whose plan says nothing else. */
  readonly monthlyCap: number;
  /** Told of every delivery, and of what could not be written down after one. */
  readonly observe: {
    delivered(project: SigningProject, id: string, report: DeliveryReport): void;
    lost(project: SigningProject, id: string, error: unknown): void;
  };
}

export interface SendCall {
  readonly request: SendRequest;
  /** The caller's name for this request and its repetitions, where it gave one. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the service, for the service worker's beacons. */
  readonly baseUrl: string;
}

/**
 * Sends one notification and counts what became of it. It takes one unit of the month whatever the
 * size of its audience, and gives it back where nothing was attempted because of a fault here. A
 * request that repeats another is answered as that one was, and sends nothing.
 */
export async function send(
  parts: SendParts,
  project: SigningProject,
  { request, idempotencyKey, baseUrl }: SendCall,
): Promise<SendResult> {
  const { sends, audiences, deliver, clock, newId, monthlyCap, observe } = parts;
  const { projectId, plan, vapid } = project;
  const { userIds, ...content } = request;
  const id = newId();
  const sentAt = clock();
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : { keyHash: sha256(idempotencyKey), requestHash: sha256(JSON.stringify(request)) };
  const notification = { projectId, id, content, sentAt, idempotency };
  const message = serialise(notification, baseUrl);

  const cap = limitOf(plan.monthlySendCap, monthlyCap);
  const outcome = await sends.begin(notification, cap);
  if (outcome === 'project_gone') {
    throw new ServiceError('unauthorized', 'The project of this key has just been deleted.');
  }
  if (outcome === 'cap_reached') {
    throw new ServiceError(
      'send_cap_reached',
      `The project has sent its ${cap} notifications of this month; it may send again on the 1st (UTC).`,
      { retryAfter: secondsToNextMonth(sentAt) },
    );
  }
  if (outcome === 'repeated') {
    const { keyHash, requestHash } = idempotency!;
    return repeat(await sends.earlier(projectId, keyHash), requestHash, sentAt);
  }

  const report = await deliver({
    message,
    vapid,
    audience: userIds ? audiences.users(projectId, userIds) : audiences.everyone(projectId),
    deadline: sentAt.getTime() + limits.sendDeadline,
    remove: (endpointHashes) => audiences.removeGone(projectId, endpointHashes),
  });
  observe.delivered(project, id, report);

  if (report.attempted === 0 && report.interruption !== undefined) {
    await sends.giveBack(notification).catch((error) => observe.lost(project, id, error));
    throw report.interruption;
  }
  const { attempted, delivered, removed, failed, unreached } = report;
  const result = { id, attempted, delivered, removed, failed, unreached: unreached || undefined };
  // The pushes are out. An error now would have the caller send them all again.
  await sends.finish(projectId, result).catch((error) => observe.lost(project, id, error));
  return result;
}

/** Answers a request that repeats an earlier one. */
function repeat(earlier: EarlierSend | undefined, requestHash: string, now: Date): SendResult {
  if (earlier !== undefined && earlier.requestHash !== requestHash) {
    throw new ServiceError(
      'idempotency_key_reused',
      'This Idempotency-Key came with another body before; take a new key for a new notification.',
    );
  }
  if (earlier?.result !== undefined) return earlier.result;
  // Where there is none any more, the earlier one has just given its unit back.
  const age = earlier && now.getTime() - earlier.sentAt.getTime();
  if (age === undefined || age < limits.sendTimeout) {
    throw new ServiceError(
      'request_in_progress',
      'The first request with this Idempotency-Key is still under way; ask again for its answer.',
      { retryAfter: age === undefined ? 1 : Math.ceil((limits.sendTimeout - age) / 1000) },
    );
  }
  throw new ServiceError(
    'internal_error',
    'The first request with this Idempotency-Key broke off. Some subscribers may have been ' +
      'notified; take a new key to send again.',
  );
}

function serialise({ projectId, id, content }: NewNotification, baseUrl: string): Buffer {
  const events = baseUrl + pathOf(routes.track, { projectId, notificationId: id });
  const message = Buffer.from(JSON.stringify(pushMessage(id, content, events)));
  const excess = message.length - limits.messageBytes;
  if (excess <= 0) return message;
  throw new ServiceError(
    'payload_too_large',
    `The notification is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
