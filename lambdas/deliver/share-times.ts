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
  /** The share was not stopped yet at this time. */
  notStopped(at: number): void;
}

/** @param endsAt when the invocation returns. */
export function shareTimes({ deadline }: Pick<Share, 'deadline'>, endsAt: number): ShareTimes {
  return deadline === undefined ? new ExtendedTimes(endsAt) : new AwaitedTimes(deadline);
}

/** What both have in common. */
class StoppableTimes {
  pausesAt = 0;

  notStopped(at: number): void {
    this.pausesAt = at + shareTimeline.pushAfterWriteMs;
  }
}

class AwaitedTimes extends StoppableTimes implements ShareTimes {
  readonly lastPushAt: number;
  readonly endAt: number;

  constructor({ lastPushAt, endAt }: NonNullable<Share['deadline']>) {
    super();
    this.lastPushAt = lastPushAt;
    this.endAt = endAt;
  }

  get lastRetryAt(): number {
    return this.lastPushAt;
  }

  get lastChunkAt(): number {
    return this.lastPushAt;
  }

  chunkEndAt(): number {
    return this.endAt;
  }

  claimUntil(): number {
    return this.endAt + shareTimeline.lastWritesMs;
  }

  claimed(): void {}
}

class ExtendedTimes extends StoppableTimes implements ShareTimes {
  readonly #endsAt: number;
  #claimedUntil = 0;

  constructor(endsAt: number) {
    super();
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
