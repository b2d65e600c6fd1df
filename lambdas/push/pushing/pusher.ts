import { setMaxListeners } from 'node:events';
import { sliceSizes, sliceTimeline } from '../../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import {
  addCounts,
  type Counts,
  type FailureReason,
  noCounts,
} from '../../../contract/wire/counts.ts';
import type { VapidPair, VapidPairs } from '../../../contract/wire/project.ts';
import { domainOf, otherHosts, pushServiceOf } from '../../../contract/wire/push-services.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import { NoResponseError, NotStartedError, UnsendableError } from '../transport/response.ts';
import type { Transport } from '../transport/transport.ts';
import { Batches } from './batches.ts';
import { goneLimits, markAt } from './gone.ts';
import {
  type EncryptFor,
  encryptionFor,
  isRefusal,
  type Message,
  type Outcome,
  otherPairOf,
  outcomeOf,
  type Push,
  type PushOptions,
  pairOf,
  preparer,
  type Settled,
  stepAfter,
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
  /** No push starts after this either, until it is moved: queued pushes wait. */
  readonly pausesAt: number;
  /** Everything ends by this, also pushes in flight and removals that are not finished. */
  readonly endAt: number;
  /** No invocation pushes after this: a push service that pauses for longer is not waited for. */
  readonly lastAttemptAt: number;
}

/** A subscription, and since when it is reported as gone without being removed: epoch ms. */
export type Mark = readonly [recipient: Recipient, goneSince: number | undefined];

/** Common to all recipients of a pusher. */
export interface PusherOptions {
  /** The name of the queue of an origin: its push service, or a group of hosts. */
  readonly classOf: (origin: string) => string;
  /** The names of those that earlier invocations have left behind. */
  readonly behind?: readonly string[];
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
   * Whether a recipient still is its user's; undefined for a broadcast. Asked before a push that starts more than
   * `sliceTimeline.userKnownForMs` after that was known.
   */
  readonly isStillWanted?:
    | ((recipient: Recipient, signal: AbortSignal) => Promise<boolean>)
    | undefined;
  /** Deletes subscriptions that their push service reported as gone. */
  readonly remove: (recipients: readonly Recipient[], signal: AbortSignal) => Promise<void>;
  /** Stores which pair a subscription was made with, after a push with another pair was refused. */
  readonly correctPair: (
    recipient: Recipient,
    number: number,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Stores since when subscriptions were reported as gone and kept (epoch ms); undefined: a push was accepted since. */
  readonly mark: (marks: readonly Mark[], signal: AbortSignal) => Promise<void>;
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
  /** Is called with what causes `internal_error`: of a signature once, whatever number of pushes it fails. */
  readonly onFault?: (error: unknown) => void;
}

/** Milliseconds that a push may take, unless the pusher ends before. */
export const pushTimeoutMs = 10_000;
/**
 * Pushes that are encrypted in a row. The tables of the cipher then stay in the processor's cache, which a push's
 * system calls would empty: that saves a tenth of a push's CPU time.
 */
const encryptedInARow = 32;
/** Waiting pushes are due in steps of this many milliseconds, so that a day has 1,700,000 steps at most. */
const waitingStepMs = 50;
/** Milliseconds after which a paused pusher checks again whether it may continue. */
const pausePollMs = 100;
/** Milliseconds before the next try, if it could not be read whether a recipient is still its user's. */
const askAgainMs = 500;

const failed = (reason: FailureReason): Settled => ({ kind: 'failed', reason });
/** The outcome of a push that is not tried again. */
function notPushed({ lastFailure }: Push): Settled {
  return lastFailure === undefined ? { kind: 'unreached' } : failed(lastFailure);
}

/** By push service: who comes after the last recipient whose push was sent or settled, in the order of keys. */
export type Untaken = ReadonlyMap<string, readonly Recipient[]>;

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
  readonly #serviceOf = new Map<string, PushService>();
  readonly #pace: Pace;
  readonly #removals: Batches<readonly [Recipient, PushService]>;
  readonly #marks: Batches<Mark>;
  readonly #corrections: Batches<readonly [Recipient, number: number]>;
  /** Aborts at `endAt`. */
  readonly #end = new AbortController();
  /** Aborts when the pusher has ended, and stops its timers. */
  readonly #done = new AbortController();
  /** Origins that have responded. */
  readonly #responded = new Set<string>();
  /** The pairs of the recipients that were added last. */
  #vapid: VapidPairs<VapidPair> | undefined;
  #inFlight = 0;
  /** Pushes that wait for a time: epoch ms, in steps. One timer serves all of them. */
  readonly #waiting = new Map<number, [PushService, Push][]>();
  #nextDueAt = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #isEnding = false;
  #canCorrect = true;
  /** When the next timer fires: epoch ms. */
  #wakesAt = Number.POSITIVE_INFINITY;
  /** Is called when anything has changed. */
  #onChange = (_now: number) => {};

