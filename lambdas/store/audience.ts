import { setMaxListeners } from 'node:events';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../contract/infrastructure/slice.ts';
import { byUser } from '../../contract/infrastructure/tables.ts';
import type { Conditions } from '../../contract/wire/content.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { type AudienceCounts, countedDays } from '../../contract/wire/project-result.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';
import { batchGet, type Projection, projection, type Sleep } from './dynamo.ts';
import {
  hashRanges,
  partCount,
  positionOf,
  projectPart,
  projectUser,
  type SubscriptionItem,
  subscriptionKey,
} from './items.ts';
import type { SubscriptionStore } from './subscriptions.ts';

export type AudienceStore = ReturnType<typeof audienceStore>;

/** Positions from `from` to before `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ReadOptions {
  /** Reading stops when there are more recipients than this. */
  readonly limit: number;
  /** Whether every write that has ended before is seen. It costs twice as much. */
  readonly consistent: boolean;
  /** Only subscriptions that meet them. */
  readonly conditions: Conditions;
  /** When the notification was sent: epoch ms. */
  readonly sentAt: number;
  readonly signal?: AbortSignal | undefined;
}

/** The recipients of a range, or those at its beginning if they are more than the limit. */
export interface Read {
  readonly recipients: readonly Recipient[];
  /** All recipients before this position were read, except for those in `unread`. */
  readonly to: number;
  /** At least this many recipients were left out: only of a single position that has more than the limit. */
  readonly unread: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The time of `seenWithinDays`: a browser may confirm its subscription only once a day. Epoch ms. */
export function seenSince(now: number, seenWithinDays: number): number {
  return now - (seenWithinDays + 1) * dayMs;
}

const recipient = projection<Omit<Recipient, 'user'>>({
  ...{ endpointHash: true, origin: true, path: true, p256dh: true, auth: true },
  ...{ vapidPairNumber: true, imported: true },
});

const owner = projection<Pick<SubscriptionItem, 'endpointHash' | 'projectUser'>>({
  endpointHash: true,
  projectUser: true,
});

/** Queries that run at once. */
const concurrency = 16;

interface Query extends Pick<QueryCommandInput, 'IndexName' | 'ConsistentRead'>, Range {
  readonly KeyConditionExpression: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, unknown>>;
  /** Index of its user. */
  readonly user?: number;
}

/** What a query has read so far. */
interface Progress {
  readonly query: Query;
  readonly found: Recipient[];
  /** All of its recipients before this position are in `found`. */
  readTo: number;
}

export function audienceStore(dynamo: DynamoDBDocumentClient, table: string, sleep?: Sleep) {
  return {
    /** Reads the subscribers of a project whose endpoint hashes are in a range of positions. */
    everyone(project: ProjectRef, range: Range, options: ReadOptions): Promise<Read> {
      const queries = hashRanges(range.from, range.to).map(({ part, first, last }) => ({
        KeyConditionExpression: 'projectPart = :part AND endpointHash BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':part': projectPart(project, part),
          ':first': first,
          ':last': last,
        },
        ConsistentRead: options.consistent,
        from: positionOf(first),
        to: positionOf(last) + 1,
      }));
      return read(queries, range, options);
    },

    /**
     * Reads the subscribers with one of the user ids in a range of positions, which are their indexes. The index of the
     * table is updated after the table: a subscription made within the last second may be missing. None is of another
     * user by now, however late the index is.
     */
    async users(
      project: ProjectRef,
      userIds: readonly string[],
      range: Range,
      options: ReadOptions,
    ): Promise<Read> {
      const queries = userIds.slice(range.from, range.to).map((userId, index) => ({
        user: range.from + index,
        IndexName: byUser.name,
        KeyConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(project, userId) },
        from: range.from + index,
        to: range.from + index + 1,
      }));
      const { recipients, ...rest } = await read(queries, range, options);
      return { ...rest, recipients: await stillTheirs(project, userIds, recipients, options) };
    },

