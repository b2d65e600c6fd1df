import { setMaxListeners } from 'node:events';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../contract/infrastructure/slice.ts';
import { byUser } from '../../contract/infrastructure/tables.ts';
import type { Conditions } from '../../contract/wire/content.ts';
import type { DeviceMember } from '../../contract/wire/fields.ts';
import { languagesIn, readsOneOf } from '../../contract/wire/languages.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import type { Endpoint } from '../../contract/wire/subscription.ts';
import { batchGet, type Projection, projection, type Sleep } from './dynamo.ts';
import {
  choiceAttributes,
  choiceOf,
  deviceIdOf,
  hashOfDevice,
  hashRanges,
  type KeyedProject,
  positionOf,
  projectPart,
  projectUser,
  type StoredChoice,
  type SubscriptionItem,
  subscriptionKey,
} from './items.ts';
import { erasureBatch, type SubscriptionStore } from './subscriptions.ts';

export type AudienceStore = ReturnType<typeof audienceStore>;

/** Positions from `from` to before `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ReadOptions {
  /** Reading stops when there are more recipients than this. */
  readonly limit: number;
  /** Whether the read sees every earlier write (strongly consistent). It costs twice as much. */
  readonly consistent: boolean;
  /** Only subscriptions that meet them. */
  readonly conditions: Conditions;
  /** When the notification was sent: epoch ms. Who has subscribed later is not read. */
  readonly sentAt: number;
  readonly signal?: AbortSignal | undefined;
}

