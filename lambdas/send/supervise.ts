import { setMaxListeners } from 'node:events';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { whileTimeIsLeft } from '../deliver/deadlines.ts';
import { SliceDelivery } from '../deliver/deliver-slice.ts';
import type { Chunk } from '../deliver/lease.ts';
import { finalCounts, freeAt, isOver, type SliceStates } from '../results/summary.ts';
import { unavailable } from '../store/dynamo.ts';
import type { SendDependencies, Sending } from './sending.ts';

/** What a request knows in the end. */
export interface Supervised {
  /** The slices, as this request read them last. */
  readonly states: SliceStates;
  /** Synchronous: whether each slice is over. Asynchronous: whether each is over or has a function. */
  readonly isDone: boolean;
  /** Whether somebody was attempted, as far as it knows. */
  readonly hasAttempted: boolean;
  /** Whether functions may have attempted somebody although `states` do not show it. */
  readonly mayHaveBegun: boolean;
  /** Why a slice was left early, if a call failed. */
  readonly error: unknown;
}

/** Ms between two looks at the slices that others deliver. */
const pollMs = 200;

/** Has the slices of a notification delivered. Leases prevent that anybody is pushed to twice. */
export class Supervision {
  readonly #deps: SendDependencies;
  readonly #sending: Sending;
  readonly #states: SliceStates[number][];
  readonly #startedAt: number;
  readonly #ended = new AbortController();
  /** Slices whose invocations Lambda has accepted. */
  readonly #accepted = new Set<Slice>();
  #leases = 0;
  /** Whether any invocation was started, and whether the last look has succeeded. */
  #hasStarted = false;
  #hasLooked = false;
  /** Epoch ms at which the states were read. A lease that has run out since may have been extended. */
  #readAt: number;
  #error: unknown;

