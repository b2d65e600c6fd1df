import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { EventType } from '../../contract/schemas/event.ts';
import type { TallyStore } from '../store/tallies.ts';

/**
 * Counts an event of one of the project's notifications.
 * @param notificationId undefined if the path has no valid one.
 * @param tally undefined if the query has an invalid one.
 */
export async function track(
  tallies: Pick<TallyStore, 'count'>,
  { projectId }: Project,
  notificationId: string | undefined,
  tally: number | undefined,
  type: EventType,
  signal?: AbortSignal,
): Promise<void> {
  const isCounted =
    notificationId !== undefined &&
    tally !== undefined &&
    (await tallies.count(projectId, notificationId, tally, type, signal));
  if (isCounted) return;
  throw new ServiceError(
    'notification_not_found',
    'This project has sent no notification with this id.',
  );
}
