import type { Slice } from '../../contract/slice.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import type { Pusher, StartPushing } from '../push/pushing/pusher.ts';
import { ReachedUsers } from '../results/outcome.ts';
import type { AudienceStore } from '../store/audience.ts';
import { type EventCounterStore, eventCounter } from '../store/event-counters.ts';
import type { EventCounterItem, SliceEnd } from '../store/items.ts';
import { partOf } from '../store/subscription-keys.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';
import { type Chunk, messagesOf, readChunk } from './chunk.ts';
import type { CurrentProject } from './current-project.ts';
import type { Deadlines } from './deadlines.ts';
import { Lease, type LeaseDependencies } from './lease.ts';
import type { Observer } from './observer.ts';

export interface SliceDependencies extends LeaseDependencies {
  readonly audiences: Pick<AudienceStore, 'everyone' | 'users' | 'isOf'>;
  readonly subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'correctPair'>;
  readonly eventCounters: Pick<EventCounterStore, 'open'>;
  readonly startPushing: StartPushing;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** A signal that aborts after this many ms, 0 at least. */
  readonly abortAfter: (ms: number) => AbortSignal;
  readonly observe: Observer;
}

export type SliceWork = ReturnType<typeof workOn>;

/** An invocation's work on one slice. @param by unique to the invocation. */
export function workOn(deps: LeaseDependencies, slice: Slice, by: string, deadlines: Deadlines) {
  /** Which of the slice's users a push was delivered to; undefined in a broadcast. */
  const reached = slice.userIds && new ReachedUsers(slice.userIds.length);
  const lease = new Lease(deps, slice, by, deadlines.endsAt, reached);
  return { slice, lease, reached, deadlines };
}

/** How an invocation leaves a slice. Without an end, another invocation has it or continues it. */
export interface LeftSlice {
  readonly hasEnded: boolean;
  /** Why it was left early, if a call failed. */
  readonly error?: unknown;
}

/**
 * Delivers a slice: reads its recipients chunk by chunk, claims each chunk, and pushes to it. While pushes continue,
 * it extends the lease, and looks whether the project still exists.
 * @param first a chunk that is claimed already.
 */
export async function deliverSlice(
  deps: SliceDependencies,
  project: CurrentProject,
  work: SliceWork,
  first?: Chunk,
): Promise<LeftSlice> {
  const { lease, deadlines } = work;
  const now = () => deps.clock().getTime();
  const pushed = new AbortController();
  const mayContinue = () => (lease.status === 'free' || lease.status === 'mine') && !project.isGone;
  let pusher: Pusher | undefined;
  let error: unknown;
  try {
    let chunk = first;
    while (mayContinue() && !(lease.isRead && chunk === undefined)) {
      if (chunk === undefined && now() >= deadlines.lastChunkAt) break;
      chunk ??= await claimNext(deps, project, work);
      if (chunk === undefined) break;
      pusher ??= start();
      pusher.add(chunk.recipients, project.vapid, chunk.readAt);
      chunk = undefined;
      if (!lease.isRead && !(await pusher.wantsMore())) break;
    }
  } catch (caught) {
    error = caught;
  }
  if (!mayContinue()) pusher?.stop();
  await pusher?.end();
  pushed.abort();
  return leave(deps, project, work, error);

  function start(): Pusher {
    const started = deps.startPushing(pushing(deps, project, work));
    lease.soFar = () => started.soFar();
    void watch(started).catch(() => {});
    return started;
  }

  /** Until all is pushed. What fails is repeated the next time; meanwhile pushes pause. */
  async function watch(started: Pusher): Promise<void> {
    const { saveEveryMs } = sliceTimeline;
    const age = now() - Math.min(lease.knownAt, project.knownAt);
    for (let waitMs = Math.max(0, saveEveryMs - age); ; waitMs = saveEveryMs) {
      await deps.sleep(waitMs, pushed.signal);
      const msLeft = Math.max(0, deadlines.pushEndAt - now());
      // The last write must not wait for one that has no response.
      const signal = AbortSignal.any([deps.abortAfter(msLeft), pushed.signal]);
      await Promise.allSettled([lease.save(signal), project.refresh()]);
      if (!mayContinue()) started.stop();
    }
  }
}

