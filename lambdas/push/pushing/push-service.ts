import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import type { Counts, FailureReason, Failures } from '../../../contract/wire/counts.ts';
import type { VapidPair } from '../../../contract/wire/project.ts';
import { otherHosts } from '../../../contract/wire/push-services.ts';
import { GoneInMasses } from './gone.ts';
import {
  type EncryptFor,
  isRefusal,
  type Outcome,
  type Prepare,
  type Push,
  refusedMs,
} from './push.ts';

/** Most pushes in flight, over all push services and to one of them. */
export interface InFlightLimits {
  readonly overall: number;
  readonly perPushService: number;
  /** The same for all hosts together that are not known by name: they may be silent. */
  readonly others: number;
  /** The limit that a push service begins with, unless it is behind, and the lowest one for a slow push service. */
  readonly initial: number;
  /** The lowest limit for a push service whose pushes fail. */
  readonly minimum: number;
  /** A push service that refuses at least this many pushes in a row, and all in flight, pauses as a whole. */
  readonly refusalsInARow: number;
  /** Time-outs in a row after which a host that is not known by name is given up. */
  readonly timeoutsInARow: number;
}

/**
 * Each push in flight has a connection, and a function should have at most 512. With pushes that take
 * 60 to 90 ms, 360 keep one processor busy.
 */
export const inFlight: InFlightLimits = {
  overall: 480,
  perPushService: 360,
  others: 8,
  initial: 32,
  minimum: 4,
  refusalsInARow: 100,
  timeoutsInARow: 3,
};

/** What became of pushes to one push service, as far as it is known. */
export interface ServiceOutcome {
  readonly pushService: string;
  readonly delivered: number;
  readonly failures: Failures;
  /** Those that failed with `no_response` because their host, which anybody can have invented, does not exist. */
  readonly unknownHosts: number;
}

/**
 * Anybody can subscribe endpoints that are refused. If they are nine of ten, a row of this many times the pushes
 * of which one is accepted comes by chance once in e¹² = 160,000 responses.
 */
const unlikelyRow = 12;

/** Milliseconds within which a healthy push service responds. */
export const promptMs = 1000;

/**
 * The queue of one push service, and how many of its pushes may be in flight. That limit adapts to the responses: one
 * more after each prompt one, one less after each slow or failed push. A push in flight cannot be recalled. So a slow
 * push service must not hold connections that the others could use, and a failing one must not take their processor
 * time. While half of all connections are free, its limit may also grow.
 *
 * If all its latest responses are refusals (429, 406), more than chance explains, it pauses, and its limit is 1: so one
 * push asks. Any other response ends the pause.
 */
export class PushService {
  readonly name: string;
  readonly prepare: Prepare;
  inFlight = 0;
  /** Epoch ms until which it pauses. */
  pausedUntil = 0;
  readonly #limits: InFlightLimits;
  readonly #mostInFlight: number;
  /**
   * Pushes that were never taken, in the order of the keys of their recipients, and those that failed, at the end, so that
   * time passes before their next attempt.
   */
  readonly #queue = new Queue<Push>();
  /** Pushes that were taken, and not sent, or refused: by a push service that limits everybody, or for the key pair. They go first. */
  readonly #again = new Queue<Push>();
  /** Pushes so far, and those of them without an outcome. */
  added = 0;
  unsettled = 0;
  /** The number of the furthest push that was sent or settled. */
  #furthest = -1;
  /** What became of its pushes. */
  delivered = 0;
  removed = 0;
  unreached = 0;
  unknownHosts = 0;
  readonly #failures: Partial<Record<FailureReason, number>> = {};
  readonly gone: GoneInMasses<Recipient>;
  #limit: number;
  #refusedInARow: number;
  /** Refusals before the current row of them; and responses that are no refusals. */
  #refusedBefore = 0;
  #notRefused = 0;
  /** Before its first pause, refusals may be those of single subscriptions. */
  #hasPaused = false;
  #pauseMs = 0;
  /** Whether its last response was prompt; and epoch ms since which it has not responded promptly to what is in flight. */
  #isPrompt = true;
  #waitsSince = 0;
  /** Time-outs in a row by origin, of hosts that are not known by name. */
  readonly #timeouts: Map<string, number> | undefined;

