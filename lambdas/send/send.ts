import { ServiceError } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { pushMessage } from '../contract/message.ts';
import { limitOf, type Project } from '../contract/project.ts';
import { pathOf, routes } from '../contract/routes.ts';
import type { NotificationContent, SendRequest, SendResult } from '../contract/schemas.ts';
import type { Deliver, DeliveryReport } from '../push/delivery.ts';
import type { AudienceStore } from '../store/audience.ts';
import {
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
    delivered(project: Project, id: string, report: DeliveryReport): void;
    lost(project: Project, id: string, error: unknown): void;
  };
}

/**
 * Sends one notification and counts what became of it. It takes one unit of the month whatever the
 * size of its audience, and gives it back where nothing was attempted because of a fault here.
 * @param baseUrl address of the service, for the service worker's beacons.
 */
export async function send(
  { sends, audiences, deliver, clock, newId, monthlyCap, observe }: SendParts,
  project: Project,
  { userIds, ...content }: SendRequest,
  baseUrl: string,
): Promise<SendResult> {
  const { projectId, plan, vapid } = project;
  const sentAt = clock();
  const notification: NewNotification = { projectId, id: newId(), content, sentAt };
  const { id } = notification;
  const message = serialise(notification, content, baseUrl);

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

function serialise(
  { projectId, id }: NewNotification,
  content: NotificationContent,
  baseUrl: string,
): Buffer {
  const events = baseUrl + pathOf(routes.track, { projectId, notificationId: id });
  const message = Buffer.from(JSON.stringify(pushMessage(id, content, events)));
  const excess = message.length - limits.messageBytes;
  if (excess <= 0) return message;
  throw new ServiceError(
    'payload_too_large',
    `The notification is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
  );
}
