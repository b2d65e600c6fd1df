import type { Recipient } from '../../contract/audience.ts';
import { noCounts } from '../../contract/counts.ts';
import type { SigningProject } from '../../contract/project.ts';
import type { Share, ShareResult } from '../../contract/share.ts';
import { shareTimeline } from '../../contract/timeline.ts';
import type { Pusher, StartPushing } from '../push/pushing/pusher.ts';
import { storedResult } from '../results/results.ts';
import type { AudienceStore } from '../store/audience.ts';
import type { TallyItem } from '../store/items.ts';
import type { ProjectStore } from '../store/projects.ts';
import { partOf } from '../store/subscription-keys.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';
import { openTally, type Tally, type TallyStore } from '../store/tallies.ts';
import { messagesOf, type ReadChunk, readChunk } from './chunk.ts';
import type { Observer } from './observer.ts';
import { type Invocation, ShareProgress } from './share-progress.ts';

export interface ShareDependencies {
  readonly audiences: AudienceStore;
  readonly subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'correctPair'>;
  readonly projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
  readonly tallies: TallyStore;
  readonly startPushing: StartPushing;
  readonly clock: () => Date;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** A signal that aborts after this many ms. */
  readonly abortAfter: (ms: number) => AbortSignal;
  readonly observe: Observer;
}

/** How an invocation left a share. */
export type ShareOutcome =
  | EndedShare
  /** Another invocation has it, and a caller waits for it. */
  | { readonly kind: 'elsewhere' }
  /** It has not ended, and Lambda's next attempt continues it. */
  | { readonly kind: 'open'; readonly error: unknown };

export interface EndedShare {
  readonly kind: 'ended';
  readonly result: ShareResult;
  /** See {@link Tally}. */
  readonly reached?: Uint8Array | undefined;
  /** Why the share ended before all its recipients were read, if a call failed. */
  readonly error?: unknown;
}

/**
 * Pushes a notification to one share of its audience. Before the recipients of a chunk are pushed to, it
 * records in the share's first tally that they are about to be. If the function dies, its share can
 * therefore be resumed after that chunk, and no subscriber is pushed to twice.
 * @param projectReadAt epoch ms. Default: just now.
 */
export async function deliverShare(
  deps: ShareDependencies,
  project: SigningProject,
  share: Share,
  invocation: Invocation,
  projectReadAt = deps.clock().getTime(),
): Promise<ShareOutcome> {
  return new ShareDelivery(deps, project, projectReadAt, share, invocation).run();
}

/** A share whose first chunk has been read, and which nobody else can have yet. */
export interface PreparedShare {
  /** The share's tallies. They claim the first chunk, and are stored before {@link deliver} is called. */
  readonly tallies: readonly TallyItem[];
  /** See {@link deliverShare}. */
  deliver(): Promise<EndedShare>;
}

/** Reads the first chunk of a share whose notification has not begun, for a caller who waits. */
export async function prepareShare(
  deps: ShareDependencies,
  project: SigningProject,
  share: Share,
  invocation: Invocation,
): Promise<PreparedShare> {
  const now = deps.clock().getTime();
  const delivery = new ShareDelivery(deps, project, now, share, invocation);
  return {
    tallies: await delivery.prepare(),
    async deliver() {
      const outcome = await delivery.run();
      if (outcome.kind === 'ended') return outcome;
      throw new Error('Another invocation has a share that was claimed when it was created.');
    },
  };
}

class ShareDelivery {
  readonly #deps: ShareDependencies;
  readonly #share: Share;
  readonly #invocation: Invocation;
  readonly #progress: ShareProgress;
  readonly #isAsync: boolean;
  /** The project as it was read last, and when: epoch ms. */
  #project: SigningProject;
  #projectReadAt: number;
  /** Whether it was deleted meanwhile. */
  #isProjectGone = false;
  #pusher: Pusher | undefined;
  /** The first chunk, if it is claimed before this begins. */
  #prepared: ReadChunk | undefined;
  /** Stops what repeats itself while pushes continue. */
  readonly #pushed = new AbortController();

  constructor(
    deps: ShareDependencies,
    project: SigningProject,
    projectReadAt: number,
    share: Share,
    invocation: Invocation,
  ) {
    const { tallies, clock } = deps;
    const soFar = () => this.#pusher?.soFar() ?? noCounts;
    this.#deps = deps;
    this.#project = project;
    this.#projectReadAt = projectReadAt;
    this.#share = share;
    this.#invocation = invocation;
    this.#progress = new ShareProgress({ tallies, clock, soFar }, share, invocation);
    this.#isAsync = share.deadline === undefined;
  }

