import type { Recipient } from '../../contract/audience.ts';
import type { Failures } from '../../contract/failure-reasons.ts';
import { limits } from '../../contract/limits.ts';
import type { SigningProject } from '../../contract/project.ts';
import type { Share, ShareResult } from '../../contract/share.ts';
import type { Deliver } from '../push/delivery/deliver-chunk.ts';
import type { AudienceStore } from '../store/audience.ts';
import type { ProjectStore } from '../store/projects.ts';
import { partOf } from '../store/subscription-keys.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';
import type { ShareCounts, ShareKey, Tally, TallyStore, Writer } from '../store/tallies.ts';
import { type ChunkTimes, chunkTimes, messagesOf, readChunk } from './chunk.ts';
import { addCounts, interruptedCounts, noCounts, storedResult } from './results.ts';

export interface ShareParts {
  readonly audiences: AudienceStore;
  readonly subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'correctPair'>;
  readonly projects: Pick<ProjectStore<SigningProject>, 'refresh'>;
  readonly tallies: TallyStore;
  readonly deliver: Deliver;
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** A signal that aborts after this many ms. */
  readonly abortAfter: (ms: number) => AbortSignal;
  readonly observe: ShareObserver;
}

/** What operators see of shares. */
export interface ShareObserver {
  /** A share has ended. */
  delivered(share: Share, outcome: ShareOutcome): void;
  /** Pushes of a chunk to one push service failed. */
  failed(share: Share, pushService: string, failures: Failures): void;
  /** Lambda refused to invoke deliver for this share, also after repetitions. */
  refused(share: Share): void;
  /** Counts could not be stored, also after repetitions. */
  recordFailed(share: Share, error: unknown): void;
}

export interface Invocation {
  /** Unique, also among the retries of one request. */
  readonly id: string;
  /** Epoch ms by which the function returns. */
  readonly endsAt: number;
}

export interface ShareOutcome {
  readonly result: ShareResult;
  /** Why the share ended before all its recipients were read, if a call failed. */
  readonly error?: unknown;
}

/**
 * Pushes a notification to one share of its audience, chunk by chunk. Before each chunk it records in the
 * share's first tally what it is about to push. If the function dies, its share can therefore be
 * resumed after that chunk, and no subscriber is pushed to twice.
 * @returns undefined if another invocation has the share.
 */
