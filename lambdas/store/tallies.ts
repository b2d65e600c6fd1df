import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { EventType } from '../../contract/schemas/event.ts';
import type { ShareResult } from '../../contract/share.ts';
import { isConditionFailure } from './dynamo.ts';
import { type TallyItem, tallyKey } from './items.ts';

/** Outcomes of the recipients of a share, as they are stored. */
export type ShareCounts = Omit<ShareResult, 'isComplete'>;

/** A tally as it was read. The first tally of a share also has the share's progress and counts. */
export interface Tally {
  /** The invocation that works on the share; absent before the first one. */
  readonly claim?: { readonly by: string; readonly until: number } | undefined;
  /** Where the next chunk starts. */
  readonly position: number;
  /** Recipients of the chunk in progress whose outcomes are not in the counts yet. */
  readonly pending: number;
  readonly counts: ShareCounts;
  readonly ended?: TallyItem['ended'];
  readonly shown: number;
  readonly clicked: number;
}

/** A share's first tally. */
export interface ShareKey {
  readonly projectId: string;
  readonly notificationId: string;
  readonly firstTally: number;
  /** Epoch seconds after which the tallies are deleted. */
  readonly expiresAt: number;
}

/** Who writes a share's progress. */
export interface Writer {
  /** Unique to the invocation. */
  readonly by: string;
  /** Whose share it was until now: this invocation's own, or that of one that has ended. */
  readonly previous?: string | undefined;
  /** The invocation numbers its writes, so that one that arrives late does nothing. */
  readonly step: number;
}

export interface ChunkStart extends Writer {
  /** Epoch ms after which the invocation does nothing more for this chunk. */
  readonly until: number;
  /** Where the chunk after this one starts. */
  readonly position: number;
  /** Recipients of the chunk. */
  readonly pending: number;
  /** Of all chunks before. */
  readonly counts: ShareCounts;
}

/** Tallies of one notification, by their numbers. */
interface Wanted {
  readonly notificationId: string;
  readonly numbers: readonly number[];
}

export interface TallyStore {
  /**
   * Records that a chunk is about to be pushed; the first time this claims the share. Only the
   * invocation that gets `started` may push.
   * @returns otherwise the tally as another invocation left it.
   */
  startChunk(key: ShareKey, chunk: ChunkStart, signal?: AbortSignal): Promise<'started' | Tally>;

  /**
   * Stores what is settled so far, or the end of a share.
   * @returns false if another invocation has the share: then it does nothing.
   */
  save(
    key: ShareKey,
    writer: Writer,
    progress: Pick<Tally, 'position' | 'pending' | 'counts' | 'ended'>,
    signal?: AbortSignal,
  ): Promise<boolean>;

  /** Creates a tally that only counts events, so that several items receive a share's events. */
  open(key: ShareKey, tally: number, signal?: AbortSignal): Promise<void>;

