import { hasConditions } from '../../contract/wire/content.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import type { Project } from '../../contract/wire/project.ts';
import type { Access } from '../../contract/wire/routes.ts';
import type { Delivery, ReadDeliveries } from '../store/deliveries.ts';
import type { Division } from '../store/items.ts';
import type { NotificationStore, StoredNotification } from '../store/notifications.ts';
import { countReached, summaryOf } from './summary.ts';

export interface FindDependencies {
  readonly notifications: Pick<NotificationStore, 'find'>;
  readonly deliveries: ReadDeliveries;
  readonly clock: () => Date;
}

/** A notification with what is stored of its delivery. */
export type FoundNotification = Awaited<ReturnType<typeof findNotification>>;

/**
 * @param id undefined if the path has no valid one.
 * @throws {ServiceError} if the project has no such notification.
 */
export async function findNotification(
  { notifications, deliveries }: FindDependencies,
  { ref }: Pick<Project, 'ref'>,
  id: string | undefined,
  signal?: AbortSignal,
) {
  const notification = id === undefined ? undefined : await notifications.find(ref, id, signal);
  if (notification === undefined) {
    throw new ServiceError(
      'notification_not_found',
      'This project has no notification with this id.',
    );
  }
  const [delivery] = await deliveries([notification], signal);
  return { notification, delivery: delivery! };
}

/** A notification with the counts stored so far. */
export function notificationResult(
  notification: StoredNotification,
  { slices, shown, clicked }: Delivery,
  now: Date,
): NotificationResult {
  const { id, content, division, sentAt, sentBy, test } = notification;
  const { status, counts, reached } = summaryOf(notification, slices, now);
  const { attempted, delivered, removed, failed, failures, removals, unreached } = counts;
  const usersReached = reached.reduce((sum, bits) => sum + countReached(bits), 0);
  const { shownSample } = division;
  const isKnown = !isInProgress(status) && division.users !== undefined;
  return {
    id,
    ...content,
    audience: audienceOf(division),
    status,
    sentAt: sentAt.toISOString(),
    ...(sentBy === undefined ? {} : { sentBy }),
    ...(test && { test }),
    attempted,
    delivered,
    removed,
    failed,
    ...(unreached > 0 ? { unreached } : {}),
    ...(failed > 0 ? { failures } : {}),
    ...(removed > 0 ? { removals } : {}),
    ...(isKnown ? { usersReached } : {}),
    shown: content.events === false ? null : shown * (shownSample ?? 1),
    clicked: content.events === false ? null : clicked,
    ...(shownSample === undefined ? {} : { shownSample }),
  };
}

/**
 * What a role reads of a notification: a viewer not what a send to users opens or carries, which may be about one person. At
 * every depth: buttons and translations have URLs too.
 */
export function readableBy({ role }: Access, result: NotificationResult): NotificationResult {
  const isToUsers = result.audience !== 'everyone' && result.audience.users !== undefined;
  if (role !== 'viewer' || !isToUsers) return result;
  // A translation may be for the language `tag`: its value is no text.
  const isHidden = (name: string, value: unknown) =>
    name === 'data' || (['url', 'tag'].includes(name) && typeof value === 'string');
  return JSON.parse(
    JSON.stringify(result, (name, value) => (isHidden(name, value) ? undefined : value)),
  );
}

function audienceOf({ users, conditions }: Division): NotificationResult['audience'] {
  if (users === undefined && !hasConditions(conditions)) return 'everyone';
  return { users, ...conditions };
}
