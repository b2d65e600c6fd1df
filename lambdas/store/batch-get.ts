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
/** Ms before keys that DynamoDB has left out are asked for again: doubled each time, up to the most. */
const firstWaitMs = 50;
const longestWaitMs = 1000;

/** Waits some ms; rejects when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<unknown>;

/**
 * Reads items of one table by their keys, strongly consistent, with one call for every 100 keys at the same time.
 * @returns them in no particular order, without those that do not exist.
 */
export async function batchGet<Read extends object>(
  dynamo: DynamoDBDocumentClient,
  table: string,
  keys: readonly Item[],
  signal?: AbortSignal,
  wait: Sleep = (ms, signal) => sleep(ms, undefined, { signal }),
): Promise<Read[]> {
  const batches: Item[][] = [];
  for (let start = 0; start < keys.length; start += batchSize) {
    batches.push(keys.slice(start, start + batchSize));
  }
  const found = await Promise.all(batches.map(readBatch));
  return found.flat() as Read[];

  async function readBatch(batch: readonly Item[]): Promise<Item[]> {
    const items: Item[] = [];
    let left: Item[] | undefined = [...batch];
    for (let waitMs = firstWaitMs; left !== undefined && left.length > 0; ) {
      const { Responses, UnprocessedKeys }: BatchGetCommandOutput = await dynamo.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }),
        { abortSignal: signal },
      );
      items.push(...(Responses?.[table] ?? []));
      left = UnprocessedKeys?.[table]?.Keys;
      if (left === undefined || left.length === 0) break;
      await wait(waitMs, signal).catch((cause) => {
        throw unavailable(cause);
      });
      waitMs = Math.min(longestWaitMs, 2 * waitMs);
    }
    return items;
  }
}