/** The recipients of a range, or those at its beginning if they are more than the limit. */
export interface Read {
  readonly recipients: readonly Recipient[];
  /** All recipients before this position were read, except for those in `unread`. */
  readonly to: number;
  /** At least this many recipients were left out: of a single position that has more than the limit, or of a user. */
  readonly unread: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The time of `seenWithinDays`: a browser may confirm its subscription only once a day. Epoch ms. */
export function seenSince(now: number, seenWithinDays: number): number {
  return now - (seenWithinDays + 1) * dayMs;
}

const recipientFields = {
  ...({ endpointHash: true, origin: true, path: true, p256dh: true, auth: true } as const),
  ...({ vapidPairNumber: true, imported: true, goneSince: true, locale: true } as const),
};
const recipientProjection = projection<Omit<Recipient, 'user'>>(recipientFields);

function recipientOf(item: OwnedItem): Omit<Recipient, 'user'> {
  const given = Object.entries(item).filter(([name]) => Object.hasOwn(recipientFields, name));
  return Object.fromEntries(given) as unknown as Omit<Recipient, 'user'>;
}

/**
 * The attributes that conditions of a send to users are judged by. The index has keys only, so they are read from the
 * table.
 */
const judgedFields = { ...choiceAttributes, ...({ createdAt: true, updatedAt: true } as const) };
type Judged = Pick<SubscriptionItem, keyof typeof judgedFields>;
type OwnedItem = Omit<Recipient, 'user'> & Judged;
const ownedProjection = projection<OwnedItem>({ ...judgedFields, ...recipientFields });

/** A subscription as the index has it. */
interface IndexedUser {
  readonly endpointHash: Uint8Array;
  /** Index of its user. */
  readonly user: number;
}

const indexed = projection<Pick<IndexedUser, 'endpointHash'>>({ endpointHash: true });

const userLimit = limits.userSubscriptions;

/** Queries that run at once. */
const concurrency = 16;

interface Query
  extends Pick<QueryCommandInput, 'IndexName' | 'ConsistentRead' | 'FilterExpression'>,
    Projection<object>,
    Range {
  readonly KeyConditionExpression: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, unknown>>;
  /** Index of its user. */
  readonly user?: number;
}

/** What a query has read so far. */
interface Progress<Found> {
  readonly query: Query;
  readonly found: Found[];
  /** All of its recipients before this position are in `found`. */
  readTo: number;
}

export function audienceStore(dynamo: DynamoDBDocumentClient, table: string, sleep?: Sleep) {
  return {
    /** Reads the subscribers of a project whose endpoint hashes are in a range of positions. */
    everyone(project: ProjectRef, range: Range, options: ReadOptions): Promise<Read> {
      const { names, values, ...filter } = filterOf(options.conditions, options.sentAt);
      const queries = hashRanges(range.from, range.to).map(({ partition, first, last }) => ({
        KeyConditionExpression:
          'projectPart = :partition AND endpointHash BETWEEN :first AND :last',
        ...filter,
        ExpressionAttributeValues: {
          ':partition': projectPart(project, partition),
          ':first': first,
          ':last': last,
          ...values,
        },
        ProjectionExpression: recipientProjection.ProjectionExpression,
        ExpressionAttributeNames: { ...recipientProjection.ExpressionAttributeNames, ...names },
        ConsistentRead: options.consistent,
        from: positionOf(first),
        to: positionOf(last) + 1,
      }));
      const { locales } = options.conditions;
      const reads = locales && readsOneOf(locales);
      return read<Recipient>(queries, range, options, reads && (({ locale }) => reads(locale)));
    },

    /**
     * Reads the subscribers with one of the user ids in a range of positions, which are their indexes: of each user those
     * that have been the user's for longest, and meet the conditions. The index of the table is updated after the table: a
     * subscription made within the last second may be missing. None is of another user by now, however late the index is.
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
        ...indexed,
        from: range.from + index,
        to: range.from + index + 1,
      }));
      const { recipients: keys, unread, to } = await read<IndexedUser>(queries, range, options);
      const numbers = new Map<number, number>();
      const counted = keys.filter(({ user }) => {
        const number = (numbers.get(user) ?? 0) + 1;
        numbers.set(user, number);
        return number <= userLimit;
      });
      const recipients = await stillTheirs(project, userIds, counted, options);
      return { recipients, to, unread: unread + keys.length - counted.length };
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

  /** The recipients of these keys who belong to the user for whom the index has them, and meet the conditions. */
  async function stillTheirs(
    project: ProjectRef,
    userIds: readonly string[],
    keys: readonly IndexedUser[],
    { conditions, sentAt, signal }: ReadOptions,
  ): Promise<readonly Recipient[]> {
    // The index may have one for two users.
    const distinct = new Map(keys.map(({ endpointHash: hash }) => [hex(hash), hash]));
    const itemKeys = [...distinct.values()].map((hash) => subscriptionKey(project, hash));
    const items = await batchGet(dynamo, table, itemKeys, signal, sleep, ownedProjection);
    const byHash = new Map(items.map((item) => [hex(item.endpointHash), item]));
    const given = givenFilters(conditions, sentAt);
    return keys.flatMap(({ endpointHash, user }) => {
      const item = byHash.get(hex(endpointHash));
      if (item?.projectUser !== projectUser(project, userIds[user]!)) return [];
      if (!given.every(({ holds }) => holds(item))) return [];
      return [{ ...recipientOf(item), user }];
    });
  }

  /**
   * Reads queries in parallel until there are enough recipients. If one fails, it throws when all others have ended.
   * @param queries in the order of their positions. Together they cover the range.
   */
  async function read<Found extends Pick<Recipient, 'endpointHash'>>(
    queries: readonly Query[],
    { from, to }: Range,
    options: Pick<ReadOptions, 'limit' | 'signal'>,
    isMeant: (item: Found) => boolean = () => true,
  ) {
    const { limit } = options;
    const all = queries.map((query): Progress<Found> => ({ query, found: [], readTo: query.from }));
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
        for await (const page of pages(query, signal)) {
          const { Items = [], LastEvaluatedKey } = page;
          const meant = (Items as Found[]).filter(isMeant);
          for (const item of meant) {
            found.push(query.user === undefined ? item : { ...item, user: query.user });
          }
          number += meant.length;
          const isEnough = query.user !== undefined && found.length > userLimit;
          const isEnd = LastEvaluatedKey === undefined || isEnough;
          progress.readTo = isEnd ? query.to : readTo(progress);
          // The first position is read to its end, or until it alone exceeds the limit.
          const isFirst = progress === all[0] && progress.readTo === from;
          if (number > limit && !(isFirst && found.length <= limit)) return;
          if (isEnd) break;
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

  function pages({ user, from: _, to: __, ...query }: Query, abortSignal: AbortSignal) {
    // One more than a send reaches: that shows whether there are more.
    const pageSize = user === undefined ? undefined : userLimit + 1;
    return paginateQuery(
      { client: dynamo, pageSize },
      { ...query, TableName: table },
      { abortSignal },
    );
  }
}

function positionIn({ user }: Query, { endpointHash }: Pick<Recipient, 'endpointHash'>): number {
  return user ?? positionOf(endpointHash);
}

/** Further recipients of the last position may be on the next page. */
function readTo({
  query,
  found,
  readTo: before,
}: Progress<Pick<Recipient, 'endpointHash'>>): number {
  const last = found.at(-1);
  return last === undefined ? before : positionIn(query, last);
}

interface Filter extends Selection {
  readonly holds: (item: Judged) => boolean;
}

interface Selection {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Selects the items of which an attribute passes a test with at least one of some values. */
function anyOf(
  attribute: keyof Judged,
  values: readonly unknown[],
  test: (attribute: string, value: string) => string,
): Selection {
  const tests = values.map((_, index) => test(`#${attribute}`, `:${attribute}${index}`));
  return {
    expression: `(${tests.join(' OR ')})`,
    // Any name may be one of the 573 words that DynamoDB reserves.
    names: { [`#${attribute}`]: attribute },
    values: Object.fromEntries(values.map((value, index) => [`:${attribute}${index}`, value])),
  };
}

type FilterOf = (given: never, sentAt: number) => Filter;

/** For each condition: the filter of the items that meet it, for DynamoDB and for items that were read by their keys. */
const filters = {
  channels: (channels: readonly string[]) => ({
    ...anyOf('channels', channels, (chosen, channel) => `contains(${chosen}, ${channel})`),
    holds: ({ channels: chosen = [] }) => channels.some((channel) => chosen.includes(channel)),
  }),
  /** DynamoDB selects by the language alone, so that no more is read than needed. Scripts and regions are compared here. */
  locales: (tags: readonly string[]) => {
    const reads = readsOneOf(tags);
    return {
      ...anyOf('locale', languagesIn(tags), (locale, one) => `begins_with(${locale}, ${one})`),
      holds: ({ locale }) => reads(locale),
    };
  },
  seenWithinDays: (days: number, sentAt: number) => {
    const since = seenSince(sentAt, days);
    return {
      ...anyOf('updatedAt', [since], (seenAt, least) => `${seenAt} >= ${least}`),
      holds: ({ updatedAt }) => updatedAt >= since,
    };
  },
} satisfies Record<keyof Conditions, FilterOf>;

/** Whoever subscribes after the send is not in its audience: later attempts may read half an hour after it. */
function created(sentAt: number): Filter {
  const createdBefore = sentAt + sliceTimeline.createdWithinMs;
  return {
    ...anyOf('createdAt', [createdBefore], (made, most) => `${made} <= ${most}`),
    holds: ({ createdAt }) => createdAt <= createdBefore,
  };
}

function givenFilters(conditions: Conditions, sentAt: number) {
  const given = Object.entries(conditions).map(([name, value]) =>
    (filters[name as keyof Conditions] as FilterOf)(value as never, sentAt),
  );
  return [created(sentAt), ...given];
}

/** DynamoDB applies it to the items that it has read: it saves transfer and memory, and no read units. */
function filterOf(conditions: Conditions, sentAt: number) {
  const given = givenFilters(conditions, sentAt);
  return {
    FilterExpression: given.map(({ expression }) => expression).join(' AND '),
    names: Object.assign({}, ...given.map(({ names }) => names)),
    values: Object.assign({}, ...given.map(({ values }) => values)),
  };
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

export type UserSubscription = Pick<
  SubscriptionItem,
  'origin' | 'path' | 'createdAt' | 'updatedAt' | DeviceMember
>;

export interface UserSubscriptionList {
  /** Undefined: nobody's. */
  readonly userId: string | undefined;
  readonly count: number;
  /** In no particular order. */
  readonly newest: readonly UserSubscription[];
}

const ofUser = projection<UserSubscription & StoredChoice>({
  ...choiceAttributes,
  ...{ origin: true, path: true, createdAt: true, updatedAt: true },
});

/** Whose data: of a user, of one device, or of one device if it is the user's. */
export interface Person {
  readonly userId?: string | undefined;
  readonly device?: string | undefined;
}

/** @param endpoint the device's, if it is named by that. */
export function personOf(
  { userId, device }: Person,
  endpoint: Pick<Endpoint, 'href'> | undefined,
): Person {
  return { userId, device: endpoint === undefined ? device : deviceIdOf(endpoint.href) };
}

type HashPages = AsyncIterable<readonly Uint8Array[]>;

/**
 * The subscriptions of one person. Those of a user id are found by the index, which is updated after the table: a
 * subscription that was made, removed or given to another user within the last second may be missing, or be read as before.
 */
export function userSubscriptions(dynamo: DynamoDBDocumentClient, table: string) {
  return {
    /** Counts a person's subscriptions, and reads the 100 that have been the user's for shortest. */
    async list(
      project: KeyedProject,
      person: Person,
      signal?: AbortSignal,
    ): Promise<UserSubscriptionList> {
      const { ref } = project;
      const hashes: Uint8Array[] = [];
      for await (const page of pages(project, person, signal)) hashes.push(...page);
      const latest = hashes.slice(-limits.devices);
      const keys = latest.map((hash) => subscriptionKey(ref, hash));
      const items = await batchGet(dynamo, table, keys, signal, undefined, ofUser);
      const user = person.userId === undefined ? undefined : projectUser(ref, person.userId);
      const newest = items.filter((item) => user === undefined || item.projectUser === user);
      const userId = person.userId ?? (newest[0] && choiceOf(ref, newest[0]).userId);
      return { userId, count: hashes.length - latest.length + newest.length, newest };
    },

    /** Reads the endpoint hashes page by page: the first page now, the others when they are needed. */
    async endpointHashes(
      project: KeyedProject,
      person: Person,
      signal?: AbortSignal,
    ): Promise<HashPages> {
      const reading = pages(project, person, signal);
      const first = await reading.next();
      return (async function* () {
        for (let page = first; !page.done; page = await reading.next()) yield page.value;
      })();
    },
  };

  async function* pages(
    project: KeyedProject,
    { userId = '', device }: Person,
    abortSignal: AbortSignal | undefined,
  ): AsyncGenerator<readonly Uint8Array[], undefined> {
    if (device !== undefined) {
      yield [hashOfDevice(project, device)];
      return;
    }
    const found = paginateQuery(
      { client: dynamo },
      {
        TableName: table,
        IndexName: byUser.name,
        KeyConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(project.ref, userId) },
        ...indexed,
      },
      { abortSignal },
    );
    for await (const { Items = [] } of found) {
      yield (Items as IndexedUser[]).map(({ endpointHash }) => endpointHash);
    }
  }
}

/**
 * Erases the subscriptions that were found, and their counts, batch by batch. After a failure, a second search and removal
 * remove the rest.
 * @param userId whose they must be. Undefined: anybody's.
 * @returns how many it has removed.
 */
export async function eraseFound(
  subscriptions: Pick<SubscriptionStore, 'erase'>,
  project: ProjectRef,
  userId: string | undefined,
  found: HashPages,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const hashes of found) {
    for (let start = 0; start < hashes.length; start += erasureBatch) {
      const batch = hashes.slice(start, start + erasureBatch);
      removed += await subscriptions.erase(project, userId, batch, signal);
    }
  }
  return removed;
}
