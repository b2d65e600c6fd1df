import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Counts, noCounts } from '../../contract/counts.ts';
import { batchGet, type Sleep } from './batches.ts';
import { attributeChanges, isConditionFailure } from './dynamo.ts';
import { type SliceEnd, type SliceItem, sliceId } from './items.ts';
import { type LeaseEvent, type LeaseId, stopCondition, writeCondition } from './lease.ts';

/** A slice as it was read. */
export interface StoredSlice extends SliceProgress {
  /** The last write; absent before the first one. */
  readonly lease?: (LeaseId & { readonly until: number }) | undefined;
  readonly stoppedAt?: number | undefined;
}

/** How far a slice is. */
export interface SliceProgress {
  /** Where the next chunk starts. */
  readonly position: number;
  /** Recipients before that position whose outcomes are not in the counts yet. */
  readonly pending: number;
  /** Whether that is the end of the slice: all of its recipients were read. */
  readonly isRead: boolean;
  readonly counts: Counts;
  /** Which users a push was delivered to: see `ReachedUsers`. Absent in a broadcast. */
  readonly reached?: Uint8Array | undefined;
  readonly ended?: SliceEnd | undefined;
}

/** Whether the slice has ended with its audience read, and nobody in it. */
export function isEmptySlice({ ended, isRead, pending, counts }: SliceProgress): boolean {
  const { attempted, unreached } = counts;
  return ended !== undefined && isRead && attempted + pending + unreached === 0;
}

export interface SliceKey {
  readonly notificationId: string;
  readonly slice: number;
  /** Epoch seconds after which the item is deleted. */
  readonly expiresAt: number;
}

/** A write of a lease's holder. */
export interface SliceWrite extends SliceProgress {
  readonly event: Extract<LeaseEvent, { kind: 'write' }>;
  /** Epoch ms until which the slice is the holder's, unless it writes again before. */
  readonly until: number;
}

export type SliceStore = ReturnType<typeof sliceStore>;

const neverLeased: StoredSlice = {
  ...{ position: 0, pending: 0, isRead: false },
  counts: noCounts,
};

/** The item of a slice that nobody has had yet, with its first write. */
export function leasedItem(
  { notificationId, slice, expiresAt }: SliceKey,
  write: SliceWrite,
): SliceItem {
  return { id: sliceId(notificationId, slice), expiresAt, ...attributesOf(write) };
}

function attributesOf({ event, until, counts, ...progress }: SliceWrite) {
  const { id } = event;
  return { leasedBy: id.by, leaseWrite: id.n, leasedUntil: until, ...progress, ...counts };
}

export function sliceStore(dynamo: DynamoDBDocumentClient, table: string, sleep?: Sleep) {
  return {
    /** @returns undefined if it is stored, otherwise the slice that refuses it: see `refusal`. */
    async write(
      key: SliceKey,
      write: SliceWrite,
      signal?: AbortSignal,
    ): Promise<StoredSlice | undefined> {
      const { expression, values } = writeCondition(write.event);
      return update(key, attributesOf(write), expression, values, signal);
    },

    /** Stops a slice, unless it has ended. From then on no chunk of it is claimed. @param at epoch ms. */
    async stop(key: SliceKey, at: number, signal?: AbortSignal): Promise<void> {
      await update(key, { stoppedAt: at }, stopCondition, {}, signal);
    },

    /** Reads slices, in the order of their numbers; undefined for those that nobody has had or stopped. */
    async find(
      notificationId: string,
      slices: readonly number[],
      signal?: AbortSignal,
    ): Promise<readonly (StoredSlice | undefined)[]> {
      const ids = slices.map((slice) => sliceId(notificationId, slice));
      const keys = ids.map((id) => ({ id }));
      const found = await batchGet<SliceItem>(dynamo, table, keys, signal, sleep);
      const byId = new Map(found.map((item) => [item.id, storedSlice(item)]));
      return ids.map((id) => byId.get(id));
    },
  };

  async function update(
    { notificationId, slice, expiresAt }: SliceKey,
    attributes: Partial<SliceItem>,
    condition: string,
    conditionValues: Readonly<Record<string, unknown>>,
    abortSignal: AbortSignal | undefined,
  ): Promise<StoredSlice | undefined> {
    const given = Object.entries({ ...attributes, expiresAt }).filter(
      ([, value]) => value !== undefined,
    );
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: sliceId(notificationId, slice) },
          ConditionExpression: condition,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...attributeChanges(Object.fromEntries(given), { conditionValues }),
        }),
        { abortSignal },
      );
      return undefined;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return error.Item === undefined ? neverLeased : storedSlice(error.Item as never);
    }
  }
}

export function storedSlice(item: SliceItem): StoredSlice {
  const { attempted = 0, delivered = 0, removed = 0, failed = 0, unreached = 0 } = item;
  const { leasedBy: by, leaseWrite: n = 0, leasedUntil: until = 0, failures = {} } = item;
  const { position = 0, pending = 0, isRead = false, reached, ended, stoppedAt } = item;
  return {
    lease: by === undefined ? undefined : { by, n, until },
    ...{ position, pending, isRead },
    counts: { attempted, delivered, removed, failed, failures, unreached },
    ...{ reached, ended, stoppedAt },
  };
}
