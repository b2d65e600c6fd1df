import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Counts } from '../../contract/wire/counts.ts';
import { attributeChanges, batchGet, isConditionFailure, type Sleep } from './dynamo.ts';
import { type Behind, type SliceEnd, type SliceItem, sliceId } from './items.ts';

/** How far the delivery of a slice is. Each write stores all of it. */
export interface Progress {
  /** All recipients before it are claimed, but for those who are behind. */
  readonly position: number;
  /** Whether that is the end of the slice, and nobody is behind. */
  readonly isRead: boolean;
  /** How many are claimed. Those that are neither attempted nor unreached yet are pending. */
  readonly claimed: number;
  /** Absent if nobody is behind. */
  readonly behind?: Behind | undefined;
  /** Invocations that have claimed recipients, and began with at least `sliceTimeline.attemptMs` left. */
  readonly attempts?: number | undefined;
  /** What became of those who are claimed. */
  readonly counts: Counts;
  /**
   * The part of `unreached` that no alarm counts: those at hosts that are not known by name, and a user's browsers
   * above the limit.
   */
  readonly unjudged?: number | undefined;
  /** Which users a push was delivered to: see `ReachedUsers`. Absent in a broadcast. */
  readonly reached?: Uint8Array | undefined;
}

/** The id of a write, and so of a version of the slice: unique as a whole. */
export interface LeaseId {
  /** The id of the lease. An invocation may have several, one after another. */
  readonly by: string;
  /** The number of the write in its lease: a write that arrives late has a lower one, and does nothing. */
  readonly n: number;
}

/** A slice as it was read. */
export interface StoredSlice extends Progress {
  /** The last write; absent before the first one. Nobody else may write until `until` (epoch ms). */
  readonly lease?: (LeaseId & { readonly until: number }) | undefined;
  readonly ended?: SliceEnd | undefined;
  readonly stoppedAt?: number | undefined;
}

export interface SliceKey {
  readonly notificationId: string;
  readonly slice: number;
  /** Epoch seconds after which the item is deleted. */
  readonly expiresAt: number;
}

/** A write by the holder of the lease. It claims the slice, or extends the lease. */
export interface SliceWrite extends Progress {
  readonly event: WriteEvent;
  /** Epoch ms until which the lease lasts. */
  readonly until: number;
  readonly ended?: SliceEnd | undefined;
}

interface WriteEvent {
  readonly kind: 'write';
  readonly id: LeaseId;
  /** The version that the writer has read or written last. */
  readonly known: LeaseId | undefined;
  /** Whether the writer knows of the stop, and only stores the end. */
  readonly knowsStop: boolean;
}

export type LeaseEvent =
  | WriteEvent
  | { readonly kind: 'stop' }
  /**
   * By the request that has begun the send, if nobody was attempted. Its leases begin with `by/`. An asynchronous slice
   * that a function has taken is not cancelled: its caller may have been told so.
   */
  | { readonly kind: 'cancel'; readonly by: string; readonly isAwaited: boolean };

/** The part of a slice that decides whether an event may happen. */
export interface LeaseState extends Pick<StoredSlice, 'ended'> {
  readonly lease?: LeaseId | undefined;
  readonly isStopped: boolean;
  readonly claimed: number;
}

/** `stored`: this write is stored already, and its response was lost. `lost`: another invocation has the slice. */
export type Refusal = 'stored' | 'lost' | 'stopped' | 'ended';

/**
 * Who may write the item of a slice. The conditions below say the same to the database; a test compares them.
 * @returns undefined if the event may happen.
 */
export function refusal(state: LeaseState, event: LeaseEvent): Refusal | undefined {
  const { lease, ended, isStopped, claimed } = state;
  switch (event.kind) {
    case 'write': {
      const { id, known, knowsStop } = event;
      if (isSame(lease, id)) return 'stored';
      const isOwn = lease?.by === id.by && lease.n < id.n;
      if (!isOwn && !isSame(lease, known)) return 'lost';
      if (ended !== undefined) return 'ended';
      return isStopped && !knowsStop ? 'stopped' : undefined;
    }
    case 'stop':
      if (ended !== undefined) return 'ended';
      return isStopped ? 'stopped' : undefined;
    case 'cancel':
      if (isStopped) return 'stopped';
      if (!event.isAwaited) return lease === undefined ? undefined : 'lost';
      if (claimed === 0) return undefined;
      if (ended !== undefined) return 'ended';
      return lease?.by.startsWith(`${event.by}/`) ? undefined : 'lost';
  }
}

