import { createHash } from 'node:crypto';
import { conditionsOf, hasConditions } from '../../contract/conditions.ts';
import { pathOf } from '../../contract/path-of.ts';
import type { SigningProject } from '../../contract/project.ts';
import { routes } from '../../contract/routes.ts';
import { contentOf } from '../../contract/send-fields.ts';
import type { Slice } from '../../contract/slice.ts';
import { CurrentProject } from '../deliver/current-project.ts';
import { deadlinesOfRequest } from '../deliver/deadlines.ts';
import { expiryOf, type StoredNotification } from '../store/notifications.ts';
import type { NewNotification } from '../store/sends.ts';
import { type Audience, divide, paceOf, shownSampleOf, slicesOf } from './divide.ts';
import { requestHash } from './request-hash.ts';
import type { SendCall, SendDependencies, Sending } from './sending.ts';

/** The notification that a call asks for, divided into slices. */
export function newSending(
  deps: SendDependencies,
  project: SigningProject,
  call: SendCall,
): Sending {
  const sentAt = deps.clock();
  const deadlines = deadlinesOfRequest(call.startedAt.getTime());
  const notification = newNotification(deps, project, call, sentAt);
  return {
    ...{ call, notification, deadlines },
    slices: slicesOfNotification(deps, project.projectId, call, notification),
    project: new CurrentProject(deps.projects, deps.clock, project, sentAt.getTime()),
    signal: deps.abortAfter(Math.max(0, deadlines.endsAt - sentAt.getTime())),
  };
}

/** The same call, for the notification that an earlier request has begun. */
export function sendingOf(
  deps: SendDependencies,
  { notification: own, ...sending }: Sending,
  earlier: StoredNotification,
): Sending {
  const { projectId } = sending.slices[0]!;
  const notification = { ...own, ...earlier };
  const slices = slicesOfNotification(deps, projectId, sending.call, notification);
  return { ...sending, notification, slices };
}

function newNotification(
  deps: SendDependencies,
  { ref: project, plan }: SigningProject,
  { request, audience, sentBy, idempotencyKey, respondAsync }: SendCall,
  sentAt: Date,
): NewNotification {
  const conditions = conditionsOf(request);
  const content = contentOf(request);
  // Values that no placeholder uses may be anything, and have no meaning.
  const users = 'userIds' in audience ? audience : {};
  const pace = paceOf(audience, deps.pushesPerSecond, respondAsync);
  return {
    ...{ project, content, sentAt, sentBy },
    id: deps.newId(sentAt),
    division: {
      ...('userIds' in audience ? { users: audience.userIds.length } : audience),
      conditions,
      ...divide(audience, pace, respondAsync),
      shownSample: hasConditions(conditions) ? undefined : shownSampleOf(audience, plan),
      respondedAsync: respondAsync,
    },
    keyed:
      idempotencyKey === undefined
        ? undefined
        : {
            keyHash: keyHashOf(idempotencyKey),
            requestHash: requestHash(idempotencyKey, { ...content, ...conditions, ...users }),
          },
  };
}

/** SHA-256 of an `Idempotency-Key`, hex. */
export function keyHashOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('hex');
}

/** The slices of a notification, by the division that is stored with it. */
function slicesOfNotification(
  { pushesPerSecond }: SendDependencies,
  projectId: string,
  call: SendCall,
  { project, id, content, division, sentAt }: NewNotification,
): readonly Slice[] {
  const audience: Audience =
    'userIds' in call.audience ? call.audience : { subscribers: division.subscribers! };
  const { conditions, shownSample, respondedAsync } = division;
  const common = {
    ...{ projectId, project, content, conditions, shownSample },
    ...{ notificationId: id, requestId: call.requestId, sentAt: sentAt.getTime() },
    eventsUrl: eventsUrl(call, projectId, id),
    expiresAt: expiryOf(sentAt),
    awaitedSince: respondedAsync ? undefined : call.startedAt.getTime(),
  };
  return slicesOf(common, audience, division, paceOf(audience, pushesPerSecond, respondedAsync));
}

export function eventsUrl(
  { baseUrl }: SendCall,
  projectId: string,
  notificationId: string,
): string {
  return baseUrl + pathOf(routes.track, { projectId, notificationId });
}