  /** Reads tallies of a notification, in the order of their numbers; undefined if it does not exist. */
  find(
    notificationId: string,
    numbers: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly (Tally | undefined)[]>;

  /** The same for several notifications, with one call for every 100 tallies. */
  findEach(wanted: readonly Wanted[]): Promise<readonly (readonly (Tally | undefined)[])[]>;

  /** Counts one event. @returns whether the project has this tally. */
  count(
    projectId: string,
    notificationId: string,
    tally: number,
    type: EventType,
  ): Promise<boolean>;
}

/** Keys in one BatchGetItem at most. */
const batchSize = 100;

export function tallyStore(dynamo: DynamoDBDocumentClient, table: string): TallyStore {
  const find: TallyStore['find'] = async (notificationId, numbers, signal) =>
    (await readEach([{ notificationId, numbers }], signal))[0]!;
  return {
    async startChunk(key, chunk, signal) {
      const { until, position, pending, counts } = chunk;
      const values = { claimedUntil: until, position, pending, ...counts };
      if (await write(key, chunk, values, signal)) return 'started';
      const [tally] = await find(key.notificationId, [key.firstTally], signal);
      return tally!;
    },

    save(key, writer, { position, pending, counts, ended }, signal) {
      return write(key, writer, { position, pending, ...counts, ended }, signal);
    },

    async open(key, tally, signal) {
      const { projectId, expiresAt } = key;
      await set({ ...key, firstTally: tally }, { projectId, expiresAt }, undefined, {}, signal);
    },

    find,
    findEach: readEach,

    async count(projectId, notificationId, tally, type) {
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { tally: tallyKey(notificationId, tally) },
            UpdateExpression: 'ADD #type :one',
            ConditionExpression: 'projectId = :projectId',
            ExpressionAttributeNames: { '#type': type },
            ExpressionAttributeValues: { ':one': 1, ':projectId': projectId },
          }),
        );
        return true;
      } catch (error) {
        if (isConditionFailure(error)) return false;
        throw error;
      }
    },
  };

  /** @returns false if another invocation has the share. */
  async function write(
    key: ShareKey,
    { by, previous, step }: Writer,
    values: Partial<TallyItem>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    // The SDK may repeat a write, and a write may arrive after its caller has given it up.
    const isOwn = 'claimedBy = :claimedBy AND step <= :step';
    const isFree =
      previous === undefined ? 'attribute_not_exists(claimedBy)' : 'claimedBy = :previous';
    const condition = previous === by ? isOwn : `${isFree} OR (${isOwn})`;
    const { projectId, expiresAt } = key;
    const attributes = { projectId, expiresAt, claimedBy: by, step, ...values };
    const conditionValues = previous === by ? {} : { previous };
    try {
      await set(key, attributes, condition, conditionValues, signal);
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async function set(
    { notificationId, firstTally }: ShareKey,
    attributes: Partial<TallyItem>,
    condition: string | undefined,
    conditionValues: Readonly<Record<string, unknown>>,
    abortSignal: AbortSignal | undefined,
  ): Promise<void> {
    const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
    const values = [...given, ...Object.entries(conditionValues)];
    await dynamo.send(
      new UpdateCommand({
        TableName: table,
        Key: { tally: tallyKey(notificationId, firstTally) },
        UpdateExpression: `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}`,
        ConditionExpression: condition,
        ExpressionAttributeNames: Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(
          values.map(([name, value]) => [`:${name}`, value]),
        ),
      }),
      { abortSignal },
    );
  }

  async function readEach(wanted: readonly Wanted[], signal?: AbortSignal) {
    const keys = wanted.map(({ notificationId, numbers }) =>
      numbers.map((number) => tallyKey(notificationId, number)),
    );
    const all = keys.flat();
    const items = new Map<string, TallyItem>();
    // All batches at the same time: one notification has at most 8, a page of the list 20.
    const batches: Promise<void>[] = [];
    for (let start = 0; start < all.length; start += batchSize) {
      batches.push(readBatch(all.slice(start, start + batchSize), items, signal));
    }
    await Promise.all(batches);
    return keys.map((own) => own.map((key) => fromItem(items.get(key))));
  }

  async function readBatch(
    tallies: readonly string[],
    items: Map<string, TallyItem>,
    abortSignal: AbortSignal | undefined,
  ): Promise<void> {
    let Keys: Record<string, unknown>[] | undefined = tallies.map((tally) => ({ tally }));
    while (Keys !== undefined && Keys.length > 0) {
      const { Responses, UnprocessedKeys }: BatchGetCommandOutput = await dynamo.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
        { abortSignal },
      );
      for (const item of (Responses?.[table] ?? []) as TallyItem[]) items.set(item.tally, item);
      Keys = UnprocessedKeys?.[table]?.Keys;
    }
  }
}

function fromItem(item: TallyItem | undefined): Tally | undefined {
  if (item === undefined) return undefined;
  const { attempted = 0, delivered = 0, removed = 0, failed = 0, unreached = 0 } = item;
  const { claimedBy: by, claimedUntil: until = 0, failures = {} } = item;
  return {
    claim: by === undefined ? undefined : { by, until },
    position: item.position ?? 0,
    pending: item.pending ?? 0,
    counts: { attempted, delivered, removed, failed, failures, unreached },
    ended: item.ended,
    shown: item.shown ?? 0,
    clicked: item.clicked ?? 0,
  };
}
