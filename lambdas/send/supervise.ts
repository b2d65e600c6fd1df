import { setMaxListeners } from 'node:events';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { type Deadlines, whileTimeIsLeft } from '../deliver/deadlines.ts';
import { deliverSlice } from '../deliver/deliver-slice.ts';
import { type Chunk, Lease } from '../deliver/lease.ts';
import { finalCounts, freeAt, isOver, type SliceStates } from '../results/summary.ts';
import type { SendDependencies, Sending } from './sending.ts';

/** What a request knows of the slices when it ends. */
export interface Supervised {
  readonly states: SliceStates;
  /** Whether no state has changed unseen: the last read of them has succeeded. */
  readonly isKnown: boolean;
  /** Whether each slice is over, or Lambda has its invocation. */
  readonly isHandedOver: boolean;
  /** Whether this is so for any of them, or somebody was attempted. */
  readonly hasBegun: boolean;
  /** Why a slice was left early, if a call failed. */
  readonly error: unknown;
}

/** Ms between two looks at the slices that others deliver. */
const pollMs = 200;
/** Ms that are left for the response after the last look, and after the work on a slice. */
const lastLookMs = 1000;

/**
 * A function would finish a slice that nobody waits for. Delivered here, its chunks are so small, and the last one is
 * claimed so early, that all of their recipients are attempted in time: the rest is left to a function.
 */
const chunkPart = 4;
const lastChunkBeforeMs = 10_000;

/**
 * Has all slices of a notification delivered: starts by Lambda what nobody has, and delivers here what nobody has
 * taken after some seconds. Leases prevent that anybody is pushed to twice. If a caller waits, one slice is delivered
 * here at once, and the request waits until all are over; otherwise until Lambda has each that is not.
 * @param states of the slices, as an earlier request has left them.
 * @param reading the first chunk of the first slice, if nobody has had it.
 */
export async function supervise(
  deps: SendDependencies,
  sending: Sending,
  states: SliceStates,
  reading?: Promise<Chunk>,
): Promise<Supervised> {
  const ended = new AbortController();
  // Each start that waits listens.
  setMaxListeners(0, ended.signal);
  const supervision = new Supervision(deps, sending, states, ended.signal);
  try {
    return await supervision.run(reading);
  } finally {
    ended.abort();
  }
}

class Supervision {
  readonly #deps: SendDependencies;
  readonly #sending: Sending;
  readonly #isAwaited: boolean;
  readonly #deadlines: Deadlines;
  readonly #states: SliceStates[number][];
  readonly #startedAt: number;
  readonly #ended: AbortSignal;
  /** Slices whose invocations Lambda has accepted. */
  readonly #accepted = new Set<Slice>();
  readonly #leases = new Map<Slice, Lease>();
  #isKnown = true;
  #error: unknown;

  constructor(deps: SendDependencies, sending: Sending, states: SliceStates, ended: AbortSignal) {
    const { deadlines, notification } = sending;
    this.#deps = deps;
    this.#sending = sending;
    this.#isAwaited = !notification.division.respondedAsync;
    this.#deadlines = {
      ...deadlines,
      endsAt: deadlines.endsAt - lastLookMs,
      ...(!this.#isAwaited && { lastChunkAt: deadlines.lastPushAt - lastChunkBeforeMs }),
    };
    this.#states = sending.slices.map((_, index) => states[index]);
    this.#startedAt = this.#now();
    this.#ended = ended;
  }

