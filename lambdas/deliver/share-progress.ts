import { addCounts, type Counts, noCounts } from '../../contract/counts.ts';
import type { Share } from '../../contract/share.ts';
import { ReachedUsers } from '../results/reached-users.ts';
import { interruptedCounts } from '../results/results.ts';
import type { TallyItem } from '../store/items.ts';
import {
  type Claim,
  claimedTally,
  type ShareKey,
  type StoredProgress,
  type Tally,
  type TallyStore,
  type Writer,
} from '../store/tallies.ts';
import type { ReadChunk } from './chunk.ts';
import { type ShareTimes, shareTimes } from './share-times.ts';

export interface Invocation {
  /** Unique, also among the retries of one request. */
  readonly id: string;
  /** Epoch ms by which the function returns. */
  readonly endsAt: number;
}

export interface ProgressDependencies {
  readonly tallies: Pick<TallyStore, 'save'>;
  readonly clock: () => Date;
  /** Counts of the recipients that this invocation has claimed, as far as they are final. */
  readonly soFar: () => Counts;
}

/** How far an invocation has come with a share, and until when the share is its own. */
export class ShareProgress {
  readonly times: ShareTimes;
  /** Where the next chunk starts. */
  position: number;
  /** Whether the share is another invocation's now, although it was this one's. */
  isLost = false;
  /** Whether the share was stopped, as a refused write has shown. */
  isStopped = false;
  /** Undefined in a broadcast. */
  readonly reached: ReachedUsers | undefined;
  readonly #deps: ProgressDependencies;
  readonly #share: Share;
  readonly #invocation: Invocation;
  readonly #key: ShareKey;
  /** Counts of earlier invocations, and recipients that could not be read. */
  #before = noCounts;
  /** Recipients of this invocation's chunks. */
  #recipients = 0;
  /** The share's claim as far as known: this invocation's own, or one that has run out. */
  #claim: Pick<Claim, 'by' | 'step'> | undefined;
  /** Number of the last write. */
  #step = 0;
  /** Ends with the last write. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(deps: ProgressDependencies, share: Share, invocation: Invocation) {
    const { projectId, notificationId, firstTally, expiresAt } = share;
    this.times = shareTimes(share, invocation.endsAt);
    this.#deps = deps;
    this.#share = share;
    this.#invocation = invocation;
    this.#key = { projectId, notificationId, firstTally, expiresAt };
    this.position = share.from;
    this.reached = share.userIds && new ReachedUsers(share.userIds.length);
  }

  get hasClaim(): boolean {
    return this.#claim?.by === this.#invocation.id;
  }

  /** Whether the share may have been claimed, although no response says so. */
  get mayHaveClaimed(): boolean {
    return this.#step > 0;
  }

  get isComplete(): boolean {
    return this.position >= this.#share.to;
  }

  get counts(): Counts {
    return addCounts(this.#before, this.#deps.soFar());
  }

  /**
   * Records that the recipients of a chunk are about to be pushed to. Only then they may be. If the share
   * is stopped, they count as unreached.
   * @returns the tally if another invocation has the share.
   */
  claim(chunk: ReadChunk, signal: AbortSignal): Promise<Tally | undefined> {
    return this.#write(claimOf(chunk), signal);
  }

  /**
   * The same for the first chunk of a share that nobody else can have yet.
   * @returns the share's first tally. The caller stores it before anything is pushed.
   */
  claimFirst(chunk: ReadChunk): TallyItem {
    const change = claimOf(chunk);
    const { writer, progress, startedAt } = this.#next(change);
    this.#written(change, writer, progress, startedAt);
    return claimedTally(this.#key, writer, progress);
  }

  /** Stores the counts so far, and extends the claim. @returns as {@link claim} does. */
  save(signal: AbortSignal): Promise<Tally | undefined> {
    return this.#write({}, signal);
  }

  /**
   * Stores that the share has ended, or that this invocation does no more for it.
   * @returns as {@link claim} does.
   */
  end(ended: Tally['ended'], signal: AbortSignal): Promise<Tally | undefined> {
    return this.#write({ ended, isLast: true }, signal);
  }

  /** Continues after the last chunk of an invocation whose claim has run out. */
  takeOver(tally: Tally): void {
    this.#claim = tally.claim;
    this.position = tally.position;
    this.#before = interruptedCounts(tally);
    if (tally.reached !== undefined) this.reached?.addAll(tally.reached);
  }

  /** One write after another: one that overtook its predecessor would be refused. */
  #write(change: Change, signal: AbortSignal): Promise<Tally | undefined> {
    const writing = this.#writing.then(() => this.#writeNow(change, signal));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  async #writeNow(change: Change, signal: AbortSignal): Promise<Tally | undefined> {
    if (this.isStopped && change.position !== undefined) return this.#skip(change);
    const { writer, progress, startedAt } = this.#next(change);
    const other = await this.#deps.tallies.save(this.#key, writer, progress, signal);
    if (other === undefined) {
      this.#written(change, writer, progress, startedAt);
    } else if (!this.isStopped && this.#isStop(other)) {
      this.isStopped = true;
      return this.#writeNow(change, signal);
    } else if (this.hasClaim) this.isLost = true;
    return other;
  }

  /** Whether a write was refused only because the share is stopped. */
  #isStop({ stoppedAt, claim }: Tally): boolean {
    if (stoppedAt === undefined) return false;
    if (claim === undefined || claim.by === this.#invocation.id) return true;
    return claim.by === this.#claim?.by && claim.step === this.#claim.step;
  }

  /**
   * Instead of claiming a chunk: nobody pushes to its recipients. A share that was not claimed is over when
   * it is stopped, and its counts do not change any more.
   */
  #skip({ position = this.position, recipients = 0, unread = 0 }: Change): undefined {
    if (!this.hasClaim) return;
    this.position = position;
    this.#before = addCounts(this.#before, { ...noCounts, unreached: recipients + unread });
  }

  /** The next write. */
  #next({ position = this.position, recipients = 0, ended, isLast = false }: Change): Write {
    const { clock, soFar } = this.#deps;
    const { attempted, unreached } = soFar();
    const startedAt = clock().getTime();
    this.#step += 1;
    return {
      startedAt,
      writer: {
        ...{ by: this.#invocation.id, step: this.#step, previous: this.#claim },
        knowsStop: this.isStopped,
      },
      progress: {
        until: this.times.claimUntil(startedAt, isLast),
        pending: this.#recipients + recipients - attempted - unreached,
        ...{ position, counts: this.counts, ended, isRead: position >= this.#share.to },
        reached: this.reached?.bits(),
      },
    };
  }

  #written(
    { recipients = 0, unread = 0 }: Change,
    { by, step }: Writer,
    { until, position }: StoredProgress,
    startedAt: number,
  ): void {
    this.#claim = { by, step };
    this.times.claimed(until);
    if (!this.isStopped) this.times.notStopped(startedAt);
    this.position = position;
    this.#recipients += recipients;
    this.#before = addCounts(this.#before, { ...noCounts, unreached: unread });
  }
}

function claimOf({ recipients, to, unread }: ReadChunk): Change {
  return { position: to, recipients: recipients.length, unread };
}

interface Write {
  /** Epoch ms. */
  readonly startedAt: number;
  readonly writer: Writer;
  readonly progress: StoredProgress;
}

interface Change {
  readonly position?: number;
  readonly recipients?: number;
  readonly unread?: number;
  readonly ended?: Tally['ended'];
  readonly isLast?: boolean;
}
