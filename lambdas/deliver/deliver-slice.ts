import { sliceSizes, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Recipient, Slice } from '../../contract/infrastructure/slice.ts';
import { hasConditions } from '../../contract/wire/content.ts';
import { type InLanguage, languagesOf, remembered } from '../../contract/wire/languages.ts';
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
import type { Pusher, StartPushing, Untaken } from '../push/pushing/pusher.ts';
import type { AudienceStore, Range } from '../store/audience.ts';
import { type EventCounterStore, eventCounter } from '../store/notifications.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { StoredSlice } from '../store/slices.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';
import { type Deadlines, type Timers, whileTimeIsLeft, withinTime } from './deadlines.ts';
import { type Chunk, Lease, type LeaseDependencies, type LeaseStatus } from './lease.ts';
import type { Observer } from './observer.ts';
import { byKey } from './progress.ts';

export interface SliceDependencies extends LeaseDependencies, Timers {
  readonly audiences: Pick<AudienceStore, 'everyone' | 'users' | 'isOf'>;
  readonly subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'mark' | 'correctPair'>;
  readonly eventCounters: Pick<EventCounterStore, 'create'>;
  readonly startPushing: StartPushing;
  readonly observe: Observer;
}

/** An invocation's work on one slice. */
export interface SliceWork {
  readonly slice: Slice;
  /** The slice as it is stored; undefined if nobody has had it. */
  readonly state: StoredSlice | undefined;
  /** The id of the lease: unique. */
  readonly by: string;
  readonly deadlines: Deadlines;
}

/** How an invocation leaves a slice. */
export interface LeftSlice {
  readonly status: LeaseStatus;
  /** The slice as it is stored, as far as this invocation knows; undefined if nobody has had it. */
  readonly state: StoredSlice | undefined;
  /** Why it was left early, if a call failed. */
  readonly error?: unknown;
}

/** Milliseconds after a failed write before the next try. */
const repeatedAfterMs = 500;

/**
 * Delivers a slice: reads a chunk of recipients, claims it, and pushes to it, until all are read. Meanwhile it extends
 * the lease, and checks that the project still exists.
 */
export class SliceDelivery {
  readonly #deps: SliceDependencies;
  readonly #project: CurrentProject;
  readonly #slice: Slice;
  readonly #deadlines: Deadlines;
  readonly #lease: Lease;
  /** Whether no other invocation of Lambda continues the slice. */
  readonly #isLast: boolean;
  /** The first chunk, if that is being read already. */
  #reading: Promise<Chunk> | undefined;
  /** The call that creates the event counters, and whether they exist. */
  #creating: Promise<void> | undefined;
  #areCreated = false;

  constructor(deps: SliceDependencies, project: CurrentProject, work: SliceWork) {
    const { slice, state, by, deadlines } = work;
    this.#deps = deps;
    this.#project = project;
    this.#slice = slice;
    this.#deadlines = deadlines;
    this.#lease = new Lease(deps, { slice, by, endsAt: deadlines.endsAt }, state);
    const { attempts, lastAttemptAfterMs, timeoutMs, lastWritesMs } = sliceTimeline;
    const begunAt = deadlines.endsAt - timeoutMs + lastWritesMs;
    this.#isLast = this.#lease.attempts >= attempts || begunAt >= slice.sentAt + lastAttemptAfterMs;
  }

