import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { hasConditions } from '../../contract/wire/content.ts';
import { addCounts, type Counts, noCounts } from '../../contract/wire/counts.ts';
import { isInProgress, type NotificationStatus } from '../../contract/wire/notification-status.ts';
import type { Division } from '../store/items.ts';
import type { StoredNotification } from '../store/notifications.ts';
import type { Progress, StoredSlice } from '../store/slices.ts';

/** The status and the counts of a notification, and which users it has reached: all slices together. */
export interface Summary {
  readonly status: NotificationStatus;
  readonly counts: Counts;
  /** In a notification to users: one bit for each of them, slice by slice. */
  readonly reached: readonly (Uint8Array | undefined)[];
}

/** All slices of a notification, as they are known; undefined for those that nobody has had. */
export type SliceStates = readonly (StoredSlice | undefined)[];

type Sent = Pick<StoredNotification, 'division' | 'sentAt'>;

/** The summary of a notification, as far as it is stored. */
export function summaryOf(notification: Sent, slices: SliceStates, now: Date): Summary {
  const status = statusOf(notification, slices, now);
  const reached = slices.map((slice) => slice?.reached);
  if (isInProgress(status)) {
    // While functions work on it, it is not known who will be interrupted or unreached.
    const counts = slices.reduce(
      (sum, slice) => addCounts(sum, slice?.counts ?? noCounts),
      noCounts,
    );
    return { status, counts: { ...counts, unreached: 0 }, reached };
  }
  return { status, counts: finalCounts(notification, slices), reached };
}

/** The counts when nobody works on the slices any more. */
export function finalCounts({ division }: Pick<Sent, 'division'>, slices: SliceStates): Counts {
  const total = slices.reduce((sum, slice) => {
    if (slice === undefined) return sum;
    const unreached = passedOver(slice);
    return [interruptedCounts(slice), { ...noCounts, unreached }].reduce(addCounts, sum);
  }, noCounts);
  if (slices.every(isComplete)) return total;
  const missing = (expectedSubscribers(division) ?? 0) - total.attempted;
  // At least 1: who has subscribed since the count must not hide that some were not reached.
  return { ...total, unreached: Math.max(total.unreached, missing, 1) };
}

/**
 * The counts of a slice whose invocation ended without a last write. It is not known which of its claimed pushes were
 * sent. Those without a stored outcome count as failed (`interrupted`), and are not repeated.
 */
export function interruptedCounts({ claimed, counts }: Progress): Counts {
  const pending = claimed - counts.attempted - counts.unreached;
  // Below 0, a stored count is wrong. It is returned as it is, and count-checker.ts logs it.
  if (pending <= 0) return counts;
  const interrupted = { attempted: pending, failed: pending, failures: { interrupted: pending } };
  return addCounts(counts, { ...noCounts, ...interrupted });
}

/** Recipients before the position of a slice who are not claimed. */
export function passedOver({ behind = {} }: Pick<Progress, 'behind'>): number {
  return Object.values(behind).reduce((sum, { passed }) => sum + passed, 0);
}

/** Whether all recipients of a slice were read. */
function isComplete(slice: StoredSlice | undefined): boolean {
  return slice?.isRead === true && slice.ended !== 'cancelled';
}

/**
 * The subscribers when it was sent; undefined for a send with conditions or to users, whose recipients were not
 * counted.
 */
function expectedSubscribers({ subscribers, conditions }: Division): number | undefined {
  return hasConditions(conditions) ? undefined : subscribers;
}

/**
 * Whether a notification's slices have all ended. It is `interrupted` if one of them has not, and no function works
 * on it; `stopping` or `stopped` if one of them was stopped.
 */
function statusOf(notification: Sent, slices: SliceStates, now: Date): NotificationStatus {
  const open = slices.filter((slice) => slice?.ended === undefined);
  const isLeft = open.every((slice) => leftAt(notification, slice) < now.getTime());
  if (isStopped(notification, slices)) return isLeft ? 'stopped' : 'stopping';
  if (open.length === 0) return 'sent';
  return isLeft ? 'interrupted' : 'sending';
}

/** Whether a notification was stopped before all of its slices had ended. */
export function isStopped(notification: Sent, slices: SliceStates): boolean {
  return slices.some((slice) => wasOpenWhenStopped(notification, slice));
}

/** A slice that was already interrupted stays `interrupted` when it is stopped. */
function wasOpenWhenStopped(notification: Sent, slice: StoredSlice | undefined): boolean {
  if (slice?.stoppedAt === undefined) return false;
  if (slice.ended !== undefined) return true;
  return slice.stoppedAt <= leftAt(notification, { ...slice, stoppedAt: undefined });
}

/** Epoch ms after which nobody works on an open slice, unless its request is repeated. */
function leftAt(
  { division: { respondedAsync }, sentAt }: Sent,
  slice: StoredSlice | undefined,
): number {
  // Nobody claims a stopped slice.
  if (slice?.stoppedAt !== undefined) return freeAt(slice);
  const { startWithinMs, timeoutMs, clockDifferenceMs } = sliceTimeline;
  // Lambda may start a repetition until its event is too old. That one may run as long as any function. If a caller waits,
  // the request may end the slice for as long as it runs.
  const endsWithinMs = respondedAsync ? startWithinMs + timeoutMs : sendTimeline.timeoutMs;
  return Math.max(freeAt(slice), sentAt.getTime() + endsWithinMs + clockDifferenceMs);
}

/** Whether nobody works on a slice, and nobody may later. */
export function isOver(slice: StoredSlice | undefined, now: Date): boolean {
  return (
    slice?.ended !== undefined || (slice?.stoppedAt !== undefined && freeAt(slice) < now.getTime())
  );
}

/** Epoch ms after which the lease has run out by every function's clock: another invocation may take the slice. */
export function freeAt(slice: StoredSlice | undefined): number {
  return slice?.lease === undefined ? 0 : slice.lease.until + sliceTimeline.clockDifferenceMs;
}

/** Which users of a slice a push was delivered to: one bit for each, by its index. */
export class ReachedUsers {
  readonly #bits: Uint8Array;

  constructor(users: number, bits: Uint8Array = new Uint8Array()) {
    this.#bits = new Uint8Array(Math.ceil(users / 8));
    this.#bits.set(bits);
  }

  add(user: number): void {
    this.#bits[user >> 3]! |= 1 << (user & 7);
  }

  /** A copy: users who are reached later are not in it. */
  bits(): Uint8Array {
    return this.#bits.slice();
  }
}

export function isReached(bits: Uint8Array | undefined, user: number): boolean {
  return ((bits?.[user >> 3] ?? 0) & (1 << (user & 7))) !== 0;
}

export function countReached(bits: Uint8Array = new Uint8Array()): number {
  let reached = 0;
  for (let user = 0; user < 8 * bits.length; user += 1) if (isReached(bits, user)) reached += 1;
  return reached;
}