    /** Whether a subscription is that of a user at the time of the call. */
    async isOf(
      project: ProjectRef,
      userId: string,
      endpointHash: Uint8Array,
      abortSignal?: AbortSignal,
    ): Promise<boolean> {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: table,
          Key: subscriptionKey(project, endpointHash),
          ProjectionExpression: 'projectUser',
          ConsistentRead: true,
        }),
        { abortSignal },
      );
      return Item?.projectUser === projectUser(project, userId);
    },
  };

  /** Recipients who still belong to the user for whom the index has them. */
  async function stillTheirs(
    project: ProjectRef,
    userIds: readonly string[],
    recipients: readonly Recipient[],
    { signal }: ReadOptions,
  ): Promise<readonly Recipient[]> {
    // The index may have one for two users.
    const keys = new Map(
      recipients.map(({ endpointHash }) => [
        hex(endpointHash),
        subscriptionKey(project, endpointHash),
      ]),
    );
    const owned = await batchGet(dynamo, table, [...keys.values()], signal, sleep, owner);
    const ownerOf = new Map(owned.map((item) => [hex(item.endpointHash), item.projectUser]));
    return recipients.filter(
      ({ endpointHash, user }) =>
        ownerOf.get(hex(endpointHash)) === projectUser(project, userIds[user!]!),
    );
  }

  /**
   * If one query fails, so does the reading, when all others have ended.
   * @param queries in the order of their positions, which together are those of the range.
   */
  async function read(
    queries: readonly Query[],
    { from, to }: Range,
    options: ReadOptions,
  ): Promise<Read> {
    const { limit } = options;
    const all = queries.map((query): Progress => ({ query, found: [], readTo: query.from }));
    const waiting = all.values();
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])]);
    // Node warns of more than 10 listeners.
    setMaxListeners(0, signal);
    let number = 0;
    const readNext = async () => {
      for (const progress of waiting) {
        signal.throwIfAborted();
        const { query, found } = progress;
        for await (const page of pages(query, { ...options, signal })) {
          const { Items = [], LastEvaluatedKey } = page;
          for (const item of Items as Recipient[]) {
            found.push(query.user === undefined ? item : { ...item, user: query.user });
          }
          number += Items.length;
          progress.readTo = LastEvaluatedKey === undefined ? query.to : readTo(progress);
          // The first position is read to its end, or until it has too many alone.
          const isFirst = progress === all[0] && progress.readTo === from;
          if (number > limit && !(isFirst && found.length <= limit)) return;
        }
      }
    };
    const reading = Array.from({ length: Math.min(concurrency, queries.length) }, readNext);
    await Promise.all(reading).catch(async (error: unknown) => {
      failed.abort(error);
      await Promise.allSettled(reading);
      throw error;
    });
    if (number <= limit) return { recipients: all.flatMap(({ found }) => found), to, unread: 0 };
    const end = all.find(({ query, readTo }) => readTo < query.to)?.readTo ?? to;
    const before = (bound: number) =>
      all.flatMap(({ query, found }) => found.filter((one) => positionIn(query, one) < bound));
    if (end > from) return { recipients: before(end), to: end, unread: 0 };
    return { recipients: before(from + 1).slice(0, limit), to: from + 1, unread: 1 };
  }

  function pages({ user: _, from: __, to: ___, ...query }: Query, options: ReadOptions) {
    const { conditions, sentAt, signal: abortSignal } = options;
    const { ExpressionAttributeValues, ...filter } = filterOf(conditions, sentAt);
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
        ...recipient,
      },
      { abortSignal },
    );
  }
}

function positionIn({ user }: Query, { endpointHash }: Recipient): number {
  return user ?? positionOf(endpointHash);
}

/** Further recipients of the last position may be on the next page. */
function readTo({ query, found, readTo: before }: Progress): number {
  const last = found.at(-1);
  return last === undefined ? before : positionIn(query, last);
}

type Filter = (
  given: never,
  sentAt: number,
) => {
  readonly expression: string;
  readonly values: Readonly<Record<string, unknown>>;
};

/** For each condition: the filter of the items that meet it. */
const filters = {
  channels: (channels: readonly string[]) => ({
    expression: `(${channels.map((_, index) => `contains(channels, :channel${index})`).join(' OR ')})`,
    values: Object.fromEntries(channels.map((channel, index) => [`:channel${index}`, channel])),
  }),
  seenWithinDays: (days: number, sentAt: number) => ({
    expression: 'updatedAt >= :seenSince',
    values: { ':seenSince': seenSince(sentAt, days) },
  }),
} satisfies Record<keyof Conditions, Filter>;