  async run(reading?: Promise<Chunk>): Promise<Supervised> {
    const open = this.#sending.slices.filter((slice) => this.#isFree(slice));
    const own = this.#isAwaited ? open.shift() : undefined;
    const starts = Promise.all(open.map((slice) => this.#start(slice)));
    if (own !== undefined) await this.#deliver(own, reading);
    else await Promise.race([starts, this.#pause(sliceTimeline.startedWithinMs)]);
    while (!this.#isDone() && this.#now() < this.#looksUntil()) {
      await this.#look();
      const free = this.#sending.slices.find((slice) => this.#mayBeDelivered(slice));
      if (free !== undefined) {
        if (!this.#accepted.has(free) && !this.#leases.has(free)) this.#deps.observe.notTaken(free);
        await this.#deliver(free);
      }
      // What has failed is tried again, but not at once.
      if (free === undefined || this.#isOpen(free)) await this.#pause(pollMs);
    }
    if (this.#isAwaited && !this.#isDone()) await this.#look();
    return this.#outcome();
  }

  #outcome(): Supervised {
    const { slices, notification } = this.#sending;
    const states = this.#states;
    const isElsewhere = (slice: Slice) => this.#accepted.has(slice) || !this.#isFree(slice);
    return {
      states,
      isKnown: this.#isKnown,
      error: this.#error,
      isHandedOver: slices.every(isElsewhere),
      hasBegun: slices.some(isElsewhere) || finalCounts(notification, states).attempted > 0,
    };
  }

  /** Tries until Lambda accepts the invocation, or nobody needs it. */
  async #start(slice: Slice): Promise<void> {
    const { starter, abortAfter } = this.#deps;
    const attempt = async (signal: AbortSignal) => {
      if (!this.#isOpen(slice)) return;
      const timeOut = abortAfter(sliceTimeline.lambdaCallMs);
      if (await starter.start(slice, AbortSignal.any([signal, timeOut]))) this.#accepted.add(slice);
      else throw notTaken();
    };
    await whileTimeIsLeft(this.#deps, this.#deadlines.endsAt, attempt, this.#ended).catch(() => {});
  }

  async #deliver(slice: Slice, reading?: Promise<Chunk>): Promise<void> {
    const { project, call } = this.#sending;
    const { endsAt } = this.#deadlines;
    const state = this.#stateOf(slice);
    const lease =
      this.#leases.get(slice)?.after(state) ??
      new Lease(this.#deps, { slice, by: call.requestId, endsAt }, state);
    this.#leases.set(slice, lease);
    const step = this.#isAwaited ? slice.step : Math.ceil(slice.step / chunkPart);
    const work = { slice: { ...slice, step }, lease, deadlines: this.#deadlines };
    const left = await deliverSlice(this.#deps, project, work, reading);
    this.#states[slice.slice] = left.state;
    this.#error ??= left.error;
  }

  async #look(): Promise<void> {
    const { slices, call, signal } = this.#sending;
    const open = slices.filter((slice) => this.#isOpen(slice));
    const { notificationId } = slices[0]!;
    try {
      const read = await this.#deps.slices.find(
        notificationId,
        open.map(({ slice }) => slice),
        signal,
      );
      for (const [index, { slice }] of open.entries()) {
        // This request knows better how it has left a slice, if that could not be stored.
        const isOwn = read[index]?.lease?.by === call.requestId;
        if (!isOwn || this.#states[slice] === undefined) this.#states[slice] = read[index];
      }
      this.#isKnown = true;
    } catch (error) {
      // What was read before is kept.
      this.#isKnown = false;
      if (this.#now() >= this.#looksUntil() - pollMs) {
        this.#deps.observe.recordFailed(slices[0]!, error);
      }
    }
  }

  #isDone(): boolean {
    return this.#sending.slices.every(
      (slice) =>
        !this.#isOpen(slice) ||
        (!this.#isAwaited && (this.#accepted.has(slice) || !this.#isFree(slice))),
    );
  }

  /** Whether nobody has taken a slice, and probably nobody will. */
  #mayBeDelivered(slice: Slice): boolean {
    const { project } = this.#sending;
    const now = this.#now();
    if (now >= this.#deadlines.lastChunkAt || project.isGone || !this.#isFree(slice)) return false;
    if (!this.#isAwaited && this.#accepted.has(slice)) return false;
    return this.#leases.has(slice) || now >= this.#startedAt + sliceTimeline.startedWithinMs;
  }

  /** If nothing was attempted, the send is undone, which takes time too. */
  #looksUntil(): number {
    const { lastPushAt, pushEndAt, endsAt } = this.#deadlines;
    if (!this.#isAwaited) return endsAt;
    const { attempted } = finalCounts(this.#sending.notification, this.#states);
    return attempted > 0 ? pushEndAt + pollMs : lastPushAt;
  }

  #isOpen(slice: Slice): boolean {
    return !isOver(this.#stateOf(slice), this.#deps.clock());
  }

  /** Whether a slice is open, and nobody else has a lease on it. */
  #isFree(slice: Slice): boolean {
    const state = this.#stateOf(slice);
    const isOwn = state?.lease?.by === this.#sending.call.requestId;
    return this.#isOpen(slice) && (isOwn || freeAt(state) < this.#now());
  }

  #stateOf({ slice }: Slice): SliceStates[number] {
    return this.#states[slice];
  }

  #pause(ms: number): Promise<unknown> {
    return this.#deps.sleep(ms, this.#ended).catch(() => {});
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}

/** So that the invocation is tried again. */
function notTaken(): ServiceError {
  return new ServiceError('unavailable', 'Lambda has not taken the invocation.');
}
