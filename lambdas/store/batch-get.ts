import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { unavailable } from './dynamo.ts';
import { type Sleep, sendAll } from './unprocessed.ts';

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