  /** @returns the share's tallies, with the claim of its first chunk. */
  async prepare(): Promise<readonly TallyItem[]> {
    this.#prepared = await this.#readNextChunk(this.#chunkSignal());
    const others = this.#otherTallies().map((tally) => openTally(this.#share, tally));
    return [this.#progress.claimFirst(this.#prepared), ...others];
  }

  async run(): Promise<ShareOutcome> {
    let other: Tally | undefined;
    let error: unknown;
    try {
      other = await this.#pushChunks();
    } catch (caught) {
      error = caught;
    }
    if (this.#progress.isStopped) this.#pusher?.stop();
    await this.#pusher?.end();
    this.#pushed.abort();
    return other === undefined ? this.#end(error) : this.#left(other);
  }

  /** @returns the share's tally if the share is another invocation's. */
  async #pushChunks(): Promise<Tally | undefined> {
    if (this.#prepared !== undefined) this.#push(this.#prepared);
    this.#prepared = undefined;
    while (!this.#isDone && (await this.#wantsMore())) {
      const other = await this.#pushNextChunk();
      if (other === undefined) continue;
      if (this.#progress.isLost) this.#pusher?.stop();
      const left = this.#progress.isLost ? other : await this.#takeOver(other);
      if (left !== undefined) return left;
    }
    return undefined;
  }

  /** Whether all recipients were read, or no further ones may be pushed to. */
  get #isDone(): boolean {
    const { isComplete, isStopped } = this.#progress;
    return isComplete || isStopped || this.#isProjectGone;
  }

  async #wantsMore(): Promise<boolean> {
    // The time is read after the wait.
    const wantsMore = (await this.#pusher?.wantsMore()) ?? true;
    return wantsMore && this.#now() < this.#progress.times.lastChunkAt;
  }

  /** @returns the share's tally if another invocation has the share. Then nothing was pushed. */
  async #pushNextChunk(): Promise<Tally | undefined> {
    const signal = this.#chunkSignal();
    const [chunk] = await Promise.all([
      this.#readNextChunk(signal),
      // Before the claim: a failure after it would leave a chunk that was not pushed as pending.
      this.#progress.hasClaim ? undefined : this.#openTallies(signal),
    ]);
    if (this.#isProjectGone) return undefined;
    const other = await this.#progress.claim(chunk, signal);
    if (other === undefined && !this.#progress.isStopped) this.#push(chunk);
    return other;
  }

  /** Aborts the calls that read a chunk and claim it. */
  #chunkSignal(): AbortSignal {
    const now = this.#now();
    return this.#deps.abortAfter(this.#progress.times.chunkEndAt(now) - now);
  }

  /** Also reads the project again if the chunk's recipients need that. */
  async #readNextChunk(signal: AbortSignal): Promise<ReadChunk> {
    const { position } = this.#progress;
    const chunk = await readChunk(this.#deps.audiences, this.#share, position, signal);
    if (this.#needsProject(chunk.recipients)) await this.#findProject();
    return chunk;
  }

  #push({ recipients }: ReadChunk): void {
    this.#pusher ??= this.#start();
    this.#pusher.add(recipients, this.#project.vapid);
  }

  async #openTallies(signal: AbortSignal): Promise<void> {
    const { tallies } = this.#deps;
    await Promise.all(
      this.#otherTallies().map((tally) => tallies.open(this.#share, tally, signal)),
    );
  }

  /** All but the first tally, which the claim creates. */
  #otherTallies(): readonly number[] {
    const { firstTally, tallies } = this.#share;
    return Array.from({ length: tallies - 1 }, (_, index) => firstTally + 1 + index);
  }

