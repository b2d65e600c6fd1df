import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import { tallyNumbers } from '../store/items.ts';
import type { NotificationStore, StoredNotification } from '../store/notifications.ts';
import type { Tally, TallyStore } from '../store/tallies.ts';
import { isKept } from './notification-result.ts';

export interface FindDependencies {
  readonly notifications: Pick<NotificationStore, 'find'>;
  readonly tallies: Pick<TallyStore, 'find'>;
  readonly clock: () => Date;
}

/** A notification with all of its tallies. */
export interface FoundNotification {
  readonly notification: StoredNotification;
  readonly tallies: readonly (Tally | undefined)[];
}

/**
 * @param id undefined if the path has no valid one.
 * @throws {ServiceError} if the project has no such notification.
 */
export async function findNotification(
  { notifications, tallies, clock }: FindDependencies,
  { projectId }: Pick<Project, 'projectId'>,
  id: string | undefined,
  signal?: AbortSignal,
): Promise<FoundNotification> {
  const notification =
    id === undefined ? undefined : await notifications.find(projectId, id, signal);
  if (notification === undefined || !isKept(notification, clock())) {
    throw new ServiceError(
      'notification_not_found',
      'This project has sent no notification with this id.',
    );
  }
  const numbers = tallyNumbers(notification.division);
  return { notification, tallies: await tallies.find(notification.id, numbers, signal) };
}
