import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { EventType } from '../../contract/schemas/event.ts';
import type { EventCounterStore } from '../store/event-counters.ts';

/**
 * Counts an event of one of the project's notifications.
 * @param notificationId undefined if the path has no valid one.
 * @param counter number of the event counter; undefined if the query has an invalid one.
 */
export async function track(
  counters: Pick<EventCounterStore, 'count'>,
  { ref }: Pick<Project, 'ref'>,
  notificationId: string | undefined,
  counter: number | undefined,
  type: EventType,
  signal?: AbortSignal,
): Promise<void> {
  const isCounted =
    notificationId !== undefined &&
    counter !== undefined &&
    (await counters.count(ref, notificationId, counter, type, signal));
  if (isCounted) return;
  throw new ServiceError(
    'notification_not_found',
    'This project has sent no notification with this id.',
  );
}