  /** @param states of the slices when an earlier request left them. */
  constructor(deps: SendDependencies, sending: Sending, states: SliceStates) {
    this.#deps = deps;
    this.#sending = sending;
    this.#states = sending.slices.map((_, index) => states[index]);
    this.#startedAt = this.#now();
    this.#readAt = this.#startedAt;
    // One listener for each start that waits.
    setMaxListeners(0, this.#ended.signal);
  }

  /**
   * Has all slices delivered in time. This request delivers one slice at once; functions deliver the others. After some
   * seconds, this request also delivers those that no function has taken. At the end it ends the slices that nobody
   * has, so that their counts stay as the response says.
   * @param reading the first chunk of the first slice, if nobody has had it.
   */
  async deliver(reading?: Promise<Chunk>): Promise<Supervised> {
    const [own, ...others] = this.#slices(this.#isFree);
    const tries = new Map(others.map((slice) => [slice, 0]));
    const triesOf = (slice: Slice) => tries.get(slice) ?? 1;
    for (const slice of others) void this.#start(slice);
    if (own !== undefined) await this.#deliver(own, reading);
    while (this.#slices(this.#isOpen).length > 0) {
      const lookedAt = this.#now();
      await this.#look();
      // The last look begins when no function begins any more, however long this request was busy before.
      if (lookedAt >= this.#looksUntil()) break;
      // One that fails again and again must not keep this request from the others.
      const [free] = this.#slices(this.#mayBeDelivered).toSorted(
        (one, other) => triesOf(one) - triesOf(other),
      );
      if (free !== undefined) {
        if (triesOf(free) === 0) this.#reportUnlessTaken(free);
        tries.set(free, triesOf(free) + 1);
        await this.#deliver(free);
      }
      // A slice that failed is tried again after a pause.
      if (free === undefined || this.#isOpen(free)) await this.#pause();
    }
    if (this.#hasAttempted()) {
      await Promise.all(this.#slices(this.#isFree).map((slice) => this.#end(slice)));
    }
    return this.#supervised(this.#slices(this.#isOpen).length === 0);
  }

  /**
   * Has functions deliver all slices: nobody waits.
   * @param isRepeated whether an earlier request may have started some of them, and Lambda may have lost these.
   */
  async handOver(isRepeated: boolean): Promise<Supervised> {
    const isTaken = (slice: Slice) =>
      !this.#isFree(slice) || (!isRepeated && this.#accepted.has(slice));
    const areTaken = () => this.#sending.slices.every(isTaken);
    const starts = this.#slices(this.#isFree).map((slice) => this.#start(slice));
    await Promise.race([Promise.all(starts), this.#pause(sliceTimeline.startedWithinMs)]);
    while (!areTaken() && this.#now() < this.#sending.slicesEndAt) {
      await this.#look();
      if (!areTaken()) await this.#pause();
    }
    if (!areTaken()) await this.#look();
    for (const slice of this.#slices(this.#isFree)) this.#reportUnlessTaken(slice);
    return this.#supervised(areTaken());
  }

  #supervised(isDone: boolean): Supervised {
    this.#ended.abort();
    const { respondedAsync } = this.#sending.notification.division;
    // A function does not begin a synchronous slice after the last look.
    const mayHaveBegun = this.#hasStarted && (respondedAsync || !this.#hasLooked);
    const [states, error, hasAttempted] = [this.#states, this.#error, this.#hasAttempted()];
    return { states, isDone, hasAttempted, mayHaveBegun, error };
  }

  #reportUnlessTaken(slice: Slice): void {
    const isTaken = this.#accepted.has(slice) || this.#stateOf(slice) !== undefined;
    if (!isTaken) this.#deps.observe.notTaken(slice);
  }

  /** Tries until Lambda accepts the invocation, or the slice no longer needs it. */
  async #start(slice: Slice): Promise<void> {
    const { starter } = this.#deps;
    const attempt = async (signal: AbortSignal) => {
      if (!this.#isFree(slice)) return;
      this.#hasStarted = true;
      if (await starter.start(slice, signal)) this.#accepted.add(slice);
      else throw unavailable(new Error('Lambda has not taken the invocation.'));
    };
    const tries = { tryMs: sliceTimeline.lambdaCallMs, signal: this.#ended.signal };
    await whileTimeIsLeft(this.#deps, this.#sending.slicesEndAt, attempt, tries).catch(() => {});
  }

  async #deliver(slice: Slice, reading?: Promise<Chunk>): Promise<void> {
    const left = await this.#newDelivery(slice).run(reading);
    this.#states[slice.slice] = left.state;
    this.#error ??= left.error;
  }

  async #end(slice: Slice): Promise<void> {
    const left = await this.#newDelivery(slice).end();
    this.#states[slice.slice] = left.state;
  }

  #newDelivery(slice: Slice): SliceDelivery {
    this.#leases += 1;
    const { project, call } = this.#sending;
    const state = this.#stateOf(slice);
    // By the id of the request, `cancel` knows its own leases.
    const by = `${call.requestId}/${this.#leases}`;
    return new SliceDelivery(this.#deps, project, { slice, state, by, deadlines: this.#sending });
  }

  /** Reads the slices that are open. If that fails, what was read before is kept. */
  async #look(): Promise<void> {
    const open = this.#slices(this.#isOpen).map(({ slice }) => slice);
    const { notificationId } = this.#sending.slices[0]!;
    const now = this.#now();
    const deadline = Math.min(now + sliceTimeline.tryMs, this.#sending.endsAt);
    const read = await whileTimeIsLeft(this.#deps, deadline, (signal) =>
      this.#deps.slices.find(notificationId, open, signal),
    ).catch(() => undefined);
    this.#hasLooked = read !== undefined;
    if (read === undefined) return;
    this.#readAt = now;
    for (const [index, slice] of open.entries()) this.#states[slice] = read[index];
  }

  /** Later, no function begins, and none is at work: this request ends what is left, or undoes the send. */
  #looksUntil(): number {
    const isHeld = this.#slices(this.#isHeld).length > 0;
    return isHeld ? this.#sending.slicesEndAt : this.#sending.lastPushAt;
  }

  #hasAttempted(): boolean {
    return finalCounts(this.#sending.notification, this.#states).attempted > 0;
  }

  #slices(are: (slice: Slice) => boolean): readonly Slice[] {
    return this.#sending.slices.filter(are);
  }

  readonly #isOpen = (slice: Slice): boolean =>
    !isOver(this.#stateOf(slice), new Date(this.#readAt));

  /** Whether a slice is open and nobody has its lease. Those of this request end by its own clock. */
  readonly #isFree = (slice: Slice): boolean => {
    const state = this.#stateOf(slice);
    const isOwn = state?.lease?.by.startsWith(`${this.#sending.call.requestId}/`);
    const freeSince = isOwn ? state!.lease!.until : freeAt(state);
    return this.#isOpen(slice) && freeSince < this.#now();
  };

  readonly #isHeld = (slice: Slice): boolean => this.#isOpen(slice) && !this.#isFree(slice);

  /** Whether this request should deliver a slice: no function has it, and probably none will. */
  readonly #mayBeDelivered = (slice: Slice): boolean => {
    const { lastPushAt, project } = this.#sending;
    const now = this.#now();
    if (now >= lastPushAt || project.isGone || !this.#isFree(slice)) return false;
    const isLeft = this.#stateOf(slice)?.lease !== undefined;
    return isLeft || now >= this.#startedAt + sliceTimeline.startedWithinMs;
  };

  #stateOf({ slice }: Slice): SliceStates[number] {
    return this.#states[slice];
  }

  #pause(ms = pollMs): Promise<unknown> {
    return this.#deps.sleep(ms, this.#ended.signal).catch(() => {});
  }

  #now(): number {
    return this.#deps.clock().getTime();
  }
}