  /**
   * Whether the project has to be read again before these recipients are pushed to: one of them has
   * subscribed with a newer key pair, or they could be subscriptions of a later project of the same id.
   */
  #needsProject(recipients: readonly Recipient[]): boolean {
    const newest = this.#project.vapid.current.number;
    return (
      recipients.some(({ vapidPairNumber = 0 }) => vapidPairNumber > newest) ||
      this.#now() - this.#projectReadAt > projectValidMs
    );
  }

  #start(): Pusher {
    const { subscriptions, startPushing, observe } = this.#deps;
    const { projectId, content: options, pushesPerSecond } = this.#share;
    const { reached } = this.#progress;
    const pusher = startPushing({
      messages: messagesOf(this.#share),
      options,
      times: this.#progress.times,
      isAwaited: !this.#isAsync,
      pushesPerSecond,
      // Transactions on the same part of the counter conflict.
      removalGroup: ({ endpointHash }) => partOf(endpointHash),
      remove: async (gone, end) => {
        const hashes = gone.map(({ endpointHash }) => endpointHash);
        await subscriptions.removeBatch(projectId, hashes, end);
      },
      correctPair: ({ endpointHash }, number, end) =>
        subscriptions.correctPair(projectId, endpointHash, number, end),
      onDelivered: reached && (({ user }) => reached.add(user!)),
      onFailures: (pushService, failures) => observe.failed(this.#share, pushService, failures),
    });
    void this.#saveRegularly(pusher).catch(() => {});
    return pusher;
  }

  /** Stores the counts while pushes continue. Stops these when they may not continue. */
  async #saveRegularly(pusher: Pusher): Promise<void> {
    for (;;) {
      await this.#deps.sleep(shareTimeline.saveEveryMs, this.#pushed.signal);
      const signal = this.#deps.abortAfter(this.#progress.times.endAt - this.#now());
      // The next write replaces one that failed.
      const saving = this.#progress.save(signal).catch(() => {});
      await Promise.all([saving, this.#findProject().catch(() => {})]);
      const { isLost, isStopped } = this.#progress;
      if (isLost || isStopped || this.#isProjectGone) pusher.stop();
    }
  }

  async #findProject(): Promise<void> {
    const now = this.#now();
    const found = await this.#deps.projects.refresh(this.#share.projectId);
    if (found?.createdAt !== this.#share.projectCreatedAt) {
      this.#isProjectGone = true;
      return;
    }
    this.#project = found;
    this.#projectReadAt = now;
  }

  /**
   * Takes the share over when the claim of its invocation has run out. A caller who waits for the share
   * does not wait for that.
   * @returns otherwise the share's tally: the share has ended, or another invocation has it.
   */
  async #takeOver(first: Tally): Promise<Tally | undefined> {
    let tally = first;
    while (this.#isAsync && tally.ended === undefined) {
      const { until, by, step } = tally.claim!;
      const over = until + shareTimeline.clockDifferenceMs;
      if (over > this.#invocation.endsAt) return tally;
      await this.#deps.sleep(Math.max(0, over - this.#now()));
      const { notificationId, firstTally } = this.#share;
      const [now = tally] = await this.#deps.tallies.find(notificationId, [firstTally]);
      if (now.ended === undefined && now.claim?.by === by && now.claim.step === step) {
        this.#progress.takeOver(now);
        return undefined;
      }
      tally = now;
    }
    return tally;
  }

  /** The outcome of a share that is another invocation's. */
  #left(tally: Tally): ShareOutcome {
    if (tally.ended === 'cancelled') return { kind: 'elsewhere' };
    if (tally.ended !== undefined) {
      return { kind: 'ended', result: storedResult(tally), reached: tally.reached };
    }
    if (!this.#isAsync) return { kind: 'elsewhere' };
    // Success would consume the event. If the other invocation dies, this one is needed.
    return {
      kind: 'open',
      error: new Error('Another invocation has the share. Lambda repeats this one.'),
    };
  }

  async #end(error: unknown): Promise<ShareOutcome> {
    const { isComplete, mayHaveClaimed, reached } = this.#progress;
    const isOver = this.#isDone || !this.#isAsync;
    if (mayHaveClaimed) {
      const ended = isComplete ? 'complete' : 'incomplete';
      const failure = await this.#saveEnd(isOver ? ended : undefined);
      if (failure !== undefined) return failure;
    }
    if (!isOver) {
      const timeIsOver = new Error('The time is over; the next attempt continues the share.');
      return { kind: 'open', error: error ?? timeIsOver };
    }
    const { counts, isStopped } = this.#progress;
    const result = { ...counts, isComplete, ...(isStopped && { isStopped }) };
    const outcome: EndedShare = { kind: 'ended', result, reached: reached?.bits(), error };
    this.#deps.observe.delivered(this.#share, outcome);
    return outcome;
  }

  /**
   * Repeats the last write as long as there is time: without it the share counts as interrupted.
   * @returns undefined if the end is stored, or nobody can store it any more.
   */
  async #saveEnd(ended: Tally['ended']): Promise<ShareOutcome | undefined> {
    const { abortAfter, sleep, observe } = this.#deps;
    for (;;) {
      const msLeft = this.#invocation.endsAt - this.#now();
      try {
        const other = await this.#progress.end(ended, abortAfter(Math.max(0, msLeft)));
        return other && this.#left(other);
      } catch (error) {
        if (this.#now() + saveAgainMs >= this.#invocation.endsAt) {
          observe.recordFailed(this.#share, error);
          // Lambda's next attempt stores the end.
          return this.#isAsync ? { kind: 'open', error } : undefined;
        }
      }
      await sleep(saveAgainMs);
    }
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

/** Ms for which a project that was read is taken as existing when recipients are pushed to. */
const projectValidMs = 500;
/** Ms between two tries of a share's last write. */
const saveAgainMs = 500;
