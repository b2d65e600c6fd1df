import type { Slice } from '../../contract/slice.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import type { Chunk } from '../deliver/chunk.ts';
import { deliverSlice, type SliceWork, workOn } from '../deliver/deliver-slice.ts';
import { finalCounts, isStopped } from '../results/outcome.ts';
import type { StoredSlice } from '../store/slices.ts';
import { cancel, outOfTime } from './cancel.ts';
import type { SendDependencies, Sending, SendOutcome } from './sending.ts';
import { sentOutcome } from './sent-outcome.ts';

/** What is known of the slices of a notification: undefined for those that nobody has had. */
type Slices = (StoredSlice | undefined)[];

/** The slice that the request has claimed when it began the send. */
interface FirstSlice {
  readonly work: SliceWork;
  readonly chunk: Chunk;
}

/** Ms between two looks at the slices that other functions deliver. */
const pollMs = 200;
const lastLookMs = 1000;
/** Ms for which an invocation that Lambda does not take is repeated, and the longest wait before the first time. */
const repeatStartMs = 3000;
const firstWaitMs = 100;

/**
 * Has all slices delivered while the caller waits: one here, the others by functions. A slice that nobody has taken
 * after some seconds is delivered here too; its lease prevents that anybody is pushed to twice.
 * @param first the slice that is claimed already.
 * @param stored what an earlier request has left.
 */
export async function awaitSlices(
  deps: SendDependencies,
  sending: Sending,
  first?: FirstSlice,
  stored: Slices = [],
): Promise<SendOutcome> {
  const { call, project, deadlines, slices } = sending;
  const found: Slices = slices.map((_, index) => stored[index]);
  const isOpen = ({ slice }: Slice) => !isOver(found[slice], deps.clock());
  const open = slices.filter(isOpen);
  // One is delivered here at once.
  const starting = startAll(deps, sending, open.slice(1));
  /** Whether nothing else is stored of the slices, as far as other functions have them. */
  let isKnown = true;
  let error: unknown;
  if (first !== undefined) error = await deliverHere(first.work, first.chunk);
  else if (open[0] !== undefined) error = await deliverHere(takenOver(open[0]));
  const notTaken = await starting;
  const takenBy = call.startedAt.getTime() + sliceTimeline.startedWithinMs;
  while (slices.some(isOpen) && now() < looksUntil()) {
    await look();
    const mayPush = now() < deadlines.lastPushAt && !project.isGone;
    const free = mayPush ? slices.find(mayBeTaken) : undefined;
    const failure = free && (await deliverHere(takenOver(free)));
    error ??= failure;
    // What has failed is tried again, but not at once.
    const hasProgressed = free !== undefined && !isOpen(free);
    if (slices.some(isOpen) && !hasProgressed) await deps.sleep(pollMs);
  }
  if (slices.some(isOpen)) await look();
  return respond();

  function now(): number {
    return deps.clock().getTime();
  }

  /** Whether nobody has begun to deliver a slice, and probably nobody will. */
  function mayBeTaken(slice: Slice): boolean {
    if (!isOpen(slice) || !isFree(found[slice.slice], deps.clock())) return false;
    return notTaken.has(slice) || now() >= takenBy;
  }

  /** If nothing was attempted, the send is undone, which takes time too. */
  function looksUntil(): number {
    const { attempted } = finalCounts(sending.notification, found);
    return attempted > 0 ? deadlines.pushEndAt + pollMs : deadlines.lastPushAt;
  }

  function takenOver(slice: Slice): SliceWork {
    const work = workHere(deps, sending, slice);
    const before = found[slice.slice];
    if (before !== undefined) work.lease.takeOver(before);
    return work;
  }

  /** @returns the error that ended it early. */
  async function deliverHere(work: SliceWork, chunk?: Chunk): Promise<unknown> {
    const { hasEnded, error } = await deliverSlice(deps, project, work, chunk);
    const { lease, slice } = work;
    // Also if that could not be stored.
    if (hasEnded && lease.mayBeMine) found[slice.slice] = lease.slice;
    else if (lease.other !== undefined) found[slice.slice] = lease.other;
    return error;
  }

  async function look(): Promise<void> {
    const open = slices.filter(isOpen).map(({ slice }) => slice);
    const { notificationId } = slices[0]!;
    try {
      const read = await deps.slices.find(notificationId, open, sending.signal);
      for (const [index, slice] of open.entries()) found[slice] = read[index];
      isKnown = true;
    } catch (failure) {
      // What was read before is kept.
      isKnown = false;
      if (now() >= looksUntil() - pollMs) deps.observe.recordFailed(slices[0]!, failure);
    }
  }

  async function respond(): Promise<SendOutcome> {
    const { notification } = sending;
    const counts = finalCounts(notification, found);
    const wasStopped = isStopped(notification, found);
    if (counts.attempted === 0 && counts.unreached > 0 && !wasStopped && isKnown) {
      return cancel(deps, sending, error ?? outOfTime());
    }
    deps.observe.responded(slices[0]!, counts, wasStopped);
    return sentOutcome(sending, found);
  }
}

