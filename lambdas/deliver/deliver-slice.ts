import { sliceSizes, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { limits } from '../../contract/wire/limits.ts';
import {
  eventCounterUrl,
  type OldWorkerName,
  pushMessage,
  withOldWorker,
} from '../../contract/wire/message.ts';
import type { NotificationContent } from '../../contract/wire/notification.ts';
import { personalContent } from '../../contract/wire/placeholders.ts';
import type { SigningProject } from '../../contract/wire/project.ts';
import type { Message } from '../push/pushing/push.ts';
import type { Pusher, StartPushing } from '../push/pushing/pusher.ts';
import type { AudienceStore } from '../store/audience.ts';
import { partOf } from '../store/items.ts';
import { type EventCounterStore, eventCounter } from '../store/notifications.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { StoredSlice } from '../store/slices.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';
import { type Deadlines, type Timers, whileTimeIsLeft } from './deadlines.ts';
import type { Chunk, Lease, LeaseDependencies } from './lease.ts';
import type { Observer } from './observer.ts';

export interface SliceDependencies extends LeaseDependencies, Timers {
  readonly audiences: Pick<AudienceStore, 'everyone' | 'users' | 'isOf'>;
  readonly subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'correctPair'>;
  readonly eventCounters: Pick<EventCounterStore, 'open'>;
  readonly startPushing: StartPushing;
  readonly observe: Observer;
}

/** An invocation's work on one slice. */
export interface SliceWork {
  readonly slice: Slice;
  readonly lease: Lease;
  readonly deadlines: Deadlines;
}

/** How an invocation leaves a slice. */
export interface LeftSlice {
  /** Without an end, another invocation has it, or may continue it. */
  readonly hasEnded: boolean;
  /** The slice as this invocation knows it, also if that could not be stored; undefined if nobody has had it. */
  readonly state: StoredSlice | undefined;
  /** Why it was left early, if a call failed. */
  readonly error?: unknown;
}

/**
 * Delivers a slice: reads its recipients chunk by chunk, claims each chunk, and pushes to it. While pushes continue,
 * it extends the lease, and looks whether the project still exists.
 * @param reading the first chunk, if that is being read already.
 */
export async function deliverSlice(
  deps: SliceDependencies,
  project: CurrentProject,
  work: SliceWork,
  reading?: Promise<Chunk>,
): Promise<LeftSlice> {
  const { lease, deadlines } = work;
  const now = () => deps.clock().getTime();
  const pushed = new AbortController();
  const mayContinue = () => (lease.status === 'free' || lease.status === 'mine') && !project.isGone;
  let pusher: Pusher | undefined;
  let error: unknown;
  try {
    let first = reading;
    while (mayContinue() && !lease.isRead && now() < deadlines.lastChunkAt) {
      const chunk = await claimNext(deps, project, work, first);
      first = undefined;
      if (chunk === undefined) break;
      pusher ??= start();
      pusher.add(chunk.recipients, project.vapid, chunk.readAt);
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
    lease.settled = () => started.soFar();
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
      await Promise.allSettled([lease.save(signal), project.refresh(signal)]);
      if (!mayContinue()) started.stop();
    }
  }
}

/** @returns undefined if nobody may be pushed to. */
async function claimNext(
  deps: SliceDependencies,
  project: CurrentProject,
  { slice, lease, deadlines }: SliceWork,
  reading?: Promise<Chunk>,
): Promise<Chunk | undefined> {
  const retried = <Result>(call: (signal: AbortSignal) => Promise<Result>) =>
    whileTimeIsLeft(deps, deadlines.lastChunkAt, call);
  let first = reading;
  const chunk = await retried((signal) => {
    const read = first ?? readChunk(deps, slice, lease.position, signal);
    first = undefined;
    return read;
  });
  const newest = project.vapid.current.number;
  const isNewer = chunk.recipients.some(({ vapidPairNumber = 0 }) => vapidPairNumber > newest);
  if (isNewer) await retried((signal) => project.refresh(signal));
  if (project.isGone) return undefined;
  // They must exist before the first push.
  const counters = lease.status === 'free' ? countersOf(slice) : [];
  let isClaimed = false;
  await retried(async (signal) => {
    const calls = [
      // If a counter cannot be opened, the lease is extended until it can.
      isClaimed ? lease.save(signal) : lease.claim(chunk, signal),
      ...counters.map((counter) => deps.eventCounters.open(counter, signal)),
    ];
    const [claim, ...opened] = await Promise.allSettled(calls);
    if (claim!.status === 'fulfilled') isClaimed = true;
    const failure = [claim, ...opened].find((call) => call!.status === 'rejected');
    if (failure && lease.status !== 'lost') throw (failure as PromiseRejectedResult).reason;
  });
  return lease.status === 'mine' ? chunk : undefined;
}

/** Reads the chunk that starts at a position: as many positions as fit in memory. */
export async function readChunk(
  { audiences, clock }: Pick<SliceDependencies, 'audiences' | 'clock'>,
  slice: Slice,
  from: number,
  signal: AbortSignal,
): Promise<Chunk> {
  const { project, userIds, consistent, conditions, sentAt, step } = slice;
  const readAt = clock().getTime();
  const range = { from, to: Math.min(from + step, slice.to) };
  const options = { limit: sliceSizes.recipients, consistent, conditions, sentAt, signal };
  const { recipients, to, unread } = userIds
    ? await audiences.users(project, userIds, range, options)
    : await audiences.everyone(project, range, options);
  return { recipients, readAt, position: to, isRead: to >= slice.to, unread };
}

function countersOf({ project, notificationId, firstCounter, counters, expiresAt }: Slice) {
  return Array.from({ length: counters }, (_, index) =>
    eventCounter(project, notificationId, firstCounter + index, expiresAt),
  );
}

function pushing(
  { audiences, subscriptions, observe }: SliceDependencies,
  current: CurrentProject,
  { slice, lease, deadlines }: SliceWork,
): Parameters<StartPushing>[0] {
  const { project, userIds, content: options, pushesPerSecond, awaitedSince } = slice;
  const { reached } = lease;
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
    onEnd: (outcomes) => observe.pushed(slice, outcomes),
  };
}

