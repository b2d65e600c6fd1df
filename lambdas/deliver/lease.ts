import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Recipient, Slice } from '../../contract/infrastructure/slice.ts';
import { addCounts, type Counts, noCounts } from '../../contract/wire/counts.ts';
import { classesOf } from '../../contract/wire/push-services.ts';
import type { Pusher, Untaken } from '../push/pushing/pusher.ts';
import { interruptedCounts, ReachedUsers } from '../results/summary.ts';
import type { Range } from '../store/audience.ts';
import type { SliceEnd } from '../store/items.ts';
import type { LeaseId, Progress, SliceKey, SliceStore, StoredSlice } from '../store/slices.ts';
import { isComplete, nextRange, unclaimed, withChunk, withLeft } from './progress.ts';

export interface LeaseDependencies {
  readonly slices: Pick<SliceStore, 'write'>;
  readonly clock: () => Date;
}

/**
 * `free`: not claimed yet. `stopped`: only the end is stored. `lost`: another invocation has the slice, or nobody may
 * get it.
 */
export type LeaseStatus = 'free' | 'mine' | 'stopped' | 'lost';

/** Recipients that are read and claimed at once. */
export interface Chunk {
  readonly range: Range;
  /** All who were read, in the order of their keys. */
  readonly recipients: readonly Recipient[];
  /** Epoch ms at which the reading began. */
  readonly readAt: number;
  /** At least this many recipients in the range were left out. */
  readonly unread: number;
}

/** Who wants the lease, and of which slice. */
export interface Leaseholder {
  readonly slice: SliceKey & Range & Pick<Slice, 'userIds' | 'extraOrigins'>;
  /** Unique to the lease. */
  readonly by: string;
  /** Epoch ms: the invocation does nothing more. */
  readonly endsAt: number;
}

/**
 * An invocation's claim on a slice, and the only writer of its progress while it has that. Before recipients are pushed
 * to, {@link claim} stores that they are about to be; so nobody is pushed to twice when the invocation dies. Every
 * write but the last extends the lease. The writes follow each other. One whose time is over may arrive late: then it does nothing.
 */
export class Lease {
  status: LeaseStatus = 'free';
  /** The slice as it is stored, as far as this lease knows; undefined if nobody has had it. */
  stored: StoredSlice | undefined;
  /** Start of the last write that succeeded: then the slice was neither stopped nor another's. Epoch ms. */
  knownAt = 0;
  /** What pushes to the recipients that this lease has claimed. */
  pusher: Pusher | undefined;
  /** Which users of the slice a push was delivered to; undefined in a broadcast. */
  readonly reached: ReachedUsers | undefined;
  /** Names the class of a recipient by its origin. */
  readonly classOf: (origin: string) => string;
  /** The classes of which earlier invocations have left somebody behind. */
  readonly behind: readonly string[];
  readonly #deps: LeaseDependencies;
  readonly #holder: Leaseholder;
  /** What was found, with the chunks that are claimed since. */
  #claimed: Progress;
  /** Number of the last write. */
  #n = 0;

  /**
   * @param stored the slice as it is, if somebody has had it: its lease has run out. Pushes whose outcome is not stored
   *   count as interrupted.
   */
  constructor(deps: LeaseDependencies, holder: Leaseholder, stored?: StoredSlice) {
    const { slice, endsAt } = holder;
    this.#deps = deps;
    this.#holder = holder;
    this.stored = stored;
    const {
      position,
      isRead,
      claimed,
      behind,
      attempts = 0,
      unjudged,
    }: Progress = stored?.lease === undefined
      ? { position: slice.from, isRead: false, claimed: 0, counts: noCounts }
      : stored;
    const counts = stored === undefined ? noCounts : interruptedCounts(stored);
    const hasTime = endsAt - this.#now() >= sliceTimeline.attemptMs;
    const tried = attempts + Number(hasTime) || undefined;
    this.#claimed = { position, isRead, claimed, counts, behind, attempts: tried, unjudged };
    this.classOf = classesOf(slice.extraOrigins);
    this.behind = Object.keys(behind ?? {});
    this.reached = slice.userIds && new ReachedUsers(slice.userIds.length, stored?.reached);
  }