/** Has all slices delivered by functions. What Lambda does not take is delivered here, as far as time allows. */
export async function handOver(deps: SendDependencies, sending: Sending): Promise<SendOutcome> {
  const { call, notification, project, slices } = sending;
  const notTaken = await startAll(deps, sending, slices);
  let hasBegun = notTaken.size < slices.length;
  let isHandedOver = true;
  for (const slice of notTaken) {
    const awaited = { ...slice, awaitedSince: call.startedAt.getTime() };
    const work = workHere(deps, sending, awaited);
    await deliverSlice(deps, project, work);
    const { status, counts } = work.lease;
    if (status === 'lost' || counts.attempted > 0) hasBegun = true;
    // A repeated request continues what nobody has.
    else isHandedOver = false;
  }
  if (!hasBegun) return cancel(deps, sending, outOfTime());
  if (isHandedOver) await markHandedOver(deps, sending);
  return { kind: 'accepted', id: notification.id, status: 'sending' };
}

/** Tells a repeated request that functions will deliver the notification. */
async function markHandedOver(
  { sends, observe }: SendDependencies,
  { call, notification: { project, keyed }, slices, signal }: Sending,
): Promise<void> {
  if (keyed === undefined) return;
  try {
    await sends.handedOver(project, keyed.keyHash, call.requestId, signal);
  } catch (error) {
    observe.recordFailed(slices[0]!, error);
  }
}

/** @returns those that Lambda has not taken. They may run nevertheless. */
async function startAll(
  deps: SendDependencies,
  { deadlines }: Sending,
  slices: readonly Slice[],
): Promise<ReadonlySet<Slice>> {
  const now = () => deps.clock().getTime();
  // Then time is left to undo the send.
  const signal = deps.abortAfter(Math.max(0, deadlines.lastPushAt - now()));
  const taken = await Promise.all(slices.map((slice) => startUntilTaken(slice)));
  return new Set(slices.filter((_, index) => !taken[index]));

  async function startUntilTaken(slice: Slice): Promise<boolean> {
    const { starter, sleep, random, observe } = deps;
    const until = Math.min(now() + repeatStartMs, deadlines.lastPushAt);
    for (let longestMs = firstWaitMs; ; longestMs *= 2) {
      if (await starter.start(slice, signal)) return true;
      const waitMs = longestMs * (0.5 + random() / 2);
      if (now() + waitMs > until) {
        observe.notTaken(slice);
        return false;
      }
      await sleep(waitMs);
    }
  }
}

/** Work of this request on a slice. It ends a second earlier: then time is left to read the others' results. */
export function workHere(
  deps: SendDependencies,
  { call, deadlines }: Sending,
  slice: Slice,
): SliceWork {
  const endsAt = deadlines.endsAt - lastLookMs;
  return workOn(deps, slice, call.requestId, { ...deadlines, endsAt });
}

/** Whether nobody works on a slice any more, and nobody will. */
export function isOver(slice: StoredSlice | undefined, now: Date): boolean {
  if (slice?.ended !== undefined) return true;
  return slice?.stoppedAt !== undefined && isFree(slice, now);
}

/** Whether no invocation holds a lease on a slice. */
export function isFree(slice: StoredSlice | undefined, now: Date): boolean {
  const { until = 0 } = slice?.lease ?? {};
  return until + sliceTimeline.clockDifferenceMs < now.getTime();
}