function isSame(one: LeaseId | undefined, other: LeaseId | undefined): boolean {
  return one?.by === other?.by && one?.n === other?.n;
}

/** The condition of a write: its expression and the values in it, by their names without the colon. */
export function writeCondition({ id, known, knowsStop }: WriteEvent) {
  const isKnown =
    known === undefined
      ? 'attribute_not_exists(leasedBy)'
      : '(leasedBy = :knownBy AND leaseWrite = :knownWrite)';
  const isOpen = knowsStop ? '' : ' AND attribute_not_exists(stoppedAt)';
  return {
    expression: `(${isKnown} OR (leasedBy = :by AND leaseWrite < :write)) AND attribute_not_exists(ended)${isOpen}`,
    values: {
      by: id.by,
      write: id.n,
      ...(known && { knownBy: known.by, knownWrite: known.n }),
    },
  };
}

export const stopCondition = 'attribute_not_exists(ended) AND attribute_not_exists(stoppedAt)';

/** The condition of a cancellation, and the values in it. */
export function cancelCondition(by: string, isAwaited: boolean) {
  const isOpen = 'attribute_not_exists(stoppedAt)';
  if (!isAwaited) {
    return { expression: `${isOpen} AND attribute_not_exists(leasedBy)`, values: {} };
  }
  return {
    expression: `${isOpen} AND (attribute_not_exists(claimed) OR claimed = :zero OR (begins_with(leasedBy, :by) AND attribute_not_exists(ended)))`,
    values: { by: `${by}/`, zero: 0 },
  };
}

export type SliceStore = ReturnType<typeof sliceStore>;

export function sliceStore(dynamo: DynamoDBDocumentClient, table: string, sleep?: Sleep) {
  return {
    /** @returns undefined if it is stored, otherwise why it is not, and the slice as it is. */
    async write(
      key: SliceKey,
      { event, until, counts, ...rest }: SliceWrite,
      signal?: AbortSignal,
    ): Promise<{ readonly refusal: Refusal; readonly slice: StoredSlice } | undefined> {
      const { expression, values } = writeCondition(event);
      const { by: leasedBy, n: leaseWrite } = event.id;
      const attributes = { leasedBy, leaseWrite, leasedUntil: until, ...rest, ...counts };
      const slice = await update(key, attributes, expression, values, signal);
      if (slice === undefined) return undefined;
      const { lease, ended, stoppedAt, claimed } = slice;
      const isStopped = stoppedAt !== undefined;
      // The database refused this item, so there is a reason.
      return { refusal: refusal({ lease, ended, isStopped, claimed }, event) ?? 'lost', slice };
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
    const id = sliceId(notificationId, slice);
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id },
          ConditionExpression: condition,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          // An undefined `behind` is removed.
          ...attributeChanges({ ...attributes, expiresAt }, { conditionValues }),
        }),
        { abortSignal },
      );
      return undefined;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return storedSlice((error.Item as SliceItem | undefined) ?? { id, expiresAt });
    }
  }
}

export function storedSlice(item: SliceItem): StoredSlice {
  const { attempted = 0, delivered = 0, removed = 0, failed = 0, unreached = 0 } = item;
  const { leasedBy: by, leaseWrite: n = 0, leasedUntil: until = 0 } = item;
  const { failures = {}, removals = {} } = item;
  const { position = 0, claimed = 0, isRead = false, behind, attempts, unjudged } = item;
  const { reached, ended, stoppedAt } = item;
  return {
    lease: by === undefined ? undefined : { by, n, until },
    position,
    claimed,
    isRead,
    behind,
    attempts,
    counts: { attempted, delivered, removed, failed, failures, removals, unreached },
    unjudged,
    reached,
    ended,
    stoppedAt,
  };
}
