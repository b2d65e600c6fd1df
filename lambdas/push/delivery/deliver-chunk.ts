import type { FailureReason } from '../../../contract/failure-reasons.ts';
import { attempt, retryDelay } from './attempt.ts';
import type { Chunk, ChunkReport, Deliver, DeliverySettings } from './chunk.ts';
import { Corrections } from './corrections.ts';
import { Counts } from './counts.ts';
import { useOtherPair } from './other-pair.ts';
import type { FinalOutcome, Transient } from './outcome.ts';
import { Pace } from './pace.ts';
import type { Push } from './push.ts';
import { nextToStart, type PushService, queuePushes } from './push-service.ts';
import { Removals } from './removals.ts';

export type { Chunk, ChunkDelivery, ChunkReport, Deliver, DeliverySettings } from './chunk.ts';

/** See README.md for the way of a push. */
export function delivery(settings: DeliverySettings): Deliver {
  return (chunk) => {
    const counts = new Counts();
    const done = new Delivery(settings, chunk, counts).run();
    return { done, soFar: () => counts.report() };
  };
}

class Delivery {
  readonly #settings: DeliverySettings;
  readonly #chunk: Chunk;
  readonly #counts: Counts;
  readonly #services: readonly PushService[];
  readonly #pace: Pace;
  readonly #removals: Removals;
  readonly #corrections: Corrections;
  /** Aborts at `endAt`. */
  readonly #end = new AbortController();
  /** Aborts when the delivery is done, and stops its timers. */
  readonly #done = new AbortController();
  #inFlight = 0;
  /** Pushes that are queued, in flight, or waiting for a retry. */
  #unsettled: number;
  #allSettled = () => {};
  #isWaitingForPace = false;

  constructor(settings: DeliverySettings, chunk: Chunk, counts: Counts) {
    this.#settings = settings;
    this.#chunk = chunk;
    this.#counts = counts;
    this.#pace = new Pace(chunk.pushesPerSecond, this.#now());
    this.#removals = new Removals(chunk, counts, this.#end.signal);
    this.#corrections = new Corrections(chunk, this.#end.signal);
    const { services, notAccepted } = queuePushes(chunk, settings);
    this.#services = services;
    this.#unsettled = chunk.recipients.length - notAccepted;
    if (notAccepted > 0) counts.addFailed('unsendable', notAccepted);
  }

  async run(): Promise<ChunkReport> {
    this.#after(this.#chunk.endAt - this.#now(), () => this.#end.abort());
    const allSettled = new Promise<void>((resolve) => {
      this.#allSettled = resolve;
    });
    this.#startPushes();
    if (this.#unsettled > 0) await allSettled;
    await Promise.all([this.#removals.finish(), this.#corrections.finish()]);
    this.#done.abort();
    for (const { name, failures } of this.#services) {
      if (Object.keys(failures).length > 0) this.#chunk.onFailures?.(name, failures);
    }
    return this.#counts.report();
  }

  /** Starts pushes until the limits, the pace or the time allow no more. */
  #startPushes(): void {
    while (this.#inFlight < this.#settings.inFlight.overall) {
      const service = nextToStart(this.#services);
      if (service === undefined) return;
      if (service.isSuspended) {
        this.#endQueue(service, () => failed('throttled'));
      } else if (this.#msLeft() <= 0) {
        this.#endQueue(service, ({ lastFailure }) =>
          lastFailure === undefined ? unreached : failed(lastFailure),
        );
        this.#removals.removeRest();
      } else {
        const wait = this.#pace.start(this.#now());
        if (wait > 0) {
          this.#startPushesIn(wait);
          return;
        }
        void this.#attempt(service, service.start());
      }
    }
  }

  #startPushesIn(ms: number): void {
    if (this.#isWaitingForPace) return;
    this.#isWaitingForPace = true;
    this.#after(Math.min(ms, this.#msLeft()), () => {
      this.#isWaitingForPace = false;
      this.#startPushes();
    });
  }

  #endQueue(service: PushService, outcomeOf: (push: Push) => Settled): void {
    for (const push of service.queue.drain()) this.#settle(service, push, outcomeOf(push));
  }

  async #attempt(service: PushService, push: Push): Promise<void> {
    this.#inFlight += 1;
    const startedAt = this.#now();
    const outcome = await attempt(push, this.#settings, this.#chunk.endAt);
    this.#inFlight -= 1;
    service.ended(outcome, this.#now() - startedAt, this.#inFlight, this.#msLeft());
    if (outcome.kind === 'transient') this.#retry(service, push, outcome);
    else if (isMismatch(outcome) && useOtherPair(push, this.#chunk.vapid)) {
      push.lastFailure = 'key_mismatch';
      service.queue.add(push);
    } else this.#settle(service, push, outcome);
    this.#startPushes();
  }

  /** Queues a push again after a pause, if another attempt is left and begins in time. */
  #retry(service: PushService, push: Push, outcome: Transient): void {
    push.lastFailure = outcome.reason;
    const delay = retryDelay(push, outcome, this.#settings.random(), this.#msLeft());
    if (delay === undefined) {
      this.#settle(service, push, failed(outcome.reason));
    } else {
      void this.#settings.sleep(delay).then(() => {
        service.queue.add(push);
        this.#startPushes();
      });
    }
  }

  #settle(service: PushService, push: Push, outcome: Settled): void {
    const { recipient, origin, isOtherPair } = push;
    if (outcome.kind === 'delivered') {
      this.#counts.addDelivered();
      if (isOtherPair) this.#corrections.add(recipient, origin.vapid.number);
    } else if (outcome.kind === 'gone') this.#removals.add(recipient);
    else if (outcome.kind === 'unreached') this.#counts.addUnreached();
    else {
      this.#counts.addFailed(outcome.reason);
      service.addFailed(outcome.reason);
    }
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#allSettled();
  }

  #after(ms: number, act: () => void): void {
    this.#settings.sleep(Math.max(0, ms), this.#done.signal).then(act, () => {});
  }

  #msLeft(): number {
    return this.#chunk.lastPushAt - this.#now();
  }

  #now(): number {
    return this.#settings.clock().getTime();
  }
}

type Settled = FinalOutcome | { readonly kind: 'unreached' };

const unreached: Settled = { kind: 'unreached' };
const isMismatch = (outcome: FinalOutcome) =>
  outcome.kind === 'failed' && outcome.reason === 'key_mismatch';
const failed = (reason: FailureReason): Settled => ({ kind: 'failed', reason });
