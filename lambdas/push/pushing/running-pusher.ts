import { setMaxListeners } from 'node:events';
import type { Recipient } from '../../../contract/audience.ts';
import type { Counts } from '../../../contract/counts.ts';
import type { FailureReason } from '../../../contract/failure-reasons.ts';
import type { VapidPair, VapidPairs } from '../../../contract/project.ts';
import { shareSizes } from '../../../contract/share-sizes.ts';
import { attempt, retryDelayMs } from './attempt.ts';
import { Corrections } from './corrections.ts';
import { promptMs } from './limiter.ts';
import { useOtherPair } from './other-pair.ts';
import type { FinalOutcome, Transient } from './outcome.ts';
import { OutcomeCounter } from './outcome-counter.ts';
import { Pace } from './pace.ts';
import { type Push, pushesByOrigin } from './push.ts';
import { nextToStart, type PushService, PushServices } from './push-service.ts';
import type { Pusher, PusherOptions, PusherSettings, StartPushing } from './pusher.ts';
import { Removals } from './removals.ts';

/** See README.md for the way of a push. */
export function startPushingWith(settings: PusherSettings): StartPushing {
  return (options) => new RunningPusher(settings, options);
}

class RunningPusher implements Pusher {
  readonly #settings: PusherSettings;
  readonly #options: PusherOptions;
  readonly #counts = new OutcomeCounter();
  readonly #pushServices: PushServices;
  readonly #pace: Pace;
  readonly #removals: Removals;
  readonly #corrections: Corrections;
  /** Aborts at `endAt`. */
  readonly #end = new AbortController();
  /** Aborts when the pusher has ended, and stops its timers. */
  readonly #done = new AbortController();
  /** The pairs of the recipients that were added last. */
  #vapid: VapidPairs<VapidPair> | undefined;
  #inFlight = 0;
  /** Pushes that are queued, in flight, or waiting for a retry. */
  #unsettled = 0;
  /** Pushes that wait for a retry. */
  readonly #retries = new Map<Push, PushService>();
  /** How many of them have timed out. */
  #timedOut = 0;
  #isEnding = false;
  #isStopped = false;
  #isWaiting = false;
  #allSettled = () => {};
  #onWantsMore: (() => void) | undefined;

