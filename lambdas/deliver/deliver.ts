import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { SigningProject } from '../../contract/wire/project.ts';
import { freeAt } from '../results/summary.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { SliceStore } from '../store/slices.ts';
import { deadlinesOfFunction, whileTimeIsLeft } from './deadlines.ts';
import { CurrentProject, SliceDelivery, type SliceDependencies } from './deliver-slice.ts';

export interface DeliverDependencies extends SliceDependencies {
  readonly slices: Pick<SliceStore, 'write' | 'find'>;
  readonly projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
}

/**
 * Delivers one slice, unless its project was deleted meanwhile. When it returns, Lambda drops the event. So it returns only if the
 * slice has ended, or if its request sees to it.
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
  const { projects, slices, clock, sleep } = deps;
  const deadlines = deadlinesOfFunction(slice, endsAt);
  const isAwaited = slice.awaitedSince !== undefined;
  // Later, nothing of it would be pushed.
  if (isAwaited && clock().getTime() >= deadlines.lastPushAt) return;
  const retried = <Result>(call: (signal: AbortSignal) => Promise<Result>) =>
    whileTimeIsLeft(deps, deadlines.endsAt, call);
  const readState = async (signal: AbortSignal) =>
    (await slices.find(slice.notificationId, [slice.slice], signal))[0];
  // Not from memory: an event may wait in Lambda's queue for an hour.
  const [readAt, found, before] = await retried((signal) =>
    Promise.all([clock().getTime(), projects.refresh(slice.projectId, signal), readState(signal)]),
  );
  if (found?.ref !== slice.project) return;
  const project = new CurrentProject(projects, clock, found, readAt);
  let state = before;
  // Nobody claims a stopped slice.
  for (let n = 1; state?.ended === undefined && state?.stoppedAt === undefined; n += 1) {
    const now = clock().getTime();
    const heldForMs = freeAt(state) - now;
    if (heldForMs >= 0) {
      // The request sees to a slice that its caller waits for.
      if (isAwaited) return;
      await sleep(Math.min(heldForMs + 1, Math.max(0, deadlines.endsAt - now)));
      if (clock().getTime() >= deadlines.endsAt) {
        throw new Error('Another invocation has the slice. Lambda repeats this one.');
      }
      state = await retried(readState);
      continue;
    }
    const work = { slice, state, by: `${by}/${n}`, deadlines };
    const left = await new SliceDelivery(deps, project, work).run();
    state = left.state;
    if (left.status === 'lost') continue;
    if (state?.ended !== undefined || project.isGone) return;
    if (isAwaited && left.error === undefined) return;
    throw left.error ?? new Error('The time is over; the next attempt continues the slice.');
  }
}
