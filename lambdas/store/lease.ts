import type { SliceEnd } from './items.ts';

/**
 * Who may write the item of a slice. Each write claims the slice, or extends the claim: the lease. The conditions
 * of the writes in `slices.ts` and `sends.ts` say the same to the database; a test compares them.
 */

/** A write of a lease's holder. Both together are unique. */
export interface LeaseId {
  /** The invocation that holds the lease. */
  readonly by: string;
  /** The holder numbers its writes, so that one that arrives late does nothing. */
  readonly n: number;
}

/** What decides about the next write. */
export interface LeaseState {
  /** The last write; absent if nobody has had the slice. */
  readonly lease?: LeaseId | undefined;
  readonly ended?: SliceEnd | undefined;
  readonly isStopped: boolean;
  readonly attempted: number;
  /** Whether it has ended with its audience read, and nobody in it: a repeated request may have been told so. */
  readonly isEmpty: boolean;
}

export type LeaseEvent =
  | {
      readonly kind: 'write';
      readonly id: LeaseId;
      /** The last write as the writer knows it: its own, or one of a lease that has run out. */
      readonly known: LeaseId | undefined;
      /** Whether the writer knows that the slice is stopped, and only stores its end. */
      readonly knowsStop: boolean;
    }
  | { readonly kind: 'stop' }
  /** By the request that has begun the send. Nothing was attempted there. */
  | { readonly kind: 'cancel'; readonly by: string };

/** `stored`: it has happened before, and its response was lost. `lost`: another invocation has the slice. */
export type Refusal = 'stored' | 'lost' | 'stopped' | 'ended';

/** @returns undefined if the event may happen. */
export function refusal(state: LeaseState, event: LeaseEvent): Refusal | undefined {
  const { lease, ended, isStopped, attempted, isEmpty } = state;
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
    case 'cancel': {
      if (isStopped) return 'stopped';
      const isUnused = lease === undefined || (ended !== undefined && attempted === 0);
      return (isUnused || lease.by === event.by) && !isEmpty ? undefined : 'lost';
    }
  }
}

function isSame(one: LeaseId | undefined, other: LeaseId | undefined): boolean {
  return one?.by === other?.by && one?.n === other?.n;
}

/** The condition of a write: its expression and the values in it, by their names without the colon. */
export function writeCondition({ id, known, knowsStop }: Extract<LeaseEvent, { kind: 'write' }>) {
  const isKnown =
    known === undefined
      ? 'attribute_not_exists(leasedBy)'
      : '(leasedBy = :knownBy AND leaseWrite = :knownWrite)';
  const isOpen = knowsStop ? '' : ' AND attribute_not_exists(stoppedAt)';
  return {
    expression: `(${isKnown} OR (leasedBy = :by AND leaseWrite < :write)) AND attribute_not_exists(ended)${isOpen}`,
    values: {
      ...{ by: id.by, write: id.n },
      ...(known && { knownBy: known.by, knownWrite: known.n }),
    },
  };
}

export const stopCondition = 'attribute_not_exists(ended) AND attribute_not_exists(stoppedAt)';

/** Its values: `:by`, `:zero`, which is 0, and `:no`, which is false. */
export const cancelCondition =
  'attribute_not_exists(stoppedAt) AND (attribute_not_exists(leasedBy) OR leasedBy = :by OR (attribute_exists(ended) AND attempted = :zero))' +
  ' AND (attribute_not_exists(ended) OR attempted > :zero OR pending > :zero OR unreached > :zero OR isRead = :no)';