export async function deliverShare(
  parts: ShareParts,
  project: SigningProject,
  share: Share,
  invocation: Invocation,
): Promise<ShareOutcome | undefined> {
  const { audiences, subscriptions, tallies, deliver, clock, sleep, abortAfter } = parts;
  const { projectId, notificationId, firstTally, expiresAt } = share;
  const key: ShareKey = { projectId, notificationId, firstTally, expiresAt };
  const messages = messagesOf(share);
  let { vapid } = project;
  let position = share.from;
  let counts = noCounts;
  /** The invocation that the share's tally names, as far as known. */
  let claimedBy: string | undefined;
  /** Whether this invocation has tried to write that. */
  let mayHaveClaimed = false;
  let step = 0;
  let error: unknown;

  try {
    while (position < share.to) {
      const times = chunkTimes(share, invocation.endsAt, now());
      if (times === undefined) break;
      const signal = abortAfter(times.endAt - now());
      const [chunk] = await Promise.all([
        readChunk(audiences, share, position, signal).then(async (read) => {
          vapid = await pairsFor(read.recipients);
          return read;
        }),
        // Before the claim: a failure after it would leave a chunk that was not pushed as pending.
        claimedBy === undefined ? openTallies(signal) : undefined,
      ]);
      mayHaveClaimed = true;
      const started = await tallies.startChunk(
        key,
        {
          ...nextWrite(),
          until: times.endAt + limits.share.lastWritesMs,
          position: chunk.to,
          pending: chunk.recipients.length,
          counts,
        },
        signal,
      );
      if (started === 'started') {
        claimedBy = invocation.id;
        position = chunk.to;
        const report = await push(chunk.recipients, times, signal);
        counts = addCounts(addCounts(counts, report), { ...noCounts, unreached: chunk.unread });
      } else {
        if (started.ended === 'cancelled') return undefined;
        if (started.ended !== undefined) return { result: storedResult(started) };
        const isOver = share.deadline === undefined && (started.claim?.until ?? 0) < now();
        if (claimedBy !== undefined || !isOver) return undefined;
        // The invocation that had the share has died: continue after its last chunk.
        claimedBy = started.claim?.by;
        position = started.position;
        counts = interruptedCounts(started);
      }
    }
  } catch (caught) {
    error = caught;
  }

  const isComplete = position >= share.to;
  let isOver = isComplete || share.deadline !== undefined;
  if (mayHaveClaimed) {
    const ended = isComplete ? 'complete' : 'incomplete';
    const saved = await saveEnd({
      position,
      pending: 0,
      counts,
      ended: isOver ? ended : undefined,
    });
    const isOthers = saved === 'not_ours' && claimedBy !== invocation.id;
    if (isOthers && share.deadline !== undefined) return undefined;
    // Lambda's retry records the end.
    isOver &&= saved !== 'failed' || share.deadline !== undefined;
  }
  if (!isOver) throw error ?? new Error('The time is over; the next attempt continues the share.');
  const outcome = { result: { ...counts, isComplete }, error };
  parts.observe.delivered(share, outcome);
  return outcome;

  function now(): number {
    return clock().getTime();
  }

  function nextWrite(): Writer {
    step += 1;
    return { by: invocation.id, previous: claimedBy, step };
  }

  /** All but the first tally, which the claim creates. */
  async function openTallies(signal: AbortSignal): Promise<void> {
    const others = Array.from({ length: share.tallies - 1 }, (_, index) => firstTally + 1 + index);
    await Promise.all(others.map((tally) => tallies.open(key, tally, signal)));
  }

  /**
   * The project's key pairs. It is read again if a recipient has subscribed with a newer one: functions
   * remember a project for 30 s, and an asynchronous share may run for 15 minutes.
   */
  async function pairsFor(recipients: readonly Recipient[]): Promise<SigningProject['vapid']> {
    const newest = vapid.current.number;
    if (recipients.every(({ pair = 0 }) => pair <= newest)) return vapid;
    return (await parts.projects.refresh(projectId))?.vapid ?? vapid;
  }

  async function push(
    recipients: readonly Recipient[],
    times: ChunkTimes,
    signal: AbortSignal,
  ): Promise<ShareCounts> {
    const isCountedInParts = project.subscriberCounter === 'parts';
    const delivery = deliver({
      recipients,
      messages,
      options: share.content,
      vapid,
      ...times,
      pushesPerSecond: share.pushesPerSecond,
      // Transactions on the same counter conflict.
      removalGroup: ({ endpointHash }) => (isCountedInParts ? partOf(endpointHash) : 0),
      remove: async (gone, end) => {
        const hashes = gone.map(({ endpointHash }) => endpointHash);
        await subscriptions.removeBatch(project, hashes, end);
      },
      correctPair: ({ endpointHash }, pair, end) =>
        subscriptions.correctPair(projectId, endpointHash, pair, end),
      onFailures: (pushService, failures) => parts.observe.failed(share, pushService, failures),
    });
    let isDone = false;
    const done = delivery.done.finally(() => {
      isDone = true;
    });
    for (;;) {
      await Promise.race([done, sleep(limits.share.saveEveryMs)]);
      if (isDone || signal.aborted) return done;
      const soFar = delivery.soFar();
      const pending = recipients.length - soFar.attempted - soFar.unreached;
      const progress = { position, pending, counts: addCounts(counts, soFar) };
      // The next write replaces one that failed.
      await save(progress, signal).catch(() => {});
    }
  }

  /** Repeats the last write as long as there is time: without it the share counts as interrupted. */
  async function saveEnd(progress: Progress): Promise<Saved> {
    for (;;) {
      const signal = abortAfter(Math.max(0, invocation.endsAt - now()));
      try {
        return await save(progress, signal);
      } catch (failure) {
        if (now() + saveAgainMs >= invocation.endsAt) {
          parts.observe.recordFailed(share, failure);
          return 'failed';
        }
      }
      await sleep(saveAgainMs);
    }
  }

  async function save(progress: Progress, signal: AbortSignal): Promise<Saved> {
    return (await tallies.save(key, nextWrite(), progress, signal)) ? 'saved' : 'not_ours';
  }
}

/** `not_ours`: another invocation has the share. */
type Saved = 'saved' | 'not_ours' | 'failed';

type Progress = Pick<Tally, 'position' | 'pending' | 'counts' | 'ended'>;

/** Ms between two tries of a share's last write. */
const saveAgainMs = 500;
