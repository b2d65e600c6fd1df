import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../contract/infrastructure/slice.ts';
import { addCounts, type Counts, noCounts } from '../../contract/wire/counts.ts';
import { interruptedCounts, ReachedUsers } from '../results/summary.ts';
import type { SliceEnd } from '../store/items.ts';
import type { LeaseId, Progress, SliceKey, SliceStore, StoredSlice } from '../store/slices.ts';

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
  readonly recipients: readonly Recipient[];
  /** Epoch ms at which the reading began. */
  readonly readAt: number;
  /** Where the next chunk starts, and whether that is the end of the slice. */
  readonly position: number;
  readonly isRead: boolean;
  /** At least this many recipients before that position were left out. */
  readonly unread: number;
}

/** Who wants the lease, and of which slice. */
export interface Leaseholder {
  readonly slice: SliceKey & { readonly from: number; readonly userIds?: readonly string[] };
  /** Unique to the invocation. */
  readonly by: string;
  /** Epoch ms: the invocation does nothing more. */
  readonly endsAt: number;
}

/**
 * An invocation's claim on a slice, and the only writer of its item while it has that. Before recipients are pushed
 * to, {@link claim} stores that they are about to be; so nobody is pushed to twice when the invocation dies. Every
 * write extends the lease. The writes follow each other: one that overtook its predecessor would be refused.
 */
export class Lease {
  status: LeaseStatus = 'free';
  /** The slice as another invocation has left it, if the lease is `lost`. */
  other: StoredSlice | undefined;
  /** Start of the last write that succeeded: then the slice was neither stopped nor another's. Epoch ms. */
  knownAt = 0;
  /** What has become of the recipients that this lease has claimed. */
  settled: () => Counts = () => noCounts;
  /** Which users of the slice a push was delivered to; undefined in a broadcast. */
  readonly reached: ReachedUsers | undefined;
  readonly #deps: LeaseDependencies;
  readonly #holder: Leaseholder;
  /** The progress that this lease has started from. */
  readonly #found: Progress;
  /** What was found, with the chunks that it has claimed since. */
  #claimed: Progress;
  /** The version that is stored: of this lease, or of one that has run out. */
  #known: LeaseId | undefined;
  /** Numbers of the last write, and of the last one of an earlier lease of this invocation. */
  #n: number;
  readonly #before: number;
  /** End of the lease. What has been stopped is final after it. */
  #until = 0;
  #writing: Promise<unknown> = Promise.resolve();

  /**
   * @param stored the slice as it is, if somebody has had it: its lease has run out. Pushes whose outcome is not stored
   *   count as interrupted.
   * @param n see {@link after}.
   */
  constructor(deps: LeaseDependencies, holder: Leaseholder, stored?: StoredSlice, n = 0) {
    const { from, userIds } = holder.slice;
    this.#deps = deps;
    this.#holder = holder;
    this.#n = n;
    this.#before = n;
    this.#known = stored?.lease;
    this.#found =
      stored?.lease === undefined
        ? { position: from, isRead: false, claimed: 0, counts: noCounts }
        : { ...stored, counts: interruptedCounts(stored) };
    this.#claimed = this.#found;
    this.reached = userIds && new ReachedUsers(userIds.length, stored?.reached);
  }

  /** A new lease of this invocation, which starts from what another one has left. */
  after(stored: StoredSlice | undefined): Lease {
    return new Lease(this.#deps, this.#holder, stored, this.#n);
  }

  /** Whether a write of this lease may be stored. */
  get mayBeStored(): boolean {
    return this.status !== 'lost' && this.#n > this.#before;
  }

  /** Whether it has claimed anybody. */
  get hasClaimed(): boolean {
    return this.#claimed.claimed > this.#found.claimed;
  }

  /** Where the next chunk starts. */
  get position(): number {
    return this.#claimed.position;
  }

  /** Whether all recipients were read. */
  get isRead(): boolean {
    return this.#claimed.isRead;
  }

  /** The slice as this invocation leaves it. Undefined if nobody has had it. */
  stateWith(ended: SliceEnd | undefined): StoredSlice | undefined {
    if (this.#known === undefined) return undefined;
    return {
      ...this.#settledOf(this.#claimed),
      lease: { ...this.#known, until: this.#now() },
      ended,
      stoppedAt: this.status === 'stopped' ? this.knownAt : undefined,
    };
  }

  /** Only if this returns `mine`, the recipients may be pushed to. */
  claim({ position, isRead, recipients, unread }: Chunk, signal: AbortSignal) {
    return this.#inTurn(async () => {
      if (this.status === 'stopped') return 'stopped';
      const { claimed, counts } = this.#claimed;
      const next = {
        position,
        isRead,
        claimed: claimed + recipients.length + unread,
        counts: addCounts(counts, { ...noCounts, unreached: unread }),
      };
      return this.#write(next, signal);
    });
  }

  /** Stores what is settled. */
  save(signal: AbortSignal): Promise<LeaseStatus> {
    return this.#inTurn(() => this.#write(this.#claimed, signal));
  }

  /** Stores that the slice has ended. Undefined: that this invocation does no more for it. */
  end(ended: SliceEnd | undefined, signal: AbortSignal): Promise<LeaseStatus> {
    return this.#inTurn(() => this.#write(this.#claimed, signal, { ended }));
  }

  /** Stores the progress that was found: nobody whom this lease has claimed was pushed to. */
  giveBack(signal: AbortSignal): Promise<LeaseStatus> {
    this.#claimed = this.#found;
    this.settled = () => noCounts;
    return this.end(undefined, signal);
  }

  #inTurn(write: () => Promise<LeaseStatus>): Promise<LeaseStatus> {
    const writing = this.#writing.then(() => (this.status === 'lost' ? 'lost' : write()));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  async #write(
    claimed: Progress,
    signal: AbortSignal,
    end?: { readonly ended: SliceEnd | undefined },
  ): Promise<LeaseStatus> {
    const { slice, by, endsAt } = this.#holder;
    const startedAt = this.#now();
    this.#n += 1;
    const id = { by, n: this.#n };
    const knowsStop = this.status === 'stopped';
    const event = { kind: 'write', id, known: this.#known, knowsStop } as const;
    const until = end ? startedAt : Math.min(startedAt + sliceTimeline.leaseMs, endsAt);
    const write = { ...this.#settledOf(claimed), ...end, event, until };
    const refused = await this.#deps.slices.write(slice, write, signal);
    if (refused === undefined || refused.refusal === 'stored') {
      this.#known = id;
      this.#claimed = claimed;
      this.#until = until;
      if (this.status === 'stopped') return 'stopped';
      this.knownAt = startedAt;
      this.status = 'mine';
    } else if (
      refused.refusal === 'stopped' &&
      refused.slice.lease?.by === by &&
      this.#until >= startedAt
    ) {
      this.status = 'stopped';
      // Only a claim must not be stored.
      return claimed === this.#claimed ? this.#write(claimed, signal, end) : 'stopped';
    } else {
      this.status = 'lost';
      this.other = refused.slice;
    }
    return this.status;
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }

  #settledOf({ position, isRead, claimed, counts }: Progress): Progress {
    return {
      position,
      isRead,
      claimed,
      counts: addCounts(counts, this.settled()),
      reached: this.reached?.bits(),
    };
  }
}
