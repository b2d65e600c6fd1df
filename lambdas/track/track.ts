import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { EventType } from '../../contract/schemas.ts';
import type { EventStore } from '../store/events.ts';

/**
 * Counts an event of one of the project's notifications.
 * @param notificationId undefined if the path has no valid one.
 */
export async function track(
  events: EventStore,
  { projectId }: Project,
  notificationId: string | undefined,
  type: EventType,
): Promise<void> {
  const isCounted =
    notificationId !== undefined && (await events.count(projectId, notificationId, type));
  if (isCounted) return;
  throw new ServiceError(
    'notification_not_found',
    'This project has sent no notification with this id.',
  );
}
