import type { NotificationResult } from '../../contract/wire/notification.ts';
import type { Project } from '../../contract/wire/project.ts';
import {
  type FindDependencies,
  findNotification,
  notificationResult,
} from '../results/notification-result.ts';

/**
 * A notification of the project, with the counts stored so far.
 * @param id undefined if the path has no valid one.
 */
export async function getNotification(
  deps: FindDependencies,
  project: Pick<Project, 'ref'>,
  id: string | undefined,
  signal?: AbortSignal,
): Promise<NotificationResult> {
  const { notification, delivery } = await findNotification(deps, project, id, signal);
  return notificationResult(notification, delivery, deps.clock());
}