/** DynamoDB applies it to the items that it has read: it saves transfer and memory, and no read units. */
function filterOf(conditions: Conditions, sentAt: number) {
  const given = Object.entries(conditions).map(([name, value]) =>
    (filters[name as keyof Conditions] as Filter)(value as never, sentAt),
  );
  if (given.length === 0) return {};
  return {
    FilterExpression: given.map(({ expression }) => expression).join(' AND '),
    ExpressionAttributeValues: Object.assign({}, ...given.map(({ values }) => values)),
  };
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

export type UserSubscription = Pick<
  SubscriptionItem,
  'origin' | 'path' | 'createdAt' | 'updatedAt'
>;

const ofUser = projection<UserSubscription>({
  ...{ origin: true, path: true, createdAt: true, updatedAt: true },
});

const hash = projection<Pick<SubscriptionItem, 'endpointHash'>>({ endpointHash: true });

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
      const reading = pages(project, userId, ofUser, signal);
      for await (const { Items = [] } of reading) found.push(...(Items as UserSubscription[]));
      return found;
    },

    /** Reads the endpoint hashes page by page: the first page now, the others when they are needed. */
    async endpointHashes(
      project: ProjectRef,
      userId: string,
      signal?: AbortSignal,
    ): Promise<HashPages> {
      const reading = pages(project, userId, hash, signal);
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
    selection: Projection<Partial<SubscriptionItem>>,
    abortSignal: AbortSignal | undefined,
  ) {
    return paginateQuery(
      { client: dynamo },
      {
        TableName: table,
        IndexName: byUser.name,
        KeyConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(project, userId) },
        ...selection,
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

type Counted = Pick<SubscriptionItem, 'updatedAt' | 'channels' | 'origin'>;

const counted = projection<Counted>({ updatedAt: true, channels: true, origin: true });

/** Subscriptions of a sample: all of a project with fewer. */
const sampleSize = 1000;

/**
 * Reads a sample of a project's subscriptions, the same number from each partition. The hashes of endpoints, in
 * whose order they are read, are evenly distributed.
 */
export function subscriptionSample(dynamo: DynamoDBDocumentClient, table: string) {
  return async (project: ProjectRef, abortSignal?: AbortSignal): Promise<readonly Counted[]> => {
    const parts = await Promise.all(
      Array.from({ length: partCount }, async (_, part) => {
        const { Items = [] } = await dynamo.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'projectPart = :part',
            ExpressionAttributeValues: { ':part': projectPart(project, part) },
            ...counted,
            Limit: sampleSize / partCount,
          }),
          { abortSignal },
        );
        return Items as Counted[];
      }),
    );
    return parts.flat();
  };
}

/** Counts how many subscriptions a send with each condition would select, and those of each push service. */
export function countAudience(subscriptions: readonly Counted[], now: Date): AudienceCounts {
  const isSeen = (days: string) => {
    const since = seenSince(now.getTime(), Number(days));
    return ({ updatedAt }: Counted) => updatedAt >= since;
  };
  const countBy = (keysOf: (one: Counted) => readonly string[], of = subscriptions) => {
    const counts = new Map<string, number>();
    for (const key of of.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  // Also of an origin that the deployment no longer accepts.
  const serviceOf = ({ origin }: Counted) => [pushServiceOf(origin, []) ?? origin];
  const seen = countBy(serviceOf, subscriptions.filter(isSeen('30')));
  return {
    subscribers: subscriptions.length,
    seenWithinDays: Object.fromEntries(
      countedDays.map((days) => [days, subscriptions.filter(isSeen(days)).length]),
    ) as AudienceCounts['seenWithinDays'],
    channels: Object.fromEntries(countBy(({ channels = [] }) => channels)),
    pushServices: Object.fromEntries(
      [...countBy(serviceOf)].map(([name, subscribers]) => [
        name,
        { subscribers, seenWithin30Days: seen.get(name) ?? 0 },
      ]),
    ),
  };
}
