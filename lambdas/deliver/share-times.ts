import type { Share } from '../../contract/share.ts';
import { shareTimeline } from '../../contract/timeline.ts';
import type { PushTimes } from '../push/pushing/pusher.ts';

/**
 * When a share's work has to start and to end, in epoch ms. A caller who waits for the share gives a
 * deadline, and the share's claim lasts until then:
 *
 *     request                                      lastPushAt    endAt      claim ends
 *     ├── chunks are read, pushes and retries start ──┤─ pushes end ┤─ last write ┤
 *
 * Otherwise the claim lasts for a minute, and each write extends it, until the function's time is over:
 *
 *     write                            write fails …                  claim ends
 *     ├── saveEveryMs ──┤              ├────────────── claimMs ───────────┤
 *       pushes start                     pushes start        ┊ pushes end
 *                                              lastPushBeforeEndMs ───────┤
 */
export interface ShareTimes extends PushTimes {
  /** No further recipients are read from then on. */
  readonly lastChunkAt: number;
  /** By when the calls end that read a chunk and claim it. */
  chunkEndAt(now: number): number;
  /** Until when the share is claimed by a write. */
  claimUntil(now: number, isLast: boolean): number;
  /** A write has claimed the share until then. */
  claimed(until: number): void;
}

/** @param endsAt when the invocation returns. */
export function shareTimes({ deadline }: Pick<Share, 'deadline'>, endsAt: number): ShareTimes {
  return deadline === undefined ? new ExtendedTimes(endsAt) : awaitedTimes(deadline);
}

function awaitedTimes({ lastPushAt, endAt }: NonNullable<Share['deadline']>): ShareTimes {
  return {
    ...{ lastPushAt, lastRetryAt: lastPushAt, endAt, lastChunkAt: lastPushAt },
    chunkEndAt: () => endAt,
    claimUntil: () => endAt + shareTimeline.lastWritesMs,
    claimed: () => {},
  };
}

class ExtendedTimes implements ShareTimes {
  readonly #endsAt: number;
  #claimedUntil = 0;

  constructor(endsAt: number) {
    this.#endsAt = endsAt;
  }

  get lastPushAt(): number {
    return this.#lastsUntil - shareTimeline.lastPushBeforeEndMs;
  }

  get lastRetryAt(): number {
    return this.#endsAt - shareTimeline.lastPushBeforeEndMs;
  }

  get endAt(): number {
    return this.#lastsUntil - shareTimeline.lastWritesMs;
  }

  get lastChunkAt(): number {
    return this.#endsAt - shareTimeline.lastChunkBeforeEndMs;
  }

  chunkEndAt(now: number): number {
    return now + shareTimeline.claimMs;
  }

  claimUntil(now: number, isLast: boolean): number {
    return isLast ? now : now + shareTimeline.claimMs;
  }

  claimed(until: number): void {
    this.#claimedUntil = until;
  }

  get #lastsUntil(): number {
    return Math.min(this.#claimedUntil, this.#endsAt);
  }
}
