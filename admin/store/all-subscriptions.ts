import {
  type DynamoDBDocumentClient,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { expressionValues } from '../../lambdas/store/dynamo.ts';
import {
  type ErasureItem,
  erasedPart,
  partitionCount,
  projectPart,
  type SubscriptionItem,
} from '../../lambdas/store/items.ts';
import {
  earlierPair,
  type SubscriptionStore,
  type Unwanted,
  unwantedCondition,
} from '../../lambdas/store/subscriptions.ts';

/** All subscriptions of a project, as the operator's command reads and removes them. */

type Selection = Pick<
  QueryCommandInput,
  'ProjectionExpression' | 'FilterExpression' | 'ExpressionAttributeValues'
>;

/**
 * Reads the subscriptions of a project, page by page, in the order of the hashes of their endpoints: two reads of
 * the same subscriptions are equal. A subscription that is stored during the whole read is in it.
 * @param selection of attributes and items. Default: all.
 * @param onRead gets how many were read for a page, selected or not.
 */
export function subscriptionPages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  project: ProjectRef,
  selection: Selection = {},
  onRead: (subscriptions: number) => void = () => {},
): AsyncGenerator<readonly SubscriptionItem[]> {
  const partitions = Array.from({ length: partitionCount }, (_, part) =>
    projectPart(project, part),
  );
  return pagesIn(dynamo, table, partitions, selection, onRead);
}

/** Reads the hashes of a project's endpoints that were erased, page by page. */
export function erasurePages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  project: ProjectRef,
): AsyncGenerator<readonly ErasureItem[]> {
  const partitions = Array.from({ length: partitionCount }, (_, part) => erasedPart(project, part));
  return pagesIn(dynamo, table, partitions);
}

async function* pagesIn<Item>(
  dynamo: DynamoDBDocumentClient,
  table: string,
  partitions: readonly string[],
  selection: Selection = {},
  onRead: (items: number) => void = () => {},
): AsyncGenerator<readonly Item[]> {
  for (const partition of partitions) {
    const pages = paginateQuery(
      { client: dynamo },
      {
        ...selection,
        TableName: table,
        KeyConditionExpression: 'projectPart = :part',
        ExpressionAttributeValues: { ':part': partition, ...selection.ExpressionAttributeValues },
        ConsistentRead: true,
      },
    );
    for await (const { Items = [], ScannedCount = 0 } of pages) {
      onRead(ScannedCount);
      yield Items as Item[];
    }
  }
}

export interface RemovalDependencies<Method extends keyof SubscriptionStore> {
  readonly dynamo: DynamoDBDocumentClient;
  /** Name of the table Subscriptions. */
  readonly table: string;
  readonly subscriptions: Pick<SubscriptionStore, Method>;
}

/**
 * Removes unwanted subscriptions of a project. Removals and counters change in the same transactions: if it is
 * interrupted, the same call again removes the rest.
 * @param dryRun only counts what would be removed.
 * @returns how many were read and removed, and read and kept.
 */
export async function pruneSubscriptions(
  { dynamo, table, subscriptions }: RemovalDependencies<'removeUnwanted'>,
  project: ProjectRef,
  unwanted: Unwanted,
  dryRun: boolean,
  onProgress: (read: number) => void = () => {},
) {
  let [removed, read] = [0, 0];
  const { expression, values } = unwantedCondition(unwanted);
  const selection = {
    ProjectionExpression: 'endpointHash',
    FilterExpression: expression,
    ExpressionAttributeValues: expressionValues(values),
  };
  const pages = subscriptionPages(dynamo, table, project, selection, (subscriptions) => {
    read += subscriptions;
  });
  for await (const items of pages) {
    if (dryRun) removed += items.length;
    for (let at = 0; !dryRun && at < items.length; at += sliceSizes.removalBatch) {
      const batch = items.slice(at, at + sliceSizes.removalBatch);
      const hashes = batch.map(({ endpointHash }) => endpointHash);
      removed += await subscriptions.removeUnwanted(project, unwanted, hashes);
    }
    onProgress(read);
  }
  return { removed, kept: read - removed };
}

/** The endpoint hashes of the subscriptions that use an earlier VAPID pair, page by page. Reads all subscriptions. */
export async function* hashesOfEarlierPairs(
  dynamo: DynamoDBDocumentClient,
  table: string,
  project: ProjectRef,
  currentPair: number,
): AsyncGenerator<readonly Uint8Array[]> {
  const pages = subscriptionPages(dynamo, table, project, {
    ProjectionExpression: 'endpointHash',
    FilterExpression: earlierPair(currentPair),
    ExpressionAttributeValues: { ':current': currentPair },
  });
  for await (const items of pages) yield items.map(({ endpointHash }) => endpointHash);
}

/**
 * Removes the subscriptions that use an earlier VAPID pair, and their counts. If it is interrupted, the same call again
 * removes the rest.
 * @returns how many it has removed.
 */
export async function removeAllOfEarlierPairs(
  { dynamo, table, subscriptions }: RemovalDependencies<'removeOfEarlierPairs'>,
  project: ProjectRef,
  currentPair: number,
  onProgress: (removed: number) => void = () => {},
): Promise<number> {
  let removed = 0;
  for await (const hashes of hashesOfEarlierPairs(dynamo, table, project, currentPair)) {
    for (let at = 0; at < hashes.length; at += sliceSizes.removalBatch) {
      const batch = hashes.slice(at, at + sliceSizes.removalBatch);
      removed += await subscriptions.removeOfEarlierPairs(project, currentPair, batch);
      onProgress(removed);
    }
  }
  return removed;
}
