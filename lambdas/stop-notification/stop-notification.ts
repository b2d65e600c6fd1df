import type { Project } from '../../contract/wire/project.ts';
import {
  type FindDependencies,
  type FoundNotification,
  findNotification,
} from '../results/notification-result.ts';
import type { SliceStore } from '../store/slices.ts';

export interface StopDependencies extends FindDependencies {
  readonly slices: Pick<SliceStore, 'stop'>;
  /** Records the stop; undefined if the caller does. */
  readonly record?: () => Promise<void>;
}

/**
 * Stops each slice of a notification that has not ended, also an interrupted one: a repeated request could
 * continue it. A failure leaves some of them stopped, and a repetition stops the others.
 * @returns the notification as it is then.
 */
export async function stopNotification(
  deps: StopDependencies,
  project: Pick<Project, 'ref'>,
  found: FoundNotification,
  signal?: AbortSignal,
): Promise<FoundNotification> {
  const { notification, delivery } = found;
  const { id: notificationId, expiresAt } = notification;
  const open = [...delivery.slices.entries()].filter(([, slice]) => slice?.ended === undefined);
  if (open.length === 0) return found;
  const now = deps.clock().getTime();
  // One write each, at the same time: a transaction would conflict with those of the functions.
  const stops = open.map(([slice]) =>
    deps.slices.stop({ notificationId, slice, expiresAt }, now, signal),
  );
  await Promise.allSettled(stops);
  // Whatever fails: some may be stopped.
  await deps.record?.();
  await Promise.all(stops);
  return findNotification(deps, project, notificationId, signal);
}
