import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Counts } from '../../contract/counts.ts';
import type { EventType } from '../../contract/schemas/event.ts';
import { attributeChanges } from './attribute-changes.ts';
import { isConditionFailure } from './dynamo.ts';
import { type TallyItem, tallyKey } from './items.ts';

/** A tally as it was read. The first tally of a share also has the share's progress and counts. */
export interface Tally {
  /** The invocation that works on the share; absent before the first one. */
  readonly claim?: Claim | undefined;
  /** Where the next chunk starts. */
  readonly position: number;
  /** Recipients before that position whose outcomes are not in the counts yet. */
  readonly pending: number;
  /** Whether that is the end of the share: all of its recipients were read. */
  readonly isRead?: boolean | undefined;
  readonly counts: Counts;
  /** Which users a push was delivered to: see `ReachedUsers`. Absent in a broadcast. */
  readonly reached?: Uint8Array | undefined;
  readonly ended?: TallyItem['ended'];
  readonly stoppedAt?: number | undefined;
  readonly shown: number;
  readonly clicked: number;
}

/** Whose share it is. */
export interface Claim {
  /** Unique to the invocation. */
  readonly by: string;
  /** Number of its last write. */
  readonly step: number;
  /** Epoch ms after which the invocation does nothing more, unless it writes again before. */
  readonly until: number;
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
  /** The invocation numbers its writes, so that one that arrives late does nothing. */
  readonly step: number;
  /**
   * The claim as it is known: this invocation's own, or one that has run out. Absent: nobody has had the
   * share.
   */
  readonly previous?: Pick<Claim, 'by' | 'step'> | undefined;
  /** Whether the invocation knows that the share is stopped. Such a share refuses all other writes. */
  readonly knowsStop?: boolean;
}

/** The stored state of a share, besides its events. */
export interface StoredProgress
  extends Pick<Tally, 'position' | 'pending' | 'isRead' | 'counts' | 'reached' | 'ended'> {
  /** See {@link Claim}. */
  readonly until: number;
}

/** Tallies of one notification, by their numbers. */
interface Wanted {
  readonly notificationId: string;
  readonly numbers: readonly number[];
}

export interface TallyStore {
  /**
   * Stores a share's progress, and claims the share until a time. Only an invocation whose claim has
   * been stored may push.
   * @returns undefined if it is stored, otherwise the tally: as another invocation has left it, or stopped.
   */
  save(
    key: ShareKey,
    writer: Writer,
    progress: StoredProgress,
    signal?: AbortSignal,
  ): Promise<Tally | undefined>;

  /** Stops a share, unless it has ended. From then on no chunk of it is claimed. @param at epoch ms. */
  stop(key: ShareKey, at: number, signal?: AbortSignal): Promise<void>;

  /** Creates a tally that only counts events, so that several items receive a share's events. */
  open(key: ShareKey, tally: number, signal?: AbortSignal): Promise<void>;

  /** Reads tallies of a notification, in the order of their numbers; undefined if it does not exist. */
  find(
    notificationId: string,
    numbers: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly (Tally | undefined)[]>;

  /** The same for several notifications, with one call for every 100 tallies. */
  findEach(
    wanted: readonly Wanted[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly (Tally | undefined)[])[]>;

  /** Counts one event. @returns whether the project has this tally. */
  count(
    projectId: string,
    notificationId: string,
    tally: number,
    type: EventType,
    signal?: AbortSignal,
  ): Promise<boolean>;
}

/** Keys in one BatchGetItem at most. */
const batchSize = 100;

/** The first tally of a share that nobody has had yet, with the claim of its first invocation. */
export function claimedTally(
  key: ShareKey,
  { by, step }: Pick<Writer, 'by' | 'step'>,
  progress: StoredProgress,
): TallyItem {
  return { ...openTally(key, key.firstTally), claimedBy: by, step, ...attributesOf(progress) };
}

/** A tally that only counts events. */
export function openTally(
  { projectId, notificationId, expiresAt }: ShareKey,
  tally: number,
): TallyItem {
  return { tally: tallyKey(notificationId, tally), projectId, expiresAt };
}

function attributesOf({ until, counts, ...progress }: StoredProgress) {
  return { claimedUntil: until, ...progress, ...counts };
}

export function tallyStore(dynamo: DynamoDBDocumentClient, table: string): TallyStore {
  const find: TallyStore['find'] = async (notificationId, numbers, signal) =>
    (await readEach([{ notificationId, numbers }], signal))[0]!;
  return {
    async save(key, writer, progress, signal) {
      if (await write(key, writer, attributesOf(progress), signal)) return undefined;
      const [tally] = await find(key.notificationId, [key.firstTally], signal);
      return tally!;
    },

    async stop(key, stoppedAt, signal) {
      const { projectId, expiresAt } = key;
      const isOpen = 'attribute_not_exists(ended) AND attribute_not_exists(stoppedAt)';
      await setIf(key, { projectId, expiresAt, stoppedAt }, isOpen, {}, signal);
    },

    async open(key, tally, signal) {
      const { projectId, expiresAt } = key;
      await set({ ...key, firstTally: tally }, { projectId, expiresAt }, undefined, {}, signal);
    },

    find,
    findEach: readEach,

    async count(projectId, notificationId, tally, type, abortSignal) {
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
          { abortSignal },
        );
        return true;
      } catch (error) {
        if (isConditionFailure(error)) return false;
        throw error;
      }
    },
  };

  /** @returns false if another invocation has the share, or if it is stopped and the writer does not know. */
  async function write(
    key: ShareKey,
    writer: Writer,
    values: Partial<TallyItem>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { by, step, previous, knowsStop = false } = writer;
    // The SDK may repeat a write, and a write may arrive after its caller has given it up.
    const isOwn = 'claimedBy = :claimedBy AND step <= :step';
    // With its step: an invocation that has written since then is alive.
    const isFree =
      previous === undefined
        ? 'attribute_not_exists(claimedBy)'
        : 'claimedBy = :previous AND step = :previousStep';
    const hasClaim = previous?.by === by;
    const mayWrite = hasClaim ? isOwn : `((${isFree}) OR (${isOwn}))`;
    const condition = knowsStop ? mayWrite : `${mayWrite} AND attribute_not_exists(stoppedAt)`;
    const { projectId, expiresAt } = key;
    const attributes = { projectId, expiresAt, claimedBy: by, step, ...values };
    const conditionValues =
      hasClaim || previous === undefined
        ? {}
        : { previous: previous.by, previousStep: previous.step };
    return setIf(key, attributes, condition, conditionValues, signal);
  }

  /** @returns whether the condition held. */
  async function setIf(...parameters: Parameters<typeof set>): Promise<boolean> {
    try {
      await set(...parameters);
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
    await dynamo.send(
      new UpdateCommand({
        TableName: table,
        Key: { tally: tallyKey(notificationId, firstTally) },
        ConditionExpression: condition,
        ...attributeChanges(Object.fromEntries(given), { conditionValues }),
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
  const { claimedBy: by, claimedUntil: until = 0, step = 0, failures = {} } = item;
  return {
    claim: by === undefined ? undefined : { by, step, until },
    position: item.position ?? 0,
    pending: item.pending ?? 0,
    ...(item.isRead !== undefined && { isRead: item.isRead }),
    counts: { attempted, delivered, removed, failed, failures, unreached },
    ...(item.reached !== undefined && { reached: item.reached }),
    ended: item.ended,
    ...(item.stoppedAt !== undefined && { stoppedAt: item.stoppedAt }),
    shown: item.shown ?? 0,
    clicked: item.clicked ?? 0,
  };
}
