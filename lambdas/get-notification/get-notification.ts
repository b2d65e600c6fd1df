import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { isKept, notificationResult } from '../results/notification-result.ts';
import { tallyNumbers } from '../store/items.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { TallyStore } from '../store/tallies.ts';

export interface NotificationDependencies {
  readonly notifications: Pick<NotificationStore, 'find'>;
  readonly tallies: Pick<TallyStore, 'find'>;
  readonly clock: () => Date;
}

/**
 * A notification of the project, with the counts stored so far.
 * @param id undefined if the path has no valid one.
 */
export async function getNotification(
  { notifications, tallies, clock }: NotificationDependencies,
  { projectId }: Pick<Project, 'projectId'>,
  id: string | undefined,
  signal?: AbortSignal,
): Promise<NotificationResult> {
  const notification =
    id === undefined ? undefined : await notifications.find(projectId, id, signal);
  const now = clock();
  if (notification === undefined || !isKept(notification, now)) {
    throw new ServiceError(
      'notification_not_found',
      'This project has sent no notification with this id.',
    );
  }
  const { division } = notification;
  const found = await tallies.find(notification.id, tallyNumbers(division), signal);
  return notificationResult(notification, found, now);
}
