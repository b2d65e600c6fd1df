import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Counts } from '../../contract/wire/counts.ts';
import { attributeChanges, batchGet, isConditionFailure, type Sleep } from './dynamo.ts';
import { type Behind, type SliceEnd, type SliceItem, sliceId } from './items.ts';

/** How far the delivery of a slice is: a value that each write stores as a whole. */
export interface Progress {
  /** All recipients before it are claimed, but for those who are behind. */
  readonly position: number;
  /** Whether that is the end of the slice, and nobody is behind. */
  readonly isRead: boolean;
  /** How many are claimed. Those that are neither attempted nor unreached yet are pending. */
  readonly claimed: number;
  /** Absent if nobody is behind. */
  readonly behind?: Behind | undefined;
  /** Invocations that have claimed recipients and had time for them. */
  readonly attempts?: number | undefined;
  /** What became of them. */
  readonly counts: Counts;
  /** Those of the unreached whom no alarm counts: at hosts that are not known by name, and more browsers than a user has. */
  readonly unjudged?: number | undefined;
  /** Which users a push was delivered to: see `ReachedUsers`. Absent in a broadcast. */
  readonly reached?: Uint8Array | undefined;
}

/** A write of a lease's holder, and so a version of the slice. Both together are unique. */
export interface LeaseId {
  /** The lease: unique, also among those of an invocation. */
  readonly by: string;
  /** The holder numbers its writes, so that one that arrives late does nothing. */
  readonly n: number;
}

/** A slice as it was read. */
export interface StoredSlice extends Progress {
  /** The last write; absent before the first one. Nobody else may write until then (epoch ms). */
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

/** A write claims the slice, or extends the claim: the lease. */
export interface SliceWrite extends Progress {
  readonly event: WriteEvent;
  /** Epoch ms until which the slice is the holder's, unless it writes again before. */
  readonly until: number;
  readonly ended?: SliceEnd | undefined;
}

interface WriteEvent {
  readonly kind: 'write';
  readonly id: LeaseId;
  /** The version that the writer knows: its own last write, or that of a lease that has run out. */
  readonly known: LeaseId | undefined;
  /** Whether the writer knows that the slice is stopped, and only stores its end. */
  readonly knowsStop: boolean;
}

export type LeaseEvent =
  | WriteEvent
  | { readonly kind: 'stop' }
  /**
   * By the request that has begun the send, if it has attempted nobody. Its leases begin with `by/`. A caller who does not
   * wait was perhaps told that a function has the slice.
   */
  | { readonly kind: 'cancel'; readonly by: string; readonly isAwaited: boolean };

/** What decides about the next event. */
export interface LeaseState extends Pick<StoredSlice, 'ended'> {
  readonly lease?: LeaseId | undefined;
  readonly isStopped: boolean;
  readonly claimed: number;
}

/** `stored`: it has happened before, and its response was lost. `lost`: another invocation has the slice. */
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
      // The database has refused it by this very item.
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
          // What is undefined is removed: nobody is behind any more.
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
