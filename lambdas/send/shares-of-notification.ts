import type { Share } from '../../contract/share.ts';
import { sendTimeline } from '../../contract/timeline.ts';
import { seenSince } from '../store/audience.ts';
import { expiryOf, type NewNotification } from '../store/send-writes.ts';
import { type Audience, paceOf, sharesOf } from './divide.ts';
import { eventsUrl, type SendDependencies, type Sending } from './sending.ts';

/** The shares of a notification, by the division that is stored with it. */
export function sharesOfNotification(
  { pushesPerSecond }: SendDependencies,
  sending: Sending,
  { id, content, division, sentAt }: NewNotification,
): readonly Share[] {
  const { project, requestId } = sending;
  const audience: Audience =
    'userIds' in sending.audience ? sending.audience : { subscribers: division.subscribers! };
  const { channels, seenWithinDays } = division;
  return sharesOf(
    {
      ...{ projectId: project.projectId, projectCreatedAt: project.createdAt },
      ...{ notificationId: id, content, requestId },
      eventsUrl: eventsUrl(sending, id),
      channels,
      seenSince: seenWithinDays && seenSince(sentAt, seenWithinDays),
      expiresAt: expiryOf(sentAt),
      deadline: division.respondedAsync ? undefined : deadlineOf(sending),
    },
    audience,
    division,
    paceOf(audience, pushesPerSecond, division.respondedAsync),
  );
}

/** The deadline of the shares that the request waits for. */
export function deadlineOf({ startedAt }: Sending): NonNullable<Share['deadline']> {
  return {
    lastPushAt: startedAt.getTime() + sendTimeline.lastPushMs,
    endAt: startedAt.getTime() + sendTimeline.pushEndMs,
  };
}