/** @returns undefined if nobody may be pushed to. */
async function claimNext(
  deps: SliceDependencies,
  project: CurrentProject,
  { slice, lease, deadlines }: SliceWork,
): Promise<Chunk | undefined> {
  const msLeft = deadlines.pushEndAt - deps.clock().getTime();
  const signal = deps.abortAfter(Math.max(0, Math.min(msLeft, sliceTimeline.leaseMs)));
  const [chunk] = await Promise.all([
    nextChunk(deps, project, slice, lease.position, signal),
    // Before the claim: a failure after it would leave a chunk that was not pushed as pending.
    lease.status === 'free' ? openCounters(deps, slice, signal) : undefined,
  ]);
  if (project.isGone) return undefined;
  return (await lease.claim(chunk, signal)) === 'mine' ? chunk : undefined;
}

/** Also reads the project again, if a recipient has subscribed with a newer key pair. */
export async function nextChunk(
  { audiences, clock }: SliceDependencies,
  project: CurrentProject,
  slice: Slice,
  position: number,
  signal: AbortSignal,
): Promise<Chunk> {
  const chunk = await readChunk(audiences, slice, position, clock, signal);
  const newest = project.vapid.current.number;
  const isNewer = chunk.recipients.some(({ vapidPairNumber = 0 }) => vapidPairNumber > newest);
  if (isNewer) await project.refresh();
  return chunk;
}

/** The event counters of a slice, which must exist before its first push. */
export function countersOf(slice: Slice): readonly EventCounterItem[] {
  const { project, notificationId, firstCounter, counters, expiresAt } = slice;
  return Array.from({ length: counters }, (_, index) =>
    eventCounter(project, notificationId, firstCounter + index, expiresAt),
  );
}

async function openCounters(
  { eventCounters }: SliceDependencies,
  slice: Slice,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(countersOf(slice).map((counter) => eventCounters.open(counter, signal)));
}

function pushing(
  { audiences, subscriptions, observe }: SliceDependencies,
  current: CurrentProject,
  { slice, lease, reached, deadlines }: SliceWork,
): Parameters<StartPushing>[0] {
  const { project, userIds, content: options, pushesPerSecond, awaitedSince } = slice;
  return {
    messages: messagesOf(slice, current.oldWorker),
    options,
    times: {
      lastPushAt: deadlines.lastPushAt,
      endAt: deadlines.pushEndAt,
      get pausesAt() {
        return Math.min(lease.knownAt, current.knownAt) + sliceTimeline.knownForMs;
      },
    },
    isAwaited: awaitedSince !== undefined,
    pushesPerSecond,
    isStillWanted:
      userIds &&
      (({ user, endpointHash }, signal) =>
        audiences.isOf(project, userIds[user!]!, endpointHash, signal)),
    // Transactions on the same part of the counter conflict.
    group: ({ endpointHash }) => partOf(endpointHash),
    remove: async (gone, end) => {
      const hashes = gone.map(({ endpointHash }) => endpointHash);
      await subscriptions.removeBatch(project, hashes, end);
    },
    correctPair: ({ endpointHash }, number, end) =>
      subscriptions.correctPair(project, endpointHash, number, end),
    onDelivered: reached && (({ user }) => reached.add(user!)),
    onFailures: (pushService, failures) => observe.failed(slice, pushService, failures),
  };
}

async function leave(
  deps: SliceDependencies,
  project: CurrentProject,
  work: SliceWork,
  error: unknown,
): Promise<LeftSlice> {
  const { slice, lease } = work;
  const isAwaited = slice.awaitedSince !== undefined;
  const isOver = lease.isRead || lease.status === 'stopped' || project.isGone || isAwaited;
  const failure = lease.mayBeMine
    ? await storeEnd(deps, work, isOver ? 'delivered' : undefined)
    : undefined;
  if (lease.status === 'lost') return { hasEnded: false, error };
  // Lambda's next attempt continues, or stores the end.
  if (!isOver || (failure !== undefined && !isAwaited)) {
    return { hasEnded: false, error: error ?? failure };
  }
  const { counts, isRead, status } = lease;
  deps.observe.delivered(slice, { counts, isRead, isStopped: status === 'stopped', error });
  return { hasEnded: true, error };
}

/** Repeats the last write as long as there is time: without it the slice counts as interrupted. */
async function storeEnd(
  { clock, abortAfter, sleep, observe }: SliceDependencies,
  { slice, lease, deadlines }: SliceWork,
  ended: SliceEnd | undefined,
): Promise<unknown> {
  for (;;) {
    const msLeft = deadlines.endsAt - clock().getTime();
    try {
      await lease.end(ended, abortAfter(Math.max(0, msLeft)));
      return undefined;
    } catch (error) {
      if (clock().getTime() + againMs >= deadlines.endsAt) {
        observe.recordFailed(slice, error);
        return error;
      }
    }
    await sleep(againMs);
  }
}

/** Ms between two tries of the last write. */
const againMs = 500;
