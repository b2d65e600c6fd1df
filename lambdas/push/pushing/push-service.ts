import type { FailureReason, Failures } from '../../../contract/wire/counts.ts';
import type { Outcome, Push } from './push.ts';

/** Most pushes in flight, over all push services and to one of them. */
export interface InFlightLimits {
  readonly overall: number;
  readonly perPushService: number;
  /** The limit that a push service begins with, and the lowest one for a slow push service. */
  readonly initial: number;
  /** The lowest limit for a push service whose pushes fail. */
  readonly minimum: number;
}

/**
 * Each push in flight has a connection, and a function should have at most 512. With pushes that take
 * 60 to 90 ms, 360 keep one processor busy.
 */
export const inFlight: InFlightLimits = {
  overall: 480,
  perPushService: 360,
  initial: 32,
  minimum: 4,
};

/** Milliseconds within which a healthy push service responds. */
export const promptMs = 1000;

/**
 * Responses in a row that suspend a push service, all throttled until after the last retry. It is as
 * many as are in flight at the beginning: a few subscriptions that are throttled by themselves never
 * reach it, while a push service that throttles everything is suspended with its first responses.
 */
const suspendAfter = 32;

/** What became of pushes to one push service, as far as it is known. */
export interface ServiceOutcome {
  readonly pushService: string;
  readonly delivered: number;
  readonly failures: Failures;
}

/**
 * One push service of a pusher: its queue, and how many pushes to it may be in flight. That limit adapts to its
 * responses: one more after each prompt one, one less after each slow or failed push. Pushes in flight cannot be
 * recalled; so a slow push service never holds the connections that the others could use, and a failing one does
 * not take the processor from them. While half of all connections are free, it may have more as well.
 */
export class PushService {
  readonly name: string;
  readonly queue = new Queue<Push>();
  /** Encrypts a push and sets its headers, unless that has been done. */
  readonly prepare: (push: Push) => void;
  inFlight = 0;
  readonly #limits: InFlightLimits;
  readonly #failures: Partial<Record<FailureReason, number>> = {};
  #delivered = 0;
  #limit: number;
  #throttledInARow = 0;
  /** Epoch ms of its last prompt response, or of the first push. */
  #promptAt: number | undefined;

  constructor(name: string, limits: InFlightLimits, prepare: (push: Push) => void) {
    this.name = name;
    this.prepare = prepare;
    this.#limits = limits;
    this.#limit = limits.initial;
  }

  get outcome(): ServiceOutcome {
    return { pushService: this.name, delivered: this.#delivered, failures: this.#failures };
  }

  addDelivered(): void {
    this.#delivered += 1;
  }

  addFailed(reason: FailureReason): void {
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  /** Whether it throttles everything until after the last push. No further push to it starts. */
  get isSuspended(): boolean {
    return this.#throttledInARow >= suspendAfter;
  }

  canStart(): boolean {
    return this.queue.length > 0 && this.inFlight < this.#limit;
  }

  /** Whether its queue becomes shorter as is to be expected. If not, further recipients do not wait for it. */
  isProgressing(now: number): boolean {
    return this.queue.length > 0 && now - (this.#promptAt ?? now) < promptMs;
  }

  start(now: number): Push {
    this.#promptAt ??= now;
    this.inFlight += 1;
    return this.queue.take();
  }

  /**
   * @param tookMs undefined if nothing was sent.
   * @param inFlightOverall pushes still in flight to all push services.
   * @param msLeft until the last push.
   */
  ended(
    outcome: Outcome,
    now: number,
    tookMs: number,
    inFlightOverall: number,
    msLeft: number,
  ): void {
    this.inFlight -= 1;
    const { overall, perPushService, initial, minimum } = this.#limits;
    const hasFailed = outcome.kind === 'transient';
    const isPrompt = !hasFailed && tookMs < promptMs;
    if (isPrompt) this.#promptAt = now;
    if (isPrompt || inFlightOverall < overall / 2) {
      this.#limit = Math.min(perPushService, this.#limit + 1);
    } else {
      this.#limit = Math.max(hasFailed ? minimum : initial, this.#limit - 1);
    }
    if (this.isSuspended) return;
    const isThrottledToTheEnd =
      hasFailed && outcome.reason === 'throttled' && (outcome.retryAfterMs ?? 0) >= msLeft;
    this.#throttledInARow = isThrottledToTheEnd ? this.#throttledInARow + 1 : 0;
  }

  /** A push that was started is not sent. */
  notSent(): void {
    this.inFlight -= 1;
  }
}

/** The push service with the fewest pushes in flight that can start another. */
export function nextToStart(pushServices: Iterable<PushService>): PushService | undefined {
  let next: PushService | undefined;
  for (const pushService of pushServices) {
    if (!pushService.canStart()) continue;
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
 * Milliseconds of starts that may be made up for. Timers are late by some milliseconds on a busy
 * processor, and the rate could not be reached otherwise. Any second has at most 5 % more starts.
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

  /** Takes a start if one is free. @returns 0 if so, otherwise ms until the next one is. */
  start(now: number): number {
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = Math.max(this.#nextAt, now - catchUpMs) + this.#intervalMs;
    return 0;
  }

  /** Gives back a start that was taken for nothing. */
  notStarted(): void {
    this.#nextAt -= this.#intervalMs;
  }
}