  /** Where the next chunk may lie; undefined if all is claimed. */
  get next(): Range | undefined {
    const { to } = this.#holder.slice;
    return isComplete(this.#claimed, to) ? undefined : nextRange(this.#claimed, to);
  }

  get attempts(): number {
    return this.#claimed.attempts ?? 0;
  }

  /** Whether somebody of the slice was attempted, also by an earlier invocation. */
  get hasAttempted(): boolean {
    return this.#claimed.counts.attempted + this.#settled.attempted > 0;
  }

  /** Those of a chunk who are not claimed yet. */
  unclaimed({ range, recipients }: Pick<Chunk, 'range' | 'recipients'>): readonly Recipient[] {
    return unclaimed(this.#claimed, range.from, recipients, this.classOf);
  }

  /** Only if this returns `mine`, the recipients may be pushed to. */
  async claim({ range, recipients, unread }: Chunk, signal: AbortSignal): Promise<LeaseStatus> {
    if (this.status === 'stopped') return 'stopped';
    const next = withChunk(this.#claimed, range, recipients, unread, this.classOf);
    return this.#write(next, signal);
  }

  /** Stores what is settled. */
  save(signal: AbortSignal): Promise<LeaseStatus> {
    return this.#write(this.#claimed, signal);
  }

  /**
   * Stores that this invocation does no more for the slice.
   * @param untaken who is claimed, and comes after the last push that was sent.
   * @param isFinal whether nobody continues the slice.
   */
  async leave(untaken: Untaken, isFinal: boolean, signal: AbortSignal): Promise<LeaseStatus> {
    const knewStop = this.status === 'stopped';
    const left = withLeft(this.#claimed, untaken, isFinal || knewStop);
    const isEnd = isFinal || knewStop || isComplete(left, this.#holder.slice.to);
    // It is as it was found.
    if (this.#n === 0 && !isEnd) return this.status;
    const status = await this.#write(left, signal, { ended: isEnd ? 'delivered' : undefined });
    // The stop refuses the first write that does not know it.
    return status === 'stopped' && !knewStop ? this.leave(untaken, true, signal) : status;
  }

  async #write(
    progress: Progress,
    signal: AbortSignal,
    end?: { readonly ended: SliceEnd | undefined },
  ): Promise<LeaseStatus> {
    if (this.status === 'lost') return 'lost';
    const { slice, by, endsAt } = this.#holder;
    const startedAt = this.#now();
    this.#n += 1;
    const id = { by, n: this.#n };
    const knowsStop = this.status === 'stopped';
    const event = { kind: 'write', id, known: this.#known, knowsStop } as const;
    const until = end ? startedAt : Math.min(startedAt + sliceTimeline.leaseMs, endsAt);
    const written: Progress = {
      ...progress,
      isRead: isComplete(progress, slice.to),
      counts: addCounts(progress.counts, this.#settled),
      unjudged: (progress.unjudged ?? 0) + (this.pusher?.unjudged ?? 0) || undefined,
      reached: this.reached?.bits(),
    };
    const refused = await this.#deps.slices.write(
      slice,
      { ...written, ...end, event, until },
      signal,
    );
    // It was given up: its caller repeats it, or a later one says more.
    if (signal.aborted || id.n !== this.#n) return this.status;
    if (refused === undefined || refused.refusal === 'stored') {
      const stoppedAt = this.stored?.stoppedAt;
      this.stored = { ...written, lease: { ...id, until }, ended: end?.ended, stoppedAt };
      if (!end) this.#claimed = progress;
      if (this.status === 'stopped') return 'stopped';
      this.knownAt = startedAt;
      this.status = 'mine';
    } else if (refused.refusal === 'stopped' && this.#isHeld(refused.slice, startedAt)) {
      this.status = 'stopped';
      this.stored = refused.slice;
    } else if (refused.refusal === 'ended' && refused.slice.lease?.by === by) {
      // An earlier write of this lease has stored the end, and its response was lost.
      this.stored = refused.slice;
    } else {
      this.status = 'lost';
      this.stored = refused.slice;
    }
    return this.status;
  }

  get #settled(): Counts {
    return this.pusher?.soFar() ?? noCounts;
  }

  /** Whether it still holds a slice that was stopped: the counts of others are final. */
  #isHeld({ lease }: StoredSlice, now: number): boolean {
    return lease?.by === this.#holder.by && lease.until >= now;
  }

  /** The version that is stored: of this lease, or of one that has run out. */
  get #known(): LeaseId | undefined {
    return this.stored?.lease && { by: this.stored.lease.by, n: this.stored.lease.n };
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}
