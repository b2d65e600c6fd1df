import { setTimeout as sleep } from 'node:timers/promises';

/** Waits some ms; rejects when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<unknown>;

/** Ms before what DynamoDB has left unprocessed is sent again: doubled each time, up to the most. */
const firstWaitMs = 50;
const longestWaitMs = 1000;

const pause: Sleep = (ms, signal) => sleep(ms, undefined, { signal });

/**
 * Sends a batch, and what DynamoDB leaves unprocessed of it, until nothing is left. A table that is throttled leaves
 * out a part of a batch, and would leave out the rest at once.
 * @param send returns what is left.
 */
export async function sendAll<Entry>(
  batch: readonly Entry[],
  send: (left: readonly Entry[]) => Promise<readonly Entry[] | undefined>,
  wait: Sleep = pause,
  signal?: AbortSignal,
): Promise<void> {
  let left = batch;
  for (let waitMs = firstWaitMs; left.length > 0; waitMs = Math.min(longestWaitMs, 2 * waitMs)) {
    left = (await send(left)) ?? [];
    if (left.length > 0) await wait(waitMs, signal);
  }
}
