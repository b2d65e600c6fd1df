import {
  type DynamoDBDocumentClient,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Recipient } from '../../contract/audience.ts';
import { byUserIndex } from './items.ts';
import { hashRanges, projectPart, projectUser } from './subscription-keys.ts';

export interface AudienceStore {
  /**
   * Reads the subscribers of a project whose endpoint hashes are in a range of positions: the first 32
   * bits of the hash, from `from` to before `to`. All of them are read before it returns.
   */
  everyone(projectId: string, range: Range, options: ReadOptions): Promise<Read>;

  /**
   * Reads the subscribers with one of the user ids in a range of positions: indexes from `from` to
   * before `to`. The index of the table is updated after the table: a subscription made within the last
   * second may be missing.
   */
  users(
    projectId: string,
    userIds: readonly string[],
    range: Range,
    options: ReadOptions,
  ): Promise<Read>;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ReadOptions extends Conditions {
  /** Reading stops when there are more recipients than this. */
  readonly limit: number;
  /** Whether every write that has ended before is seen. It costs twice as much. */
  readonly consistent: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Which subscriptions are read. All conditions that are given hold. */
export interface Conditions {
  /** They have any of these. */
  readonly channels?: readonly string[] | undefined;
  /** Their last subscribe request is not earlier: epoch ms. */
  readonly seenSince?: number | undefined;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The time of `seenWithinDays`: a browser may confirm its subscription only once a day. */
export function seenSince(now: Date, seenWithinDays: number): number {
  return now.getTime() - (seenWithinDays + 1) * dayMs;
}

export interface Read {
  readonly recipients: readonly Recipient[];
  /** Whether the limit stopped the reading. */
  readonly isCut: boolean;
}

/** Queries that run at once. */
const concurrency = 16;

export function audienceStore(dynamo: DynamoDBDocumentClient, table: string): AudienceStore {
  return {
    everyone(projectId, { from, to }, options) {
      const queries = hashRanges(from, to).map(({ part, first, last }) => ({
        KeyConditionExpression: 'projectPart = :part AND endpointHash BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':part': projectPart(projectId, part),
          ':first': first,
          ':last': last,
        },
        ConsistentRead: options.consistent,
      }));
      return readAll(queries, options);
    },

    async users(projectId, userIds, { from, to }, options) {
      const queries = userIds.slice(from, to).map((userId, index) => ({
        user: from + index,
        IndexName: byUserIndex,
        KeyConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(projectId, userId) },
      }));
      const { recipients, isCut } = await readAll(queries, options);
      return { recipients: unique(recipients), isCut };
    },
  };

  async function readAll(queries: readonly Query[], options: ReadOptions): Promise<Read> {
    const { limit } = options;
    const recipients: Recipient[] = [];
    const waiting = queries.values();
    const readNext = async () => {
      for (const { user, ...query } of waiting) {
        for await (const { Items = [] } of pages(query, options)) {
          const found = Items as Recipient[];
          recipients.push(...(user === undefined ? found : found.map((one) => ({ ...one, user }))));
          if (recipients.length > limit) return;
        }
        if (recipients.length > limit) return;
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, queries.length) }, readNext));
    const isCut = recipients.length > limit;
    return { recipients: isCut ? recipients.slice(0, limit) : recipients, isCut };
  }

  function pages(query: Omit<Query, 'user'>, { signal: abortSignal, ...conditions }: ReadOptions) {
    const { ExpressionAttributeValues, ...filter } = filterOf(conditions);
    return paginateQuery(
      { client: dynamo },
      {
        ...query,
        ...filter,
        ExpressionAttributeValues: {
          ...query.ExpressionAttributeValues,
          ...ExpressionAttributeValues,
        },
        TableName: table,
        ProjectionExpression: 'endpointHash, origin, #path, p256dh, #auth, vapidPairNumber',
        ExpressionAttributeNames: { '#path': 'path', '#auth': 'auth' },
      },
      { abortSignal },
    );
  }
}

/** DynamoDB applies it to the items that it has read: it saves transfer and memory, and no read units. */
function filterOf({ channels = [], seenSince }: Conditions) {
  const anyChannel = channels.map((_, index) => `contains(channels, :channel${index})`);
  const filters = [
    ...(channels.length > 0 ? [`(${anyChannel.join(' OR ')})`] : []),
    ...(seenSince === undefined ? [] : ['updatedAt >= :seenSince']),
  ];
  if (filters.length === 0) return {};
  const values = channels.map((channel, index) => [`:channel${index}`, channel] as const);
  return {
    FilterExpression: filters.join(' AND '),
    ExpressionAttributeValues: {
      ...Object.fromEntries(values),
      ...(seenSince !== undefined && { ':seenSince': seenSince }),
    },
  };
}

interface Query extends Omit<QueryCommandInput, 'TableName'> {
  /** See {@link Recipient}. */
  readonly user?: number;
}

/** A subscription that passes from one user to another during the reading may be read twice. */
function unique(recipients: readonly Recipient[]): readonly Recipient[] {
  const byHash = new Map<string, Recipient>();
  for (const recipient of recipients) {
    byHash.set(Buffer.from(recipient.endpointHash).toString('latin1'), recipient);
  }
  return [...byHash.values()];
}
