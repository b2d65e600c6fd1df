import {
  type DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { byUserIndex, type SubscriptionItem } from './items.ts';
import { removalBatch, removeCounted, type SubscriptionTables } from './subscriptions.ts';

/** What a push needs of a subscription. */
export type Recipient = Pick<SubscriptionItem, 'endpointHash' | 'endpoint' | 'p256dh' | 'auth'>;

/** Subscriptions to push to, page by page; the next page is read while one is used. */
export interface Audience {
  pages(options?: PageOptions): AsyncIterable<readonly Recipient[]>;
  readonly ordered: boolean;
}

export interface PageOptions {
  /** Where an ordered audience starts: the endpoint hash of the first one wanted. */
  readonly from?: string | undefined;
  /** Gives up reading. */
  readonly signal?: AbortSignal | undefined;
}

export interface AudienceStore {
  /** Every subscriber of a project, in the order of the endpoint hashes. */
  everyone(projectId: string): Audience;

  /**
   * The subscribers with one of these user ids. Read from an index that follows the table within
   * moments: a subscription of the last second may be missed.
   */
  users(projectId: string, userIds: readonly string[]): Audience;

  /** Deletes subscriptions that their push service called gone; those already absent are passed over. */
  removeGone(
    projectId: string,
    endpointHashes: readonly string[],
    signal?: AbortSignal,
  ): Promise<void>;
}

/** Recipients a page. DynamoDB's own bound of 1 MB would be some 3,000, unmarshalled at a stretch. */
const pageSize = 1000;
/** Where the hashes begin: a key is never empty, and no hexadecimal digit is below this one. */
const first = '0';
/** Users looked up at once. */
const usersAhead = 16;

export function audienceStore(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
): AudienceStore {
  return {
    everyone(projectId) {
      return {
        ordered: true,
        pages: ({ from = first, signal } = {}) =>
          pages(
            {
              KeyConditionExpression: 'projectId = :projectId AND endpointHash >= :from',
              ExpressionAttributeValues: { ':projectId': projectId, ':from': from },
              // Whoever subscribed before a broadcast is in it.
              ConsistentRead: true,
            },
            signal,
          ),
      };
    },

    users(projectId, userIds) {
      return { ordered: false, pages: ({ signal } = {}) => lookUpAll(projectId, userIds, signal) };
    },

    async removeGone(projectId, endpointHashes, signal) {
      for (let start = 0; start < endpointHashes.length; start += removalBatch) {
        const batch = endpointHashes.slice(start, start + removalBatch);
        await removeCounted(dynamo, tables, projectId, batch, signal);
      }
    },
  };

  async function* lookUpAll(
    projectId: string,
    userIds: readonly string[],
    signal: AbortSignal | undefined,
  ) {
    const started: Lookup[] = [];
    const waiting = userIds.values();
    for (;;) {
      while (started.length < usersAhead) {
        const { value: userId, done } = waiting.next();
        if (done) break;
        started.push(lookUp(projectId, userId, signal));
      }
      const lookup = started.shift();
      if (lookup === undefined) return;
      for (let page = await lookup.first; !page.done; page = await lookup.pages.next()) {
        yield page.value;
      }
    }
  }

  function lookUp(projectId: string, userId: string, signal: AbortSignal | undefined): Lookup {
    const found = pages(
      {
        IndexName: byUserIndex,
        KeyConditionExpression: 'projectId = :projectId AND userId = :userId',
        ExpressionAttributeValues: { ':projectId': projectId, ':userId': userId },
      },
      signal,
    );
    return { pages: found, first: ahead(found.next()) };
  }

  async function* pages(
    query: Omit<QueryCommandInput, 'TableName'>,
    abortSignal: AbortSignal | undefined,
  ): AsyncGenerator<readonly Recipient[], void> {
    const read = (ExclusiveStartKey?: Record<string, unknown>): Promise<QueryCommandOutput> =>
      ahead(
        dynamo.send(
          new QueryCommand({
            ...query,
            TableName: tables.subscriptions,
            ProjectionExpression: 'endpointHash, endpoint, p256dh, #auth',
            ExpressionAttributeNames: { '#auth': 'auth' },
            Limit: pageSize,
            ExclusiveStartKey,
          }),
          { abortSignal },
        ),
      );
    let next: Promise<QueryCommandOutput> | undefined = read();
    while (next !== undefined) {
      const { Items = [], LastEvaluatedKey }: QueryCommandOutput = await next;
      next = LastEvaluatedKey && read(LastEvaluatedKey);
      if (Items.length > 0) yield Items as Recipient[];
    }
  }
}

interface Lookup {
  readonly pages: AsyncGenerator<readonly Recipient[], void>;
  readonly first: Promise<IteratorResult<readonly Recipient[], void>>;
}

/** Marks a promise as awaited later: should it fail before, that is no unhandled rejection. */
function ahead<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