/**
 * One message for each of the slice's event counters; of personal ones, one for each recipient.
 * @param oldWorker that imported subscriptions may still have. They get the message of the others if theirs would be too large.
 */
function messagesOf(slice: Slice, oldWorker: OldWorkerName | undefined): readonly Message[] {
  const { notificationId: id, content, eventsUrl, eventWindowSeconds, shownSample } = slice;
  return Array.from({ length: slice.counters }, (_, index) => {
    const url = eventCounterUrl(eventsUrl, slice.firstCounter + index);
    const serialised = (
      content: NotificationContent,
      worker: OldWorkerName | undefined,
      reportsShown = true,
    ): Buffer => {
      const message = pushMessage(id, content, url, eventWindowSeconds, reportsShown);
      const bytes = Buffer.from(JSON.stringify(worker ? withOldWorker(worker, message) : message));
      const isTooLarge = worker !== undefined && bytes.length > limits.messageBytes;
      return isTooLarge ? serialised(content, undefined, reportsShown) : bytes;
    };
    if (slice.values !== undefined || slice.appBadges !== undefined) {
      return ({ user, imported }) =>
        serialised(personalContent(content, slice, user!), imported && oldWorker);
    }
    const variants = (reportsShown: boolean) => ({
      own: serialised(content, undefined, reportsShown),
      withOld: serialised(content, oldWorker, reportsShown),
    });
    const reporting = variants(true);
    if (oldWorker === undefined && shownSample === undefined) return reporting.own;
    const others = variants(false);
    return ({ endpointHash, imported }) => {
      const reports = shownSample === undefined || isInSample(endpointHash, id, shownSample);
      const { own, withOld } = reports ? reporting : others;
      return imported ? withOld : own;
    };
  });
}

/**
 * Whether a browser is one of those that report `shown`. Its hash decides, by other bits than its position: so slices and
 * push services have their parts of the sample, and a repetition decides the same. Each notification has another sample.
 */
function isInSample(endpointHash: Uint8Array, notificationId: string, shownSample: number) {
  const { buffer, byteOffset, byteLength } = endpointHash;
  const lastBits = new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4);
  // The last bits of a UUID of version 7 are random.
  return lastBits % shownSample === Number.parseInt(notificationId.slice(-8), 16) % shownSample;
}

/** Stores the end of a slice, or for whoever continues it that nobody works on it now. */
async function leave(
  deps: SliceDependencies,
  project: CurrentProject,
  { slice, lease, deadlines }: SliceWork,
  error: unknown,
): Promise<LeftSlice> {
  const { attempted, unreached } = lease.settled();
  const isOutOfTime = project.isGone || deps.clock().getTime() >= deadlines.lastPushAt;
  const isStopped = lease.status === 'stopped';
  // Nobody of whom it has claimed was pushed to: whoever continues it starts where this one did.
  const isUntouched = attempted === 0 && lease.hasClaimed && (isOutOfTime || unreached === 0);
  const isFinal = attempted > 0 && (slice.awaitedSince !== undefined || project.isGone);
  const ended = isStopped || (!isUntouched && (lease.isRead || isFinal)) ? 'delivered' : undefined;
  let failure: unknown;
  if (lease.status !== 'lost' && (ended || lease.mayBeStored)) {
    failure = await whileTimeIsLeft(deps, deadlines.endsAt, (signal) =>
      isUntouched && !isStopped ? lease.giveBack(signal) : lease.end(ended, signal),
    ).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if (failure !== undefined) deps.observe.recordFailed(slice, failure);
  }
  if (lease.status === 'lost') return { hasEnded: false, state: lease.other, error };
  const state = lease.stateWith(ended);
  // Lambda's next attempt stores it.
  const isLate = failure !== undefined && slice.awaitedSince === undefined;
  if (ended === undefined || isLate) return { hasEnded: false, state, error: error ?? failure };
  const { counts, isRead } = state!;
  deps.observe.delivered(slice, { counts, isRead, isStopped, error });
  return { hasEnded: true, state, error };
}

/** The project of a delivery, as it was read last. */
export class CurrentProject {
  /** Whether it was deleted meanwhile. Another one may have its id. */
  isGone = false;
  /** Start of the last read that found it: epoch ms. */
  knownAt: number;
  readonly #projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
  readonly #clock: () => Date;
  #project: SigningProject;

  /** @param knownAt epoch ms at which it existed. */
  constructor(
    projects: Pick<ProjectStore<SigningProject>, 'refresh'>,
    clock: () => Date,
    project: SigningProject,
    knownAt: number,
  ) {
    this.#projects = projects;
    this.#clock = clock;
    this.#project = project;
    this.knownAt = knownAt;
  }

  get vapid(): SigningProject['vapid'] {
    return this.#project.vapid;
  }

  /** The service worker that imported subscriptions may still have. */
  get oldWorker(): OldWorkerName | undefined {
    const { oldWorker } = this.#project.settings;
    return oldWorker && this.#clock() < new Date(oldWorker.until) ? oldWorker.name : undefined;
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const startedAt = this.#clock().getTime();
    const { projectId, ref } = this.#project;
    const found = await this.#projects.refresh(projectId, signal);
    if (found?.ref !== ref) {
      this.isGone = true;
      return;
    }
    this.#project = found;
    this.knownAt = startedAt;
  }
}
