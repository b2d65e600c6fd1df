import type { Project } from '../../contract/project.ts';
import {
  type FindDependencies,
  type FoundNotification,
  findNotification,
} from '../results/find-notification.ts';
import { firstTallies } from '../store/items.ts';
import { expiryOf } from '../store/send-writes.ts';
import type { TallyStore } from '../store/tallies.ts';

export interface StopDependencies extends FindDependencies {
  readonly tallies: Pick<TallyStore, 'find' | 'stop'>;
}

/**
 * Stops each share of a notification that has not ended, also an interrupted one: a repeated request could
 * still hand it over. A failure leaves some of them stopped, and a repetition stops the others.
 * @returns the notification as it is then.
 */
export async function stopNotification(
  deps: StopDependencies,
  { projectId }: Pick<Project, 'projectId'>,
  found: FoundNotification,
  signal?: AbortSignal,
): Promise<FoundNotification> {
  const { id: notificationId, division, sentAt } = found.notification;
  const open = firstTallies(division).filter(
    (number) => found.tallies[number]?.ended === undefined,
  );
  if (open.length === 0) return found;
  const now = deps.clock().getTime();
  const expiresAt = expiryOf(sentAt);
  // One write each, at the same time: a transaction would conflict with those of the functions.
  await Promise.all(
    open.map((firstTally) =>
      deps.tallies.stop({ projectId, notificationId, firstTally, expiresAt }, now, signal),
    ),
  );
  return findNotification(deps, { projectId }, notificationId, signal);
}