  /**
   * @param onGone is called with each subscription that is gone: see {@link GoneInMasses}.
   * @param isBehind whether earlier invocations have left recipients of it behind: then it begins with one push.
   */
  constructor(
    name: string,
    limits: InFlightLimits,
    prepare: Prepare,
    onGone: (recipient: Recipient, isDoubtful: boolean) => void,
    isBehind = false,
  ) {
    this.name = name;
    this.prepare = prepare;
    this.gone = new GoneInMasses(onGone);
    this.#limits = limits;
    const isOther = name === otherHosts;
    this.#mostInFlight = isOther ? limits.others : limits.perPushService;
    this.#limit = isBehind ? 1 : Math.min(limits.initial, this.#mostInFlight);
    this.#refusedInARow = isBehind ? limits.refusalsInARow : 0;
    this.#timeouts = isOther ? new Map() : undefined;
  }

  get outcome(): ServiceOutcome {
    const { name, delivered, unknownHosts } = this;
    return { pushService: name, delivered, failures: this.#failures, unknownHosts };
  }

  /** Of the recipients whose outcome is final. */
  get counts(): Counts {
    const { delivered, removed, unreached } = this;
    const failures = this.#failures;
    const failed = Object.values(failures).reduce((sum, number) => sum + number, 0);
    const attempted = delivered + removed + failed;
    const removals = removed > 0 ? { [this.name]: removed } : {};
    return { attempted, delivered, removed, failed, failures, removals, unreached };
  }

  /** Queues a push. Its recipient comes after those of earlier calls. */
  add(recipient: Recipient, encrypt: EncryptFor, vapid: VapidPair, wantedAt: number): void {
    const number = this.added++;
    this.unsettled += 1;
    this.#queue.add({ recipient, encrypt, number, vapid, wantedAt, attempts: 0, refusals: 0 });
  }

  /** Queues a push that was taken before. */
  addAgain(push: Push): void {
    const { lastFailure } = push;
    const hasFailed = lastFailure === 'unavailable' || lastFailure === 'no_response';
    const isRefusedAlone = lastFailure === 'throttled' && !this.#hasPaused;
    (hasFailed || isRefusedAlone ? this.#queue : this.#again).add(push);
  }

  /** Pushes in the queue. Those that wait for a time are not in it. */
  get waiting(): number {
    return this.#queue.length + this.#again.length;
  }

  canStart(now: number): boolean {
    return this.waiting > 0 && this.inFlight < this.#limit && now >= this.pausedUntil;
  }

  /**
   * Whether it responds promptly, and more than this many pushes wait. Further recipients do not wait for a slow push
   * service, nor for one that refuses most pushes: anybody can subscribe what it refuses; nor for hosts that are not known
   * by name, which have few connections.
   */
  isBusy(now: number, most: number): boolean {
    if (this.name === otherHosts) return false;
    if (this.#refusedBefore + this.#refusedInARow > this.#notRefused) return false;
    // With nothing in flight, the pushes wait for the pace, and not for the push service.
    const isPrompt = this.inFlight === 0 || now - this.#waitsSince < promptMs;
    return isPrompt && now >= this.pausedUntil && this.waiting > most;
  }

  /** The pushes that are taken next. They stay in the queue. */
  following(count: number): readonly Push[] {
    return (this.#again.length > 0 ? this.#again : this.#queue).first(count);
  }

  take(): Push {
    return (this.#again.length > 0 ? this.#again : this.#queue).take();
  }

  start(now: number): void {
    if (this.inFlight === 0 && this.#isPrompt) this.#waitsSince = now;
    this.inFlight += 1;
  }

  /**
   * @param tookMs since its start.
   * @param inFlightOverall pushes still in flight to all push services.
   */
  ended(
    { recipient }: Push,
    outcome: Outcome,
    now: number,
    tookMs: number,
    inFlightOverall: number,
  ): void {
    this.inFlight -= 1;
    const hasFailed = outcome.kind === 'transient';
    if (this.#timeouts !== undefined) {
      const isTimeout = hasFailed && outcome.isTimeout === true;
      const before = this.#timeouts.get(recipient.origin) ?? 0;
      this.#timeouts.set(recipient.origin, isTimeout ? before + 1 : 0);
    }
    if (hasFailed && isRefusal(outcome)) {
      this.#refused(now, outcome.retryAfterMs);
      return;
    }
    if (!hasFailed || outcome.reason !== 'no_response') {
      this.#notRefused += 1;
      this.#refusedBefore += this.#refusedInARow;
      this.#refusedInARow = 0;
      this.#pauseMs = 0;
      this.pausedUntil = 0;
    }
    const { overall, initial, minimum } = this.#limits;
    this.#isPrompt = !hasFailed && tookMs < promptMs;
    if (this.#isPrompt) this.#waitsSince = now;
    const lowest = hasFailed ? minimum : initial;
    const mayGrow = this.#isPrompt || inFlightOverall < overall / 2;
    const isBelow = this.#limit < lowest && !hasFailed;
    if (mayGrow || isBelow) this.#limit = Math.min(this.#mostInFlight, this.#limit + 1);
    else this.#limit = Math.min(this.#limit, Math.max(lowest, this.#limit - 1));
  }

  #refused(now: number, retryAfterMs: number | undefined): void {
    this.#refusedInARow += 1;
    const { initial, refusalsInARow } = this.#limits;
    const lowest = this.#notRefused > 0 ? initial : 1;
    this.#limit = Math.min(this.#limit, Math.max(lowest, this.#limit - 1));
    if (now < this.pausedUntil) {
      // It was sent before the pause.
      this.pausedUntil = Math.max(this.pausedUntil, now + (retryAfterMs ?? 0));
      return;
    }
    const byChance = this.#refusedBefore / Math.max(1, this.#notRefused) + 1;
    const row = Math.max(refusalsInARow, this.inFlight + 1, unlikelyRow * byChance);
    if (this.#refusedInARow < row) return;
    const { first, longest } = refusedMs;
    this.#hasPaused = true;
    this.#pauseMs = Math.min(longest, Math.max(first, 2 * this.#pauseMs));
    this.pausedUntil = now + Math.max(first, retryAfterMs ?? this.#pauseMs);
    this.#limit = 1;
  }

  /** A push that was started is not sent after all. */
  notSent(): void {
    this.inFlight -= 1;
  }

  /** A push has its outcome. */
  settled(push: Push): void {
    this.passed(push);
    this.unsettled -= 1;
  }

  /** The bytes of a push are written, or it has its outcome. */
  passed({ number }: Push): void {
    this.#furthest = Math.max(this.#furthest, number);
  }

  /** Whether a host that is not known by name is silent. Its other recipients are not attempted. */
  isGivenUp(origin: string): boolean {
    return (this.#timeouts?.get(origin) ?? 0) >= this.#limits.timeoutsInARow;
  }

  addFailed(reason: FailureReason): void {
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  /**
   * Empties the queue at the end, when nothing is in flight.
   * @returns `untaken`: never sent, and after all that was sent, so that it counts as not added. `passed`: the others.
   */
  drain(): { readonly passed: readonly Push[]; readonly untaken: readonly Push[] } {
    const all = [...this.#again.drain(), ...this.#queue.drain()];
    const isUntaken = (push: Push) =>
      push.lastFailure === undefined && push.number > this.#furthest;
    for (const push of all) if (push.lastFailure !== undefined) this.passed(push);
    return {
      passed: all.filter((push) => !isUntaken(push)),
      untaken: all.filter(isUntaken).sort((one, other) => one.number - other.number),
    };
  }
}

/** The push service with the fewest pushes in flight that can start another. */
export function nextToStart(
  pushServices: Iterable<PushService>,
  now: number,
): PushService | undefined {
  let next: PushService | undefined;
  for (const pushService of pushServices) {
    if (!pushService.canStart(now)) continue;
    if (next === undefined || pushService.inFlight < next.inFlight) next = pushService;
  }
  return next;
}

/**
 * Waiting items, first in, first out.
 *
 *     taken  | waiting
 *     ───────┼────────
 *          #head
 *
 * Only items from `#head` on are live. The slots before it stay empty until the queue is.
 */
export class Queue<Item> {
  readonly #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  add(item: Item): void {
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    }
    this.#items.push(item);
  }

  take(): Item {
    const item = this.#items[this.#head]!;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    return item;
  }

  /** The items that are taken next. They stay in the queue. */
  first(count: number): Item[] {
    return this.#items.slice(this.#head, this.#head + count) as Item[];
  }

  /** Takes all items. */
  drain(): Item[] {
    return this.#items.splice(this.#head) as Item[];
  }
}

/**
 * Milliseconds of missed starts that may be made up for: on a busy processor, timers are some milliseconds late. Any
 * second has at most 5 % more starts.
 */
const catchUpMs = 50;

/** Spaces starts evenly, so that there are at most this many per second (GCRA, ITU-T I.371). */
export class Pace {
  readonly #intervalMs: number;
  #nextAt: number;

  constructor(startsPerSecond: number, now: number) {
    this.#intervalMs = 1000 / startsPerSecond;
    this.#nextAt = now;
  }

  /** Takes a start, if the pace allows one now. @returns 0 if so, otherwise ms until the next one. */
  start(now: number): number {
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = Math.max(this.#nextAt, now - catchUpMs) + this.#intervalMs;
    return 0;
  }

  /** Gives back a start that was not used. */
  notStarted(): void {
    this.#nextAt -= this.#intervalMs;
  }
}
