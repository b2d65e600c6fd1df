import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { ReadDeliveries } from '../store/deliveries.ts';
import type { NotificationStore } from '../store/notifications.ts';
import { isKept } from './notification-result.ts';

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
  { notifications, deliveries, clock }: FindDependencies,
  { ref }: Pick<Project, 'ref'>,
  id: string | undefined,
  signal?: AbortSignal,
) {
  const notification = id === undefined ? undefined : await notifications.find(ref, id, signal);
  if (notification === undefined || !isKept(notification, clock())) {
    throw new ServiceError(
      'notification_not_found',
      'This project has sent no notification with this id.',
    );
  }
  const [delivery] = await deliveries([notification], signal);
  return { notification, delivery: delivery! };
}