  /** @param reading the first chunk, if that is being read already. */
  async run(reading?: Promise<Chunk>): Promise<LeftSlice> {
    this.#reading = reading;
    let error: unknown;
    try {
      await this.#pushAll();
    } catch (caught) {
      error = caught;
    }
    const { pusher } = this.#lease;
    if (!this.#mayContinue) pusher?.stop();
    const ending = pusher?.end();
    if (ending) await this.#keeping(ending);
    const isAwaited = this.#slice.awaitedSince !== undefined;
    const isOver = this.#project.isGone || (isAwaited && this.#now() >= this.#deadlines.lastPushAt);
    // If nobody was attempted, the slice stays open, so that the send can be undone.
    const isFinal = (isOver && this.#lease.hasAttempted) || (!isAwaited && this.#isLast);
    return this.#leave(isFinal, await ending, error);
  }

  /** Ends a slice that nobody has: its remaining recipients are unreached. */
  end(): Promise<LeftSlice> {
    return this.#leave(true);
  }

  async #pushAll(): Promise<void> {
    const { lastChunkAt } = this.#deadlines;
    for (let range = this.#lease.next; range; range = this.#lease.next) {
      if (!this.#mayContinue || this.#now() >= lastChunkAt) return;
      const reading = this.#read(range);
      await this.#keeping(reading);
      const pusher = await this.#claim(await reading);
      // If few pushes wait when a write is due, the next claim takes its place.
      if (pusher) await this.#keeping(pusher.wantsMore(), () => pusher.hasRoom);
    }
  }

  async #read(range: Range): Promise<Chunk> {
    const { lastChunkAt } = this.#deadlines;
    const read = (signal: AbortSignal) => {
      const chunk = this.#reading ?? readChunk(this.#deps, this.#slice, range, signal);
      this.#reading = undefined;
      return chunk;
    };
    // No limit for a whole chunk: each of its pages has one, and a slow chunk must not begin again.
    const tryMs = Number.POSITIVE_INFINITY;
    const chunk = await whileTimeIsLeft(this.#deps, lastChunkAt, read, { tryMs });
    const newest = this.#project.vapid.current.number;
    const isNewer = chunk.recipients.some(({ vapidPairNumber = 0 }) => vapidPairNumber > newest);
    if (isNewer) await this.#retried((signal) => this.#project.refresh(signal));
    return { ...chunk, recipients: this.#lease.unclaimed(chunk) };
  }

  /** Has a chunk pushed. @returns undefined if it is not claimed. */
  async #claim(chunk: Chunk): Promise<Pusher | undefined> {
    const lease = this.#lease;
    if (!this.#mayContinue) return undefined;
    // The claim replaces the write that was due; the project is still read.
    if (lease.status === 'mine') void this.#refresh();
    this.#creating ??= this.#createCounters();
    this.#creating.catch(() => {});
    await this.#retried((signal) => lease.claim(chunk, signal));
    if (lease.status !== 'mine') return undefined;
    lease.pusher ??= this.#deps.startPushing(this.#pushing());
    const { pusher } = lease;
    await this.#keeping(this.#creating, () => !this.#mayContinue);
    const mayPush = this.#areCreated && this.#mayContinue;
    // If not, nobody in the chunk is pushed to, and the leave gives the chunk back.
    if (!mayPush) pusher.stop();
    pusher.add(chunk.recipients, this.#project.vapid, chunk.readAt);
    if (!this.#areCreated && this.#mayContinue) await this.#creating;
    return pusher;
  }

  /** Creates the event counters, which must exist before the first push. */
  async #createCounters(): Promise<void> {
    const { eventCounters } = this.#deps;
    const created = countersOf(this.#slice).map((counter) =>
      this.#retried((signal) => eventCounters.create(counter, signal)),
    );
    await Promise.all(created);
    this.#areCreated = true;
  }

  #retried<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return whileTimeIsLeft(this.#deps, this.#deadlines.lastChunkAt, call);
  }

  /**
   * Waits for some work. Meanwhile it extends the lease in time, and checks that the project still exists. While that
   * fails, pushes pause.
   * @param isEnough is asked when the next write is due: if true, it returns instead of writing.
   */
  async #keeping(work: Promise<unknown>, isEnough = () => false): Promise<void> {
    const done = new AbortController();
    const { saveEveryMs } = sliceTimeline;
    const abort = () => done.abort();
    const settled = work.then(abort, abort);
    for (let notBefore = 0; ['mine', 'stopped'].includes(this.#lease.status); ) {
      const dueAt = Math.min(this.#lease.knownAt, this.#project.knownAt) + saveEveryMs;
      const waitMs = Math.max(0, Math.max(dueAt, notBefore) - this.#now());
      await this.#deps.sleep(waitMs, done.signal).catch(() => {});
      if (done.signal.aborted || isEnough()) return;
      const triedAt = this.#now();
      const kept = Promise.all([this.#try((signal) => this.#lease.save(signal)), this.#refresh()]);
      // A call that hangs must not delay what comes after the work.
      await Promise.race([kept, settled]);
      if (done.signal.aborted) return;
      notBefore = triedAt + (this.#mayContinue ? repeatedAfterMs : saveEveryMs);
      if (!this.#mayContinue) this.#lease.pusher?.stop();
    }
    await settled;
  }

  #refresh(): Promise<void> {
    return this.#try((signal) => this.#project.refresh(signal));
  }

  /** Tries a call once. After a failure, the lease and the project stay known as of before. */
  async #try(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    await withinTime(this.#deps, sliceTimeline.tryMs, call).catch(() => {});
  }

  /**
   * Stores all that is known of the slice. Only this invocation knows it, so the write is repeated after any error.
   * @param isFinal whether nobody continues it: then whoever is left is unreached.
   */
  async #leave(
    isFinal: boolean,
    untaken: Untaken = new Map(),
    error?: unknown,
  ): Promise<LeftSlice> {
    const { observe } = this.#deps;
    const lease = this.#lease;
    let failure: unknown;
    const leave = (signal: AbortSignal) => lease.leave(untaken, isFinal, signal);
    const tries = { isRepeated: () => true };
    await whileTimeIsLeft(this.#deps, this.#deadlines.endsAt, leave, tries).catch((caught) => {
      failure = caught;
      observe.recordFailed(this.#slice, caught);
    });
    const { status, stored: state } = lease;
    if (state?.ended !== undefined && status !== 'lost') {
      observe.delivered(this.#slice, state, status === 'stopped', error);
    }
    return { status, state, error: error ?? failure };
  }

  /** Whether nobody has stopped the slice or taken it over, and the project exists. */
  get #mayContinue(): boolean {
    const { status } = this.#lease;
    return (status === 'free' || status === 'mine') && !this.#project.isGone;
  }

  #pushing(): Parameters<StartPushing>[0] {
    const { audiences, subscriptions, observe } = this.#deps;
    const current = this.#project;
    const lease = this.#lease;
    const slice = this.#slice;
    const { project, userIds, content: options, pushesPerSecond, awaitedSince, sentAt } = slice;
    const { lastPushAt, pushEndAt } = this.#deadlines;
    const { reached } = lease;
    const { lastAttemptAfterMs, timeoutMs } = sliceTimeline;
    const isLast = awaitedSince !== undefined || this.#isLast;
    return {
      messages: messagesOf(slice, current.oldWorker),
      options,
      classOf: lease.classOf,
      behind: lease.behind,
      times: {
        lastPushAt,
        endAt: pushEndAt,
        lastAttemptAt: isLast ? lastPushAt : sentAt + lastAttemptAfterMs + timeoutMs,
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
      remove: async (gone, end) => {
        const hashes = gone.map(({ endpointHash }) => endpointHash);
        await subscriptions.removeBatch(project, hashes, end);
      },
      mark: (marks, end) => {
        const given = marks.map(
          ([{ endpointHash: hash }, goneSince]) => [hash, goneSince] as const,
        );
        const write = (signal: AbortSignal) => subscriptions.mark(project, given, signal);
        return whileTimeIsLeft(this.#deps, pushEndAt, write, { signal: end });
      },
      correctPair: ({ endpointHash }, number, end) =>
        subscriptions.correctPair(project, endpointHash, number, end),
      onDelivered: reached && (({ user }) => reached.add(user!)),
      onEnd: (outcomes) => observe.pushed(slice, outcomes),
    };
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

/**
 * Reads the first chunk of a range: the positions that are expected to hold one, and more if few subscribers there meet
 * the conditions.
 */
export async function readChunk(
  deps: Pick<SliceDependencies, 'audiences' | 'clock'>,
  slice: Slice,
  { from, to: most }: Range,
  signal: AbortSignal,
): Promise<Chunk> {
  const { project, userIds, consistent, conditions, sentAt, step, pushesPerSecond } = slice;
  const { audiences, clock } = deps;
  const readAt = clock().getTime();
  const enough = Math.min(sliceSizes.chunk, pushesPerSecond * sliceSizes.chunkSeconds) / 2;
  const recipients: Recipient[] = [];
  let [to, unread] = [from, 0];
  do {
    const range = { from: to, to: Math.min(to + step, most) };
    const limit = sliceSizes.chunk - recipients.length;
    const options = { limit, consistent, conditions, sentAt, signal };
    const read = userIds
      ? await audiences.users(project, userIds, range, options)
      : await audiences.everyone(project, range, options);
    for (const recipient of read.recipients) recipients.push(recipient);
    ({ to, unread } = read);
  } while (hasConditions(conditions) && to < most && unread === 0 && recipients.length < enough);
  // The index returns a user's subscriptions in another order.
  if (userIds) recipients.sort(byKey);
  return { range: { from, to }, recipients, readAt, unread };
}

function countersOf({ project, notificationId, firstCounter, counters, expiresAt }: Slice) {
  return Array.from({ length: counters }, (_, index) =>
    eventCounter(project, notificationId, firstCounter + index, expiresAt),
  );
}

/**
 * One message for each language and event counter of the slice. If messages are personal, each is made for its recipient.
 * @param oldWorker the worker that imported subscriptions may still have. If their message would be too large, they get
 *   that of the others.
 */
function messagesOf(slice: Slice, oldWorker: OldWorkerName | undefined): readonly Message[] {
  const { notificationId: id, content, eventsUrl, eventWindowSeconds, shownSample } = slice;
  const languages = languagesOf(content);
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
      return ({ user, imported, locale }) =>
        serialised(
          personalContent(languages.of(locale).content, slice, user!),
          imported && oldWorker,
        );
    }
    const variants = (content: NotificationContent, reportsShown: boolean) => ({
      own: serialised(content, undefined, reportsShown),
      withOld: serialised(content, oldWorker, reportsShown),
    });
    const inLanguage = remembered(({ content }: InLanguage<NotificationContent>) => ({
      reporting: variants(content, true),
      others: shownSample === undefined ? undefined : variants(content, false),
    }));
    if (languages.all.length === 1 && oldWorker === undefined && shownSample === undefined) {
      return inLanguage(languages.all[0]!).reporting.own;
    }
    return ({ endpointHash, imported, locale }) => {
      const { reporting, others = reporting } = inLanguage(languages.of(locale));
      const reports = shownSample === undefined || isInSample(endpointHash, id, shownSample);
      const { own, withOld } = reports ? reporting : others;
      return imported ? withOld : own;
    };
  });
}

/**
 * Whether a browser reports `shown`. Its hash decides, so a repetition decides the same; by other bits than its
 * position, so each slice has its part of the sample. Each notification has another sample.
 */
function isInSample(endpointHash: Uint8Array, notificationId: string, shownSample: number) {
  const { buffer, byteOffset, byteLength } = endpointHash;
  const lastBits = new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4);
  // The last bits of a UUID of version 7 are random.
  return lastBits % shownSample === Number.parseInt(notificationId.slice(-8), 16) % shownSample;
}

/** The project of a delivery, as it was read last. */
export class CurrentProject {
  /** Whether it was deleted meanwhile. A later project may have the same id. */
  isGone = false;
  /** Start of the last read that found it, and found that it sends: epoch ms. While it is paused, pushes wait. */
  knownAt: number;
  readonly #projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
  readonly #clock: () => Date;
  #project: SigningProject;

  /** @param knownAt epoch ms at which it was found. */
  constructor(
    projects: Pick<ProjectStore<SigningProject>, 'refresh'>,
    clock: () => Date,
    project: SigningProject,
    knownAt: number,
  ) {
    this.#projects = projects;
    this.#clock = clock;
    this.#project = project;
    this.knownAt = this.isPaused ? 0 : knownAt;
  }

  get vapid(): SigningProject['vapid'] {
    return this.#project.vapid;
  }

  get isPaused(): boolean {
    return !this.isGone && this.#project.pausedAt !== undefined;
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
    if (!this.isPaused) this.knownAt = startedAt;
  }
}