  constructor(settings: PusherSettings, options: PusherOptions) {
    // One listener for each timer and each write.
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
      write: (gone, signal) =>
        options.remove(
          gone.map(([recipient]) => recipient),
          signal,
        ),
      onWritten: (gone) => {
        for (const [, service] of gone) service.removed += 1;
      },
      onFailed: (gone) => {
        for (const [, service] of gone) service.addFailed('not_removed');
      },
    });
    this.#marks = new Batches({
      ...common,
      size: sliceSizes.markBatch,
      // What is not written in time, the next send writes.
      write: options.mark,
    });
    this.#corrections = new Batches({
      ...common,
      // Few at once: writes take processor time from the pushes.
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
   * @param recipients in the order of their keys, after those that were added before.
   * @param vapid the project's key pairs. Each push is signed with the pair of its subscription.
   * @param readAt epoch ms at which the recipients were read.
   */
  add(recipients: readonly Recipient[], vapid: VapidPairs<VapidPair>, readAt: number): void {
    this.#vapid = vapid;
    for (const [index, recipient] of recipients.entries()) {
      const encrypt = this.#encrypts[index % this.#encrypts.length]!;
      this.#serviceAt(recipient.origin).add(recipient, encrypt, pairOf(recipient, vapid), readAt);
    }
    this.#startPushes();
  }

  /** Whether few recipients wait, but for slow push services, and memory is left for more. */
  get hasRoom(): boolean {
    const most = Math.min(sliceSizes.claimAhead, this.#options.pushesPerSecond);
    return this.#isBelow(most, this.#now());
  }

  /**
   * Resolves when the pusher could only push to further recipients: all others are done, or wait for slow push
   * services.
   */
  wantsMore(): Promise<void> {
    return this.#until((now) => {
      // A push service that does not respond causes no event.
      this.#wakeAt(now + promptMs);
      return this.#isBelow(0, now) || this.#isIdle(now);
    });
  }

  /** Resolves when nothing is left to do. No recipient may be added from now on. */
  async end(): Promise<Untaken> {
    this.#isEnding = true;
    for (const service of this.#services.values()) this.#finishGone(service);
    await this.#until((now) => this.#isIdle(now));
    this.#queueDue(Number.POSITIVE_INFINITY);
    const untaken = new Map<string, readonly Recipient[]>();
    for (const service of this.#services.values()) {
      const drained = service.drain();
      for (const push of drained.passed) this.#settle(push, notPushed(push), service);
      service.gone.finish();
      if (drained.untaken.length === 0) continue;
      untaken.set(
        service.name,
        drained.untaken.map(({ recipient }) => recipient),
      );
    }
    await Promise.all(
      [this.#removals, this.#marks, this.#corrections].map((batches) => batches.finish()),
    );
    this.#done.abort();
    this.#options.onEnd?.([...this.#services.values()].map(({ outcome }) => outcome));
    return untaken;
  }

  /** Starts no further push. */
  stop(): void {
    this.#isStopped = true;
    this.#onChange(this.#now());
  }

  /** Counts of the recipients whose outcome is final. */
  soFar(): Counts {
    return [...this.#services.values()].map(({ counts }) => counts).reduce(addCounts, noCounts);
  }

  /** How many of the unreached are at hosts that are not known by name. */
  get unjudged(): number {
    return this.#services.get(otherHosts)?.unreached ?? 0;
  }

  #serviceAt(origin: string): PushService {
    const known = this.#serviceOf.get(origin);
    if (known !== undefined) return known;
    const { options, classOf, behind = [] } = this.#options;
    const { inFlight, sign, extraOrigins, onFault = () => {} } = this.#settings;
    const name = classOf(origin);
    let service = this.#services.get(name);
    if (service === undefined) {
      const isAccepted = (one: string) => pushServiceOf(one, extraOrigins) !== undefined;
      const prepare = preparer(options, name, sign, isAccepted, onFault);
      const onGone = (recipient: Recipient, isDoubtful: boolean) =>
        this.#removeOrMark(recipient, isDoubtful, created);
      const created = new PushService(name, inFlight, prepare, onGone, behind.includes(name));
      service = created;
      this.#services.set(name, service);
    }
    this.#serviceOf.set(origin, service);
    return service;
  }

  /** Whether no more than so many wait for each push service that responds promptly. */
  #isBelow(most: number, now: number): boolean {
    if (this.#isOver(now) || this.#isPaused(now)) return false;
    let unsettled = 0;
    for (const service of this.#services.values()) {
      if (service.isBusy(now, most)) return false;
      unsettled += service.unsettled;
    }
    return unsettled <= sliceSizes.pending;
  }

  /** Whether nothing is in flight, and nothing will start. */
  #isIdle(now: number): boolean {
    if (this.#inFlight > 0) return false;
    if (this.#isOver(now)) return true;
    const { lastAttemptAt } = this.#options.times;
    const isLeft = ({ waiting, pausedUntil }: PushService) =>
      waiting > 0 && pausedUntil < lastAttemptAt;
    return this.#waiting.size === 0 && ![...this.#services.values()].some(isLeft);
  }

  #until(isMet: (now: number) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = (now) => {
        if (isMet(now)) resolve();
      };
      this.#onChange(this.#now());
    });
  }

  /** Starts pushes until the limits, the pace or the time allow no more. */
  #startPushes(now = this.#now()): void {
    this.#queueDue(now);
    while (this.#inFlight < this.#settings.inFlight.overall && !this.#isOver(now)) {
      const service = nextToStart(this.#services.values(), now);
      if (service === undefined) break;
      const waitMs = this.#isPaused(now) ? pausePollMs : this.#pace.start(now);
      if (waitMs > 0) {
        this.#wakeAt(now + waitMs);
        break;
      }
      this.#startNext(service, now);
      now = this.#now();
    }
    if (!this.#isOver(now)) this.#wakeAt(this.#nextAt(now));
    this.#onChange(now);
  }

  /** When the next push may start that only waits for a time; otherwise the time of the last push. */
  #nextAt(now: number): number {
    let next = Math.min(this.#nextDueAt, this.#options.times.lastPushAt);
    for (const { waiting, pausedUntil } of this.#services.values()) {
      if (pausedUntil > now && waiting > 0) next = Math.min(next, pausedUntil);
    }
    return next;
  }

  /** Starts pushes at this time at the latest. If an earlier timer is set, that one sets the next. */
  #wakeAt(at: number): void {
    if (at >= this.#wakesAt) return;
    this.#wakesAt = at;
    this.#after(at - this.#now(), () => {
      if (this.#wakesAt === at) this.#wakesAt = Number.POSITIVE_INFINITY;
      this.#startPushes();
    });
  }

  #startNext(service: PushService, now: number): void {
    const push = service.take();
    const isPrepared = push.headers !== undefined;
    const fault = service.isGivenUp(push.recipient.origin) ? 'given up' : service.prepare(push);
    if (fault !== undefined) {
      this.#pace.notStarted();
      this.#settle(push, fault === 'given up' ? notPushed(push) : failed(fault), service);
      return;
    }
    if (!isPrepared) {
      for (const next of service.following(encryptedInARow - 1)) service.prepare(next);
    }
    service.start(now);
    this.#inFlight += 1;
    void this.#run(service, push);
  }

  async #run(service: PushService, push: Push): Promise<void> {
    if (this.#isDoubtful(push) && !(await this.#isConfirmed(service, push))) {
      return this.#notSent(service);
    }
    const startedAt = this.#now();
    const outcome = await this.#attempt(service, push, startedAt);
    if (outcome === undefined) {
      service.addAgain(push);
      return this.#notSent(service);
    }
    this.#inFlight -= 1;
    const now = this.#now();
    service.ended(push, outcome, now, now - startedAt, this.#inFlight);
    if (isRefusal(outcome)) push.refusals += 1;
    else push.attempts += 1;
    const otherPair = otherPairOf(push, this.#vapid!);
    const step = stepAfter(outcome, {
      attempts: push.attempts,
      refusals: push.refusals,
      hasOtherPair: otherPair !== undefined,
      msLeft: this.#msLeft(now),
      isAwaited: this.#options.isAwaited,
      random: this.#settings.random(),
    });
    switch (step.kind) {
      case 'settle':
        this.#settle(push, step.as, service);
        if (outcome.kind === 'transient' && outcome.isUnknownHost) service.unknownHosts += 1;
        break;
      case 'use_other_pair':
        push.vapid = otherPair!;
        push.isOtherPair = true;
        push.lastFailure = 'key_mismatch';
        push.headers = undefined;
        service.addAgain(push);
        break;
      case 'retry':
        if (outcome.kind === 'transient') push.lastFailure = outcome.reason;
        this.#waitFor(step.afterMs, service, push);
    }
    this.#startPushes(now);
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
      if (isWanted && this.#mayStart(service, push)) return true;
      if (isWanted) service.addAgain(push);
      else this.#settle(push, notPushed(push), service);
    } catch {
      this.#waitFor(askAgainMs, service, push);
    }
    return false;
  }

  /**
   * Whether a push may start now. Asked again when its connection is open, because the slice may have been stopped
   * meanwhile.
   */
  #mayStart(service: PushService, push: Push): boolean {
    const now = this.#now();
    const isHeld = this.#isPaused(now) || now < service.pausedUntil;
    return !this.#isOver(now) && !isHeld && !this.#isDoubtful(push);
  }

  /** Posts a prepared push once. @returns undefined if it was not allowed to start when its connection was open. */
  async #attempt(
    service: PushService,
    push: Push,
    startedAt: number,
  ): Promise<Outcome | undefined> {
    const { headers, body, recipient } = push;
    const { origin, path } = recipient;
    const { transport, clock, onFault } = this.#settings;
    try {
      const response = await transport({
        origin,
        path,
        headers: headers!,
        body: body!,
        timeoutMs: Math.min(pushTimeoutMs, this.#options.times.endAt - startedAt),
        mayStart: () => {
          const mayStart = this.#mayStart(service, push);
          if (mayStart) service.passed(push);
          return mayStart;
        },
      });
      this.#responded.add(origin);
      return outcomeOf(response, clock);
    } catch (error) {
      if (error instanceof UnsendableError) return { kind: 'failed', reason: 'unsendable' };
      if (error instanceof NotStartedError) return undefined;
      if (error instanceof NoResponseError) {
        const { isTimeout, mayHaveArrived } = error;
        // Only below a domain can anybody invent hosts: every other one is a push service's, which is then down.
        const isUnknownHost = error.isUnknownHost && domainOf(origin) !== undefined;
        if (isUnknownHost && this.#knowsDomainOf(origin)) return { kind: 'gone' };
        return {
          kind: 'transient',
          reason: 'no_response',
          isTimeout,
          isUnknownHost,
          mayHaveArrived,
        };
      }
      // A fault of the code. The other pushes continue, and the log has the error.
      onFault?.(error);
      return { kind: 'failed', reason: 'internal_error' };
    }
  }

  /** Whether another host of its domain has responded: then the resolver works. It does not if this one has too. */
  #knowsDomainOf(origin: string): boolean {
    if (this.#responded.has(origin)) return false;
    const domain = domainOf(origin);
    return [...this.#responded].some((other) => domainOf(other) === domain);
  }

  /** Queues a push again after a pause. Meanwhile it keeps no body. */
  #waitFor(ms: number, service: PushService, push: Push): void {
    push.headers = undefined;
    push.body = undefined;
    const dueAt = Math.ceil((this.#now() + ms) / waitingStepMs) * waitingStepMs;
    const due = this.#waiting.get(dueAt) ?? [];
    due.push([service, push]);
    this.#waiting.set(dueAt, due);
    this.#nextDueAt = Math.min(this.#nextDueAt, dueAt);
  }

  #queueDue(now: number): void {
    if (now < this.#nextDueAt) return;
    for (const [dueAt, due] of this.#waiting) {
      if (dueAt > now) continue;
      this.#waiting.delete(dueAt);
      for (const [service, push] of due) service.addAgain(push);
    }
    this.#nextDueAt = Math.min(...this.#waiting.keys());
  }

  #settle(push: Push, outcome: Settled, service: PushService): void {
    const { recipient, isOtherPair, vapid } = push;
    service.settled(push);
    switch (outcome.kind) {
      case 'delivered':
        service.delivered += 1;
        service.gone.accepted();
        this.#options.onDelivered?.(recipient);
        if (recipient.goneSince !== undefined) this.#marks.add([recipient, undefined]);
        if (isOtherPair) this.#corrections.add([recipient, vapid.number]);
        break;
      case 'gone':
        service.gone.gone(recipient);
        break;
      case 'unreached':
        service.unreached += 1;
        break;
      case 'failed':
        service.addFailed(outcome.reason);
    }
    this.#finishGone(service);
  }

  /**
   * At the end, decides about the gone subscriptions of a push service that is done, or that has too few pushes to be
   * judged.
   */
  #finishGone(service: PushService): void {
    const { unsettled, added } = service;
    if (!this.#isEnding || (unsettled > 0 && added >= goneLimits.leastPushes)) return;
    service.gone.finish();
  }

  /** Removes a subscription that is gone. If that is doubtful, only if it was also reported a day ago. */
  #removeOrMark(recipient: Recipient, isDoubtful: boolean, service: PushService): void {
    const mark = markAt(recipient.goneSince, this.#now());
    if (!isDoubtful || mark === 'counts') {
      this.#removals.add([recipient, service]);
      return;
    }
    service.addFailed('gone_unconfirmed');
    if (mark === 'absent') this.#marks.add([recipient, this.#now()]);
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

  #isOver(now: number): boolean {
    return this.#msLeft(now) <= 0;
  }

  /** Until the last push. */
  #msLeft(now: number): number {
    return this.#isStopped ? 0 : this.#options.times.lastPushAt - now;
  }

  #isPaused(now: number): boolean {
    return this.#options.times.pausesAt <= now;
  }

  #now(): number {
    return this.#settings.clock().getTime();
  }
}
