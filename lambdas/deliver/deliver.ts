import type { SigningProject } from '../../contract/project.ts';
import type { Slice } from '../../contract/slice.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { SliceStore, StoredSlice } from '../store/slices.ts';
import { CurrentProject } from './current-project.ts';
import { deadlinesOfFunction } from './deadlines.ts';
import { deliverSlice, type SliceDependencies, type SliceWork, workOn } from './deliver-slice.ts';

export interface DeliverDependencies extends SliceDependencies {
  readonly slices: Pick<SliceStore, 'write' | 'find'>;
  readonly projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
}

/**
 * Delivers one slice, unless its project was deleted meanwhile. To return consumes the event: it does so only if the
 * slice has ended, or its caller does not wait any more.
 * @param by unique to the invocation.
 * @param endsAt epoch ms by which it returns.
 * @throws if the slice is to be continued: Lambda repeats the invocation.
 */
export async function deliver(
  deps: DeliverDependencies,
  slice: Slice,
  by: string,
  endsAt: number,
): Promise<void> {
  const { projects, clock } = deps;
  const readAt = clock().getTime();
  // Not from memory: an event may wait in Lambda's queue for an hour.
  const found = await projects.refresh(slice.projectId);
  if (found?.ref !== slice.project) return;
  const project = new CurrentProject(projects, clock, found, readAt);
  const work = workOn(deps, slice, by, deadlinesOfFunction(slice, endsAt));
  for (;;) {
    const { hasEnded, error } = await deliverSlice(deps, project, work);
    if (hasEnded) return;
    if (work.lease.status !== 'lost') {
      throw error ?? new Error('The time is over; the next attempt continues the slice.');
    }
    if (slice.awaitedSince !== undefined || (await endsElsewhere(deps, work))) return;
  }
}

/**
 * Waits until another invocation has ended the slice, or its lease has run out.
 * @returns whether it has ended. Otherwise this invocation has taken it over.
 * @throws if that takes too long: if the other invocation dies, this one is needed.
 */
async function endsElsewhere(
  { slices, clock, sleep }: DeliverDependencies,
  { slice, lease, deadlines }: SliceWork,
): Promise<boolean> {
  let other: StoredSlice | undefined = lease.other;
  while (other?.lease !== undefined && other.ended === undefined) {
    // Nobody may claim it any more.
    if (other.stoppedAt !== undefined) return true;
    const { by, n, until } = other.lease;
    const overAt = until + sliceTimeline.clockDifferenceMs;
    if (overAt > deadlines.endsAt) {
      throw new Error('Another invocation has the slice. Lambda repeats this one.');
    }
    await sleep(Math.max(0, overAt - clock().getTime()));
    const [now]: readonly (StoredSlice | undefined)[] = await slices.find(slice.notificationId, [
      slice.slice,
    ]);
    if (now?.ended === undefined && now?.lease?.by === by && now.lease.n === n) {
      lease.takeOver(now);
      return false;
    }
    other = now;
  }
  return true;
}
