import { setMaxListeners } from 'node:events';
import { sliceSizes, sliceTimeline } from '../../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import { type Counts, type FailureReason, noCounts } from '../../../contract/wire/counts.ts';
import type { VapidPair, VapidPairs } from '../../../contract/wire/project.ts';
import { pushServiceOf } from '../../../contract/wire/push-services.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import { NoResponseError, NotStartedError, UnsendableError } from '../transport/response.ts';
import type { Transport } from '../transport/transport.ts';
import { Batches } from './batches.ts';
import {
  type EncryptFor,
  encryptionFor,
  type Message,
  type Outcome,
  otherPairOf,
  outcomeOf,
  type Push,
  type PushOptions,
  preparer,
  pushesByOrigin,
  type Settled,
  stepAfter,
  useOtherPair,
} from './push.ts';
import {
  type InFlightLimits,
  nextToStart,
  Pace,
  PushService,
  promptMs,
  type ServiceOutcome,
} from './push-service.ts';

/** Epoch ms. */
export interface PushTimes {
  /** No push starts after this. */
  readonly lastPushAt: number;
  /** Nor after this: the pushes that are left wait until it is later. */
  readonly pausesAt: number;
  /** Everything ends by this, finished or not: pushes in flight and removals. */
  readonly endAt: number;
}

/** Common to all recipients of a pusher. */
export interface PusherOptions {
  /**
   * They differ in their events URL only. Recipients that are added together take turns: recipient `i`
   * receives `messages[i % messages.length]`.
   */
  readonly messages: readonly Message[];
  /** How push services treat the messages. */
  readonly options: PushOptions;
  readonly times: PushTimes;
  /** Whether a caller waits for the counts. Then no push that timed out is repeated. */
  readonly isAwaited: boolean;
  /** Most pushes that start per second, retries included. */
  readonly pushesPerSecond: number;
  /**
   * Whether a recipient still is one, if that can change: asked before a push starts more than
   * `sliceTimeline.userKnownForMs` after it was known.
   */
  readonly isStillWanted?:
    | ((recipient: Recipient, signal: AbortSignal) => Promise<boolean>)
    | undefined;
  /** Recipients of one group are written one batch after another, groups in parallel. */
  readonly group: (recipient: Recipient) => number;
  /** Deletes subscriptions that their push service reported as gone. */
  readonly remove: (recipients: readonly Recipient[], signal: AbortSignal) => Promise<void>;
  /** Stores which pair a subscription was made with, after a push with another pair was refused. */
  readonly correctPair: (
    recipient: Recipient,
    number: number,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Is called for each recipient that counts as delivered. */
  readonly onDelivered?: ((recipient: Recipient) => void) | undefined;
  /** Is called at the end, with each push service that was pushed to. */
  readonly onEnd?: ((outcomes: readonly ServiceOutcome[]) => void) | undefined;
}

export interface PusherSettings {
  readonly transport: Transport;
  readonly sign: VapidSigner;
  readonly clock: () => Date;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** From 0 to below 1; spreads retries. */
  readonly random: () => number;
  /** Accepted origins besides the known push services. */
  readonly extraOrigins: readonly string[];
  readonly inFlight: InFlightLimits;
  /** Is called for each push that failed with `internal_error`. */
  readonly onFault?: (error: unknown) => void;
}

/** Milliseconds that a push may take, unless the pusher ends before. */
const pushTimeoutMs = 10_000;
/**
 * Encryption after encryption finds its tables in the processor's cache, which each system call of a
 * push between them would empty: a tenth of a push's CPU time.
 */
const encryptedInARow = 32;
/** Milliseconds between two looks at whether a paused pusher may continue. */
const pausePollMs = 100;
/** Milliseconds before it is asked again whether a recipient is still wanted, if that could not be read. */
const askAgainMs = 500;

const failed = (reason: FailureReason): Settled => ({ kind: 'failed', reason });
/** The outcome of a push that is not tried again. */
function notPushed({ lastFailure }: Push): Settled {
  return lastFailure === undefined ? { kind: 'unreached' } : failed(lastFailure);
}

export type Pusher = Pick<RunningPusher, keyof RunningPusher>;

export type StartPushing = (options: PusherOptions) => Pusher;

/** See README.md for the way of a push. */
export function startPushingWith(settings: PusherSettings): StartPushing {
  return (options) => new RunningPusher(settings, options);
}

/** Pushes to recipients that are added one chunk after another. */
class RunningPusher {
  readonly #settings: PusherSettings;
  readonly #options: PusherOptions;
  /** One for each message. */
  readonly #encrypts: readonly EncryptFor[];
  readonly #services = new Map<string, PushService>();
  readonly #pace: Pace;
  readonly #removals: Batches<Recipient>;
  readonly #corrections: Batches<readonly [Recipient, number: number]>;
  /** Aborts at `endAt`. */
  readonly #end = new AbortController();
  /** Aborts when the pusher has ended, and stops its timers. */
  readonly #done = new AbortController();
  readonly #counts = { delivered: 0, removed: 0, failed: 0, unreached: 0 };
  readonly #failures: Partial<Record<FailureReason, number>> = {};
  /** The pairs of the recipients that were added last. */
  #vapid: VapidPairs<VapidPair> | undefined;
  #inFlight = 0;
  /** Pushes that are queued, in flight, or waiting for a retry. */
  #unsettled = 0;
  /** Pushes that wait for a retry. */
  readonly #retries = new Map<Push, PushService>();
  #isStopped = false;
  #canCorrect = true;
  /** Whether the next push waits for the pace, or for the end of a pause. */
  #isWaiting = false;
  #allSettled = () => {};
  #onWantsMore: (() => void) | undefined;

