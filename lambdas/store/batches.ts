import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { unavailable } from './dynamo.ts';

type Item = Record<string, unknown>;

/** Keys of one BatchGetItem: its maximum. */
const batchSize = 100;

/**
 * Reads items of one table by their keys, strongly consistent, with one call for every 100 keys at the same time.
 * @param ProjectionExpression of their attributes. Default: all.
 * @returns them in no particular order, without those that do not exist.
 */
export async function batchGet<Read extends object>(
  dynamo: DynamoDBDocumentClient,
  table: string,
  keys: readonly Item[],
  signal?: AbortSignal,
  wait?: Sleep,
  ProjectionExpression?: string,
): Promise<Read[]> {
  const batches: Item[][] = [];
  for (let start = 0; start < keys.length; start += batchSize) {
    batches.push(keys.slice(start, start + batchSize));
  }
  const found = await Promise.all(batches.map(readBatch));
  return found.flat() as Read[];

  async function readBatch(batch: readonly Item[]): Promise<Item[]> {
    const items: Item[] = [];
    const read = async (Keys: readonly Item[]) => {
      const { Responses, UnprocessedKeys }: BatchGetCommandOutput = await dynamo.send(
        new BatchGetCommand({
          RequestItems: {
            [table]: { Keys: [...Keys], ConsistentRead: true, ProjectionExpression },
          },
        }),
        { abortSignal: signal },
      );
      items.push(...(Responses?.[table] ?? []));
      return UnprocessedKeys?.[table]?.Keys;
    };
    try {
      await sendAll(batch, read, wait, signal);
    } catch (error) {
      // The wait has ended with the signal.
      throw signal?.aborted ? unavailable(error) : error;
    }
    return items;
  }
}

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
