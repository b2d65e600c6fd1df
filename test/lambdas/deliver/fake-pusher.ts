import type { Recipient } from '../../../contract/audience.ts';
import { addCounts, type Counts, noCounts } from '../../../contract/counts.ts';
import type { VapidPair, VapidPairs } from '../../../contract/project.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../../lambdas/push/pushing/pusher.ts';
import type { Chunk } from '../../fixtures/chunk.ts';

/** What becomes of a chunk. */
export interface FakeChunk {
  readonly done: Promise<Counts>;
  readonly soFar: () => Counts;
}

export type PushChunk = (chunk: Chunk) => FakeChunk;

/** Starts pushers that want the next chunk when the one before has ended. */
export function fakePusher(push: PushChunk): StartPushing {
  return (options) => new FakePusher(options, push);
}

class FakePusher implements Pusher {
  readonly #options: PusherOptions;
  readonly #push: PushChunk;
  readonly #chunks: FakeChunk[] = [];
  #isStopped = false;

  constructor(options: PusherOptions, push: PushChunk) {
    this.#options = options;
    this.#push = push;
  }

  add(recipients: readonly Recipient[], vapid: VapidPairs<VapidPair>): void {
    const { times, ...options } = this.#options;
    const { lastPushAt, endAt } = times;
    const chunk = this.#push({ recipients, vapid, lastPushAt, endAt, ...options });
    const index = this.#chunks.push(chunk) - 1;
    void chunk.done.then((report) => {
      this.#chunks[index] = { ...chunk, soFar: () => report };
      for (const one of recipients.slice(0, report.delivered)) options.onDelivered?.(one);
    });
  }

  async wantsMore(): Promise<boolean> {
    await this.#allDone();
    return !this.#isStopped;
  }

  async end(): Promise<Counts> {
    await this.#allDone();
    return this.soFar();
  }

  stop(): void {
    this.#isStopped = true;
  }

  soFar(): Counts {
    return this.#chunks.map(({ soFar }) => soFar()).reduce(addCounts, noCounts);
  }

  async #allDone(): Promise<void> {
    for (const { done } of this.#chunks) await done;
  }
}