  constructor(settings: PusherSettings, options: PusherOptions) {
    // Every timer and every removal listens.
    setMaxListeners(0, this.#done.signal, this.#end.signal);
    this.#settings = settings;
    this.#options = options;
    this.#pushServices = new PushServices(options, settings);
    this.#pace = new Pace(options.pushesPerSecond, this.#now());
    const after = (ms: number, act: () => void) => this.#after(ms, act);
    this.#removals = new Removals(options, this.#counts, after, this.#end.signal);
    this.#corrections = new Corrections(options, this.#end.signal);
    this.#endInTime();
  }

  add(recipients: readonly Recipient[], vapid: VapidPairs<VapidPair>): void {
    this.#vapid = vapid;
    const byOrigin = pushesByOrigin(recipients, this.#pushServices.encrypts, vapid);
    const notAccepted = this.#pushServices.queue(byOrigin);
    if (notAccepted > 0) this.#counts.addFailed('unsendable', notAccepted);
    this.#unsettled += recipients.length - notAccepted;
    this.#startPushes();
  }

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

  async end(): Promise<Counts> {
    this.#isEnding = true;
    this.#giveUpTimedOut();
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#allSettled = resolve;
      });
    }
    await Promise.all([this.#removals.finish(), this.#corrections.finish()]);
    this.#done.abort();
    for (const { name, failures } of this.#pushServices.all) {
      if (Object.keys(failures).length > 0) this.#options.onFailures?.(name, failures);
    }
    return this.soFar();
  }

  stop(): void {
    this.#isStopped = true;
    for (const [push, pushService] of this.#retries) pushService.queue.add(push);
    this.#forgetRetries();
    this.#startPushes();
  }

  soFar(): Counts {
    return this.#counts.report();
  }

  /** Whether connections are idle that only further recipients could use, and memory is left for these. */
  #hasRoom(): boolean {
    if (this.#isPaused) return false;
    if (this.#inFlight >= this.#settings.inFlight.overall) return false;
    if (this.#unsettled > shareSizes.pending) return false;
    return this.#pushServices.all.every((pushService) => !pushService.isProgressing(this.#now()));
  }

  /** Starts pushes until the limits, the pace or the time allow no more. */
  #startPushes(): void {
    while (this.#inFlight < this.#settings.inFlight.overall) {
      const pushService = nextToStart(this.#pushServices.all);
      if (pushService === undefined) break;
      if (pushService.isSuspended) {
        this.#endQueue(pushService, () => failed('throttled'));
      } else if (this.#msLeft() <= 0) {
        this.#endQueue(pushService, ({ lastFailure }) =>
          lastFailure === undefined ? unreached : failed(lastFailure),
        );
      } else {
        const waitMs = this.#isPaused ? pausePollMs : this.#pace.start(this.#now());
        if (waitMs > 0) {
          this.#startPushesIn(waitMs);
          return;
        }
        void this.#attempt(pushService, this.#startNext(pushService));
      }
    }
    if (this.#onWantsMore !== undefined && this.#hasRoom()) this.#onWantsMore();
  }

  /** Takes a push from its queue, encrypted. */
  #startNext(pushService: PushService): Push {
    const push = pushService.start(this.#now());
    if (push.headers === undefined) {
      const following = pushService.queue.first(encryptedInARow - 1);
      for (const next of [push, ...following]) pushService.prepare(next);
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

  #endQueue(pushService: PushService, outcomeOf: (push: Push) => Settled): void {
    for (const push of pushService.queue.drain()) this.#settle(pushService, push, outcomeOf(push));
  }

  async #attempt(pushService: PushService, push: Push): Promise<void> {
    this.#inFlight += 1;
    const startedAt = this.#now();
    const outcome = await attempt(push, this.#settings, this.#options.times.endAt);
    this.#inFlight -= 1;
    pushService.ended(outcome, this.#now(), startedAt, this.#inFlight, this.#msUntilLastRetry());
    if (outcome.kind === 'transient') this.#retry(pushService, push, outcome);
    else if (isMismatch(outcome) && useOtherPair(push, this.#vapid!)) {
      push.lastFailure = 'key_mismatch';
      pushService.queue.add(push);
    } else this.#settle(pushService, push, outcome);
    this.#startPushes();
  }

  /** Queues a push again after a pause, if another attempt is left and begins in time. */
  #retry(pushService: PushService, push: Push, outcome: Transient): void {
    push.lastFailure = outcome.reason;
    const delayMs = retryDelayMs(push, outcome, this.#settings.random(), this.#msUntilLastRetry());
    if (delayMs === undefined) {
      this.#settle(pushService, push, failed(outcome.reason));
      return;
    }
    this.#retries.set(push, pushService);
    if (outcome.isTimeout) this.#timedOut += 1;
    void this.#settings.sleep(delayMs).then(() => {
      if (!this.#retries.delete(push)) return;
      if (outcome.isTimeout) this.#timedOut -= 1;
      pushService.queue.add(push);
      this.#startPushes();
    });
    this.#giveUpTimedOut();
  }

  /** A caller does not wait three time-outs for a push service that is silent: the rest has ended. */
  #giveUpTimedOut(): void {
    const { isAwaited } = this.#options;
    if (!isAwaited || !this.#isEnding || this.#timedOut < this.#unsettled) return;
    const given = [...this.#retries];
    this.#forgetRetries();
    for (const [push, pushService] of given) this.#settle(pushService, push, failed('no_response'));
  }

  #forgetRetries(): void {
    this.#retries.clear();
    this.#timedOut = 0;
  }

  #settle(pushService: PushService, push: Push, outcome: Settled): void {
    const { recipient, origin, isOtherPair } = push;
    if (outcome.kind === 'delivered') {
      this.#counts.addDelivered();
      this.#options.onDelivered?.(recipient);
      if (isOtherPair) this.#corrections.add(recipient, origin.vapid.number);
    } else if (outcome.kind === 'gone') this.#removals.add(recipient);
    else if (outcome.kind === 'unreached') this.#counts.addUnreached();
    else {
      this.#counts.addFailed(outcome.reason);
      pushService.addFailed(outcome.reason);
    }
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#allSettled();
    else if (this.#timedOut === this.#unsettled) this.#giveUpTimedOut();
  }

  /** Aborts what is in progress at `endAt`, which may be later by then. */
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

  #msUntilLastRetry(): number {
    return this.#isStopped ? 0 : this.#options.times.lastRetryAt - this.#now();
  }

  get #isPaused(): boolean {
    return this.#options.times.pausesAt <= this.#now();
  }

  #now(): number {
    return this.#settings.clock().getTime();
  }
}

/**
 * Encryption after encryption finds its tables in the processor's cache, which each system call of a
 * push between them would empty: a tenth of a push's CPU time.
 */
const encryptedInARow = 32;

/** Milliseconds between two looks at whether a paused pusher may continue. */
const pausePollMs = 100;

type Settled = FinalOutcome | { readonly kind: 'unreached' };

const unreached: Settled = { kind: 'unreached' };
const isMismatch = (outcome: FinalOutcome) =>
  outcome.kind === 'failed' && outcome.reason === 'key_mismatch';
const failed = (reason: FailureReason): Settled => ({ kind: 'failed', reason });
