import {
  type DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import type { Audience, Recipient } from '../../contract/audience.ts';
import { limits } from '../../contract/limits.ts';
import { byUserIndex, type SubscriptionItem } from './items.ts';
import { removeCounted, type SubscriptionTables } from './subscriptions.ts';

export interface AudienceStore {
  /** Every subscriber of a project, in the order of the endpoint hashes. */
  everyone(projectId: string): Audience;

  /**
   * The subscribers with one of these user ids. The index is updated after the table: a subscription
   * made within the last second may be missing.
   */
  users(projectId: string, userIds: readonly string[]): Audience;

  /** Deletes subscriptions that their push service reported as gone. Missing ones are ignored. */
  removeGone(
    projectId: string,
    endpointHashes: readonly string[],
    signal?: AbortSignal,
  ): Promise<void>;
}

/** Recipients per page. DynamoDB's pages of 1 MB hold about 3,000, which would be unmarshalled at once. */
const pageSizeItems = 1000;
/** Not greater than any endpoint hash: keys are not empty, and this is the lowest hex digit. */
const first = '0';
/** Users that are looked up at once. */
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
              // A broadcast reaches everyone who subscribed before it.
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
      for (let start = 0; start < endpointHashes.length; start += limits.removalBatch) {
        const batch = endpointHashes.slice(start, start + limits.removalBatch);
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
            Limit: pageSizeItems,
            ExclusiveStartKey,
          }),
          { abortSignal },
        ),
      );
    let next: Promise<QueryCommandOutput> | undefined = read();
    while (next !== undefined) {
      const { Items = [], LastEvaluatedKey }: QueryCommandOutput = await next;
      next = LastEvaluatedKey && read(LastEvaluatedKey);
      if (Items.length > 0) yield (Items as StoredRecipient[]).map(recipientOf);
    }
  }
}

type StoredRecipient = Pick<SubscriptionItem, 'endpointHash' | 'endpoint' | 'p256dh' | 'auth'>;

function recipientOf({ endpointHash, endpoint, p256dh, auth }: StoredRecipient): Recipient {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)?(.*)$/s.exec(endpoint)!;
  return {
    endpointHash: Buffer.from(endpointHash, 'hex'),
    origin,
    path,
    p256dh: Buffer.from(p256dh, 'base64url'),
    auth: Buffer.from(auth, 'base64url'),
  };
}

interface Lookup {
  readonly pages: AsyncGenerator<readonly Recipient[], void>;
  readonly first: Promise<IteratorResult<readonly Recipient[], void>>;
}

/** Keeps a promise that is awaited later from being an unhandled rejection. */
function ahead<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
