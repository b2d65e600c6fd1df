import { type DynamoDBDocumentClient, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { sliceSizes } from '../../contract/slice-sizes.ts';
import { byUserIndex, type SubscriptionItem } from './items.ts';
import { projectUser } from './subscription-keys.ts';
import type { SubscriptionStore } from './subscriptions.ts';

export type UserSubscription = Pick<
  SubscriptionItem,
  'origin' | 'path' | 'createdAt' | 'updatedAt'
>;

type HashPages = AsyncIterable<readonly Uint8Array[]>;

/**
 * The subscriptions of one user id, by the index. It is updated after the table: a subscription that was
 * made, removed or given to another user within the last second may be missing, or be read as before.
 */
export function userSubscriptions(dynamo: DynamoDBDocumentClient, table: string) {
  return {
    async list(
      project: ProjectRef,
      userId: string,
      signal?: AbortSignal,
    ): Promise<readonly UserSubscription[]> {
      const found: UserSubscription[] = [];
      const reading = pages(project, userId, ['origin', 'path', 'createdAt', 'updatedAt'], signal);
      for await (const { Items = [] } of reading) found.push(...(Items as UserSubscription[]));
      return found;
    },

    /** Reads the endpoint hashes page by page: the first page now, the others when they are needed. */
    async endpointHashes(
      project: ProjectRef,
      userId: string,
      signal?: AbortSignal,
    ): Promise<HashPages> {
      const reading = pages(project, userId, ['endpointHash'], signal);
      const first = await reading.next();
      return (async function* () {
        for (let page = first; !page.done; page = await reading.next()) {
          const { Items = [] } = page.value;
          yield (Items as SubscriptionItem[]).map(({ endpointHash }) => endpointHash);
        }
      })();
    },
  };

  function pages(
    project: ProjectRef,
    userId: string,
    attributes: readonly (keyof SubscriptionItem)[],
    abortSignal: AbortSignal | undefined,
  ) {
    return paginateQuery(
      { client: dynamo },
      {
        TableName: table,
        IndexName: byUserIndex,
        KeyConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(project, userId) },
        ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
      },
      { abortSignal },
    );
  }
}

/**
 * Removes the subscriptions that were found, and their counts, batch by batch. After a failure, a second
 * search and removal remove the rest.
 * @returns how many it has removed.
 */
export async function removeFound(
  removals: Pick<SubscriptionStore, 'removeOfUser'>,
  project: ProjectRef,
  userId: string,
  found: HashPages | Iterable<readonly Uint8Array[]>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const hashes of found) {
    for (let start = 0; start < hashes.length; start += sliceSizes.removalBatch) {
      const batch = hashes.slice(start, start + sliceSizes.removalBatch);
      removed += await removals.removeOfUser(project, userId, batch, signal);
    }
  }
  return removed;
}