  constructor(settings: PusherSettings, options: PusherOptions) {
    // Every timer and every write listens.
    setMaxListeners(0, this.#done.signal, this.#end.signal);
    this.#settings = settings;
    this.#options = options;
    this.#encrypts = options.messages.map(encryptionFor);
    this.#pace = new Pace(options.pushesPerSecond, this.#now());
    const common = {
      after: (ms: number, act: () => void) => this.#after(ms, act),
      end: this.#end.signal,
    };
    this.#removals = new Batches({
      ...common,
      size: sliceSizes.removalBatch,
      write: options.remove,
      onWritten: (number) => {
        this.#counts.removed += number;
      },
      onFailed: (number) => this.#countFailed('not_removed', number),
    });
    this.#corrections = new Batches({
      ...common,
      // Few writes at once: they take processor time from the pushes.
      size: 1,
      write: async ([corrected], signal) => {
        if (!this.#canCorrect) return;
        try {
          await options.correctPair(...corrected!, signal);
        } catch {
          // The next send corrects what is left.
          this.#canCorrect = false;
        }
      },
    });
    this.#endInTime();
  }

  /**
   * @param vapid the project's key pairs. Each push is signed with the pair of its subscription.
   * @param readAt epoch ms at which the recipients were read.
   */
  add(recipients: readonly Recipient[], vapid: VapidPairs<VapidPair>, readAt: number): void {
    this.#vapid = vapid;
    this.#unsettled += recipients.length;
    for (const [origin, pushes] of pushesByOrigin(recipients, readAt, this.#encrypts, vapid)) {
      const service = this.#serviceOf(origin.name);
      for (const push of pushes) {
        if (service === undefined) this.#settle(push, failed('unsendable'));
        else service.queue.add(push);
      }
    }
    this.#startPushes();
  }

  /**
   * Resolves when more recipients could be pushed to: all others have been, or wait for push services
   * that are slow or fail.
   * @returns false if it is too late to start a push.
   */
  async wantsMore(): Promise<boolean> {
    while (this.#msLeft() > 0) {
      if (this.#hasRoom()) return true;
      await new Promise<void>((resolve) => {
        this.#onWantsMore = resolve;
        // A push service that does not respond causes no event.
        this.#after(Math.min(promptMs, this.#msLeft()), resolve);
      });
      this.#onWantsMore = undefined;
    }
    return false;
  }

  /**
   * Resolves when all recipients are settled: `attempted + unreached` is their number. None may be added
   * from now on.
   */
  async end(): Promise<Counts> {
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#allSettled = resolve;
      });
    }
    await Promise.all([this.#removals.finish(), this.#corrections.finish()]);
    this.#done.abort();
    this.#options.onEnd?.([...this.#services.values()].map(({ outcome }) => outcome));
    return this.soFar();
  }

  /** Starts no further push. */
  stop(): void {
    this.#isStopped = true;
    for (const [push, service] of this.#retries) service.queue.add(push);
    this.#retries.clear();
    this.#startPushes();
  }

  /** Counts of the recipients whose outcome is final. `unreached` is 0 until `lastPushAt`. */
  soFar(): Counts {
    const { delivered, removed, failed } = this.#counts;
    const attempted = delivered + removed + failed;
    return { ...noCounts, ...this.#counts, attempted, failures: { ...this.#failures } };
  }

  /** @returns undefined if the deployment no longer accepts the origin. */
  #serviceOf(origin: string): PushService | undefined {
    const name = pushServiceOf(origin, this.#settings.extraOrigins);
    if (name === undefined) return undefined;
    let service = this.#services.get(name);
    if (service === undefined) {
      const { sign, onFault = () => {} } = this.#settings;
      const prepare = preparer(this.#options.options, name, sign, onFault);
      service = new PushService(name, this.#settings.inFlight, prepare);
      this.#services.set(name, service);
    }
    return service;
  }

  /** Whether connections are idle that only further recipients could use, and memory is left for these. */
  #hasRoom(): boolean {
    if (this.#isWaiting || this.#isPaused) return false;
    if (this.#inFlight >= this.#settings.inFlight.overall) return false;
    if (this.#unsettled > sliceSizes.pending) return false;
    const now = this.#now();
    return [...this.#services.values()].every((service) => !service.isProgressing(now));
  }

  /** Starts pushes until the limits, the pace or the time allow no more. */
  #startPushes(): void {
    while (this.#inFlight < this.#settings.inFlight.overall) {
      const service = nextToStart(this.#services.values());
      if (service === undefined) break;
      if (service.isSuspended) {
        this.#endQueue(service, () => failed('throttled'));
      } else if (this.#msLeft() <= 0) {
        this.#endQueue(service, notPushed);
      } else {
        const waitMs = this.#isPaused ? pausePollMs : this.#pace.start(this.#now());
        if (waitMs > 0) {
          this.#startPushesIn(waitMs);
          return;
        }
        void this.#run(service, this.#startNext(service));
      }
    }
    if (this.#onWantsMore !== undefined && this.#hasRoom()) this.#onWantsMore();
  }

  /** Takes a push from its queue, encrypted. */
  #startNext(service: PushService): Push {
    const push = service.start(this.#now());
    if (push.headers === undefined) {
      const following = service.queue.first(encryptedInARow - 1);
      for (const next of [push, ...following]) service.prepare(next);
    }
    return push;
  }

  #startPushesIn(ms: number): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#after(Math.min(ms, this.#msLeft()), () => {
      this.#isWaiting = false;
      this.#startPushes();
    });
  }

  #endQueue(service: PushService, outcomeOf: (push: Push) => Settled): void {
    for (const push of service.queue.drain()) this.#settle(push, outcomeOf(push), service);
  }

  async #run(service: PushService, push: Push): Promise<void> {
    this.#inFlight += 1;
    if (this.#isDoubtful(push) && !(await this.#isConfirmed(service, push))) {
      return this.#notSent(service);
    }
    const startedAt = this.#now();
    const outcome = await this.#attempt(push);
    if (outcome === undefined) {
      service.queue.add(push);
      return this.#notSent(service);
    }
    this.#inFlight -= 1;
    const now = this.#now();
    const msLeft = this.#msLeft();
    service.ended(outcome, now, now - startedAt, this.#inFlight, msLeft);
    const otherPair = otherPairOf(push, this.#vapid!);
    const step = stepAfter(outcome, {
      attempts: push.attempts,
      hasOtherPair: otherPair !== undefined,
      msLeft,
      isAwaited: this.#options.isAwaited,
      random: this.#settings.random(),
    });
    switch (step.kind) {
      case 'settle':
        this.#settle(push, step.as, service);
        break;
      case 'use_other_pair':
        useOtherPair(push, otherPair!);
        service.queue.add(push);
        break;
      case 'retry':
        if (outcome.kind === 'transient') push.lastFailure = outcome.reason;
        this.#queueIn(step.afterMs, service, push);
    }
    this.#startPushes();
  }

  /** Nothing was sent of a push that was started. */
  #notSent(service: PushService): void {
    this.#inFlight -= 1;
    service.notSent();
    this.#pace.notStarted();
    this.#startPushes();
  }

  /** Whether its recipient may have become another user's. */
  #isDoubtful({ wantedAt }: Push): boolean {
    const { isStillWanted } = this.#options;
    return isStillWanted !== undefined && this.#now() - wantedAt > sliceTimeline.userKnownForMs;
  }

  /** @returns whether the push may be sent now. Otherwise it is settled or waits. */
  async #isConfirmed(service: PushService, push: Push): Promise<boolean> {
    const askedAt = this.#now();
    try {
      const isWanted = await this.#options.isStillWanted!(push.recipient, this.#end.signal);
      push.wantedAt = askedAt;
      if (isWanted && this.#mayStart(push)) return true;
      if (isWanted) service.queue.add(push);
      else this.#settle(push, notPushed(push), service);
    } catch {
      this.#queueIn(askAgainMs, service, push);
    }
    return false;
  }

  /** Asked again when its connection is open: it may have been stopped meanwhile. */
  #mayStart(push: Push): boolean {
    return this.#msLeft() > 0 && !this.#isPaused && !this.#isDoubtful(push);
  }

  /** Posts a prepared push once. @returns undefined if it might not start when its connection was open. */
  async #attempt(push: Push): Promise<Outcome | undefined> {
    const { origin, recipient, headers, body } = push;
    if (headers === undefined) return { kind: 'failed', reason: 'internal_error' };
    const unsendable: Outcome = { kind: 'failed', reason: 'unsendable' };
    if (body === undefined) return unsendable;
    const { transport, clock, onFault } = this.#settings;
    push.attempts += 1;
    try {
      const response = await transport({
        origin: origin.name,
        path: recipient.path,
        headers,
        body,
        timeoutMs: Math.min(pushTimeoutMs, this.#options.times.endAt - this.#now()),
        mayStart: () => this.#mayStart(push),
      });
      return outcomeOf(response, clock());
    } catch (error) {
      if (error instanceof UnsendableError) return unsendable;
      if (error instanceof NotStartedError) {
        push.attempts -= 1;
        return undefined;
      }
      if (error instanceof NoResponseError) {
        const { isTimeout, isSent } = error;
        return { kind: 'transient', reason: 'no_response', isTimeout, isSent };
      }
      // A fault of the code. The other pushes continue, and the log has the error.
      onFault?.(error);
      return { kind: 'failed', reason: 'internal_error' };
    }
  }

  /** Queues a push again after a pause. */
  #queueIn(ms: number, service: PushService, push: Push): void {
    if (this.#isStopped) {
      service.queue.add(push);
      return;
    }
    this.#retries.set(push, service);
    this.#after(ms, () => {
      // The pusher may have been stopped meanwhile.
      if (!this.#retries.delete(push)) return;
      service.queue.add(push);
      this.#startPushes();
    });
  }

  #settle(push: Push, outcome: Settled, service?: PushService): void {
    const { recipient, origin, isOtherPair } = push;
    const { group, onDelivered } = this.#options;
    switch (outcome.kind) {
      case 'delivered':
        this.#counts.delivered += 1;
        service?.addDelivered();
        onDelivered?.(recipient);
        if (isOtherPair) this.#corrections.add(group(recipient), [recipient, origin.vapid.number]);
        break;
      case 'gone':
        this.#removals.add(group(recipient), recipient);
        break;
      case 'unreached':
        this.#counts.unreached += 1;
        break;
      case 'failed':
        this.#countFailed(outcome.reason, 1);
        service?.addFailed(outcome.reason);
    }
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#allSettled();
  }

  #countFailed(reason: FailureReason, number: number): void {
    this.#counts.failed += number;
    this.#failures[reason] = (this.#failures[reason] ?? 0) + number;
  }

  /** Aborts what is in progress at `endAt`. */
  #endInTime(): void {
    const msLeft = this.#options.times.endAt - this.#now();
    if (msLeft <= 0) this.#end.abort();
    else this.#after(msLeft, () => this.#endInTime());
  }

  #after(ms: number, act: () => void): void {
    this.#settings.sleep(Math.max(0, ms), this.#done.signal).then(act, () => {});
  }

  /** Until the last push. */
  #msLeft(): number {
    return this.#isStopped ? 0 : this.#options.times.lastPushAt - this.#now();
  }

  get #isPaused(): boolean {
    return this.#options.times.pausesAt <= this.#now();
  }

  #now(): number {
    return this.#settings.clock().getTime();
  }
}
