import { addCounts, type Counts, noCounts } from '../../contract/counts.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import { interruptedCounts, type ReachedUsers } from '../results/outcome.ts';
import type { SliceEnd, SliceItem } from '../store/items.ts';
import { type LeaseId, type LeaseState, refusal } from '../store/lease.ts';
import {
  isEmptySlice,
  leasedItem,
  type SliceKey,
  type SliceProgress,
  type SliceStore,
  type SliceWrite,
  type StoredSlice,
} from '../store/slices.ts';
import type { Chunk } from './chunk.ts';

export interface LeaseDependencies {
  readonly slices: Pick<SliceStore, 'write'>;
  readonly clock: () => Date;
}

/**
 * `free`: not claimed yet. `stopped`: only the end is stored. `lost`: another invocation has the slice, or nobody may
 * have it any more.
 */
export type LeaseStatus = 'free' | 'mine' | 'stopped' | 'lost';

/**
 * An invocation's claim on a slice, and the only writer of its item while it has that. Before recipients are pushed
 * to, {@link claim} stores that they are about to be; so nobody is pushed to twice when the invocation dies. Every
 * write extends the lease. The writes follow each other: one that overtook its predecessor would be refused.
 */
export class Lease {
  status: LeaseStatus = 'free';
  /** As another invocation has left the slice, if the lease is `lost`. */
  other: StoredSlice | undefined;
  /** Start of the last write that succeeded: then the slice was neither stopped nor another's. Epoch ms. */
  knownAt = 0;
  /** Counts of recipients that this invocation has claimed, as far as they are final. */
  soFar: () => Counts = () => noCounts;
  readonly #deps: LeaseDependencies;
  readonly #key: SliceKey;
  readonly #by: string;
  readonly #endsAt: number;
  readonly #reached: ReachedUsers | undefined;
  /** The last write that is stored: its own, or that of a lease that has run out. */
  #known: LeaseId | undefined;
  #n = 0;
  #position: number;
  #isRead = false;
  /** Of all that this invocation has claimed. */
  #recipients = 0;
  /** Counts of earlier invocations, and recipients that could not be read. */
  #before = noCounts;
  #writing: Promise<unknown> = Promise.resolve();

  /**
   * @param by unique to the invocation.
   * @param endsAt epoch ms: the invocation does nothing more.
   * @param reached the users of the slice; undefined in a broadcast.
   */
  constructor(
    deps: LeaseDependencies,
    key: SliceKey & { readonly from: number },
    by: string,
    endsAt: number,
    reached: ReachedUsers | undefined,
  ) {
    this.#deps = deps;
    this.#key = key;
    this.#position = key.from;
    this.#by = by;
    this.#endsAt = endsAt;
    this.#reached = reached;
  }

  /** Where the next chunk starts. */
  get position(): number {
    return this.#position;
  }

  /** Whether all recipients were read. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Whether the slice may be this invocation's: it has written, or has taken the slice over. */
  get mayBeMine(): boolean {
    return this.status !== 'lost' && (this.#n > 0 || this.#known !== undefined);
  }

  get counts(): Counts {
    return addCounts(this.#before, this.soFar());
  }

  /** The slice as it ends. */
  get slice(): StoredSlice {
    return {
      ...{ position: this.#position, pending: 0, isRead: this.#isRead, counts: this.counts },
      ...{ reached: this.#reached?.bits(), ended: 'delivered' },
      stoppedAt: this.status === 'stopped' ? this.knownAt : undefined,
    };
  }

  /** Only if this returns `mine`, the recipients may be pushed to. */
  claim(claimed: Chunk, signal: AbortSignal): Promise<LeaseStatus> {
    return this.#write(claimed, undefined, signal);
  }

  /** The item of a slice that nobody can have yet, with its first claim. The caller stores it. */
  claimFirst(claimed: Chunk): SliceItem {
    const startedAt = this.#now();
    const write = this.#next(claimed, undefined, startedAt);
    this.#stored(claimed, write, startedAt);
    return leasedItem(this.#key, write);
  }

  /** Stores the counts so far. */
  save(signal: AbortSignal): Promise<LeaseStatus> {
    return this.#write(undefined, undefined, signal);
  }

  /** Stores that the slice has ended. Undefined: that this invocation does no more for it. */
  end(ended: SliceEnd | undefined, signal: AbortSignal): Promise<LeaseStatus> {
    return this.#write(undefined, { ended }, signal);
  }

  /** Continues after the last chunk of an invocation whose lease has run out. */
  takeOver(slice: StoredSlice): void {
    this.status = 'free';
    this.#known = slice.lease;
    this.#position = slice.position;
    this.#isRead = slice.isRead;
    this.#before = interruptedCounts(slice);
    if (slice.reached !== undefined) this.#reached?.addAll(slice.reached);
  }

  #write(
    claimed: Chunk | undefined,
    end: Pick<SliceProgress, 'ended'> | undefined,
    signal: AbortSignal,
  ): Promise<LeaseStatus> {
    const writing = this.#writing.then(() => this.#writeNow(claimed, end, signal));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  async #writeNow(
    claimed: Chunk | undefined,
    end: Pick<SliceProgress, 'ended'> | undefined,
    signal: AbortSignal,
  ): Promise<LeaseStatus> {
    if (this.status === 'lost') return 'lost';
    if (this.status === 'stopped' && claimed !== undefined) return 'stopped';
    const startedAt = this.#now();
    const write = this.#next(claimed, end, startedAt);
    const slice = await this.#deps.slices.write(this.#key, write, signal);
    const refused = slice && refusal(stateOf(slice), write.event);
    if (refused === undefined || refused === 'stored') {
      this.#stored(claimed, write, startedAt);
      return this.status;
    }
    if (refused === 'stopped' && slice?.lease?.by === this.#by) {
      this.status = 'stopped';
      // Only a claim must not be stored.
      return claimed === undefined ? this.#writeNow(claimed, end, signal) : 'stopped';
    }
    this.status = 'lost';
    this.other = slice;
    return 'lost';
  }

  #next(
    claimed: Chunk | undefined,
    end: Pick<SliceProgress, 'ended'> | undefined,
    startedAt: number,
  ): SliceWrite {
    this.#n += 1;
    const { recipients = [], position = this.#position, isRead = this.#isRead } = claimed ?? {};
    const { attempted, unreached } = this.soFar();
    return {
      event: {
        kind: 'write',
        id: { by: this.#by, n: this.#n },
        known: this.#known,
        knowsStop: this.status === 'stopped',
      },
      until:
        end === undefined ? Math.min(startedAt + sliceTimeline.leaseMs, this.#endsAt) : startedAt,
      ...{ position, isRead, ended: end?.ended },
      pending: this.#recipients + recipients.length - attempted - unreached,
      counts: this.counts,
      reached: this.#reached?.bits(),
    };
  }

  #stored(
    claimed: Chunk | undefined,
    { event, position, isRead }: SliceWrite,
    startedAt: number,
  ): void {
    if (this.status !== 'stopped') {
      this.status = 'mine';
      this.knownAt = startedAt;
    }
    this.#known = event.id;
    this.#position = position;
    this.#isRead = isRead;
    if (claimed === undefined) return;
    this.#recipients += claimed.recipients.length;
    this.#before = addCounts(this.#before, { ...noCounts, unreached: claimed.unread });
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

function stateOf(slice: StoredSlice): LeaseState {
  const { lease, ended, stoppedAt, counts } = slice;
  const isStopped = stoppedAt !== undefined;
  return { lease, ended, isStopped, attempted: counts.attempted, isEmpty: isEmptySlice(slice) };
}
