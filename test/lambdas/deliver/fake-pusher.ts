import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import { addCounts, type Counts, noCounts } from '../../../contract/wire/counts.ts';
import type { VapidPair, VapidPairs } from '../../../contract/wire/project.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../../lambdas/push/pushing/pusher.ts';

/** Recipients that were added at once, and how they are pushed to. */
export interface AddedChunk extends PusherOptions {
  readonly recipients: readonly Recipient[];
  readonly vapid: VapidPairs<VapidPair>;
  readonly readAt: number;
}

/** What becomes of a chunk. */
export interface FakeChunk {
  readonly done: Promise<Counts>;
  readonly soFar: () => Counts;
}

export type PushChunk = (chunk: AddedChunk) => FakeChunk;

/**
 * Starts pushers that want the next chunk when the one before has ended. As many of the last recipients of a chunk as are
 * unreached were not taken. @param onStop is called when it is stopped.
 */
export function fakePusher(push: PushChunk, onStop = () => {}): StartPushing {
  return (options) => {
    const chunks: FakeChunk[] = [];
    const untaken = new Map<string, readonly Recipient[]>();
    let isStopped = false;
    const soFar = () => chunks.map((chunk) => chunk.soFar()).reduce(addCounts, noCounts);
    const allDone = async () => {
      for (const { done } of chunks) await done;
    };
    const pusher: Pusher = {
      add(recipients, vapid, readAt) {
        const chunk = push(Object.assign(Object.create(options), { recipients, vapid, readAt }));
        const index = chunks.push(chunk) - 1;
        void chunk.done.then((counts) => {
          chunks[index] = { ...chunk, soFar: () => ({ ...counts, unreached: 0 }) };
          for (const one of recipients.slice(recipients.length - counts.unreached)) {
            const name = options.classOf(one.origin);
            untaken.set(name, [...(untaken.get(name) ?? []), one]);
          }
          for (const one of recipients.slice(0, counts.delivered)) options.onDelivered?.(one);
        });
      },
      get hasRoom() {
        return false;
      },
      wantsMore: allDone,
      async end() {
        await allDone();
        return untaken;
      },
      stop() {
        if (!isStopped) onStop();
        isStopped = true;
      },
      soFar,
      unjudged: 0,
    };
    return pusher;
  };
}
