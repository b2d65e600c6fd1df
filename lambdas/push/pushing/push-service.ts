import type { FailureReason, Failures } from '../../../contract/failure-reasons.ts';
import { pushServiceOf } from '../../../contract/push-services.ts';
import { encryption } from '../crypto/encryption.ts';
import { type InFlightLimits, Limiter, promptMs } from './limiter.ts';
import type { Outcome } from './outcome.ts';
import { type EncryptFor, type OriginPushes, type Push, preparer } from './push.ts';
import type { Message, PusherOptions, PusherSettings } from './pusher.ts';
import { Queue } from './queue.ts';

/**
 * Responses in a row that suspend a push service, all throttled until after the last retry. It is as
 * many as are in flight at the beginning: a few subscriptions that are throttled by themselves never
 * reach it, while a push service that throttles everything is suspended with its first responses.
 */
const suspendAfter = 32;

/** How much the latest response counts in the share of prompt ones. */
const latestWeight = 0.1;

/** One push service of a pusher. */
export class PushService {
  readonly name: string;
  readonly queue = new Queue<Push>();
  /** Encrypts a push and sets its headers, unless that has been done. */
  readonly prepare: (push: Push) => void;
  readonly #limiter: Limiter;
  readonly #failures: Partial<Record<FailureReason, number>> = {};
  #throttledInARow = 0;
  /** Share of its responses that were prompt: an average in which the latest ones count most. */
  #promptShare = 1;
  /** Epoch ms of its last start or end of a push. */
  #lastEventAt = 0;

  constructor(name: string, limits: InFlightLimits, prepare: (push: Push) => void) {
    this.name = name;
    this.prepare = prepare;
    this.#limiter = new Limiter(limits);
  }

  get inFlight(): number {
    return this.#limiter.inFlight;
  }

  get failures(): Failures {
    return this.#failures;
  }

  addFailed(reason: FailureReason): void {
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  /** Whether it throttles everything until after the last push. No further push to it starts. */
  get isSuspended(): boolean {
    return this.#throttledInARow >= suspendAfter;
  }

  canStart(): boolean {
    return this.queue.length > 0 && this.#limiter.hasRoom();
  }

  /**
   * Whether its queue becomes shorter as fast as is to be expected. If not, the pushes to other push
   * services need not wait for it.
   */
  isProgressing(now: number): boolean {
    if (this.queue.length === 0) return false;
    return this.#promptShare > 0.5 && now - this.#lastEventAt < promptMs;
  }

  start(now: number): Push {
    this.#lastEventAt = now;
    this.#limiter.started();
    return this.queue.take();
  }

  /**
   * @param startedAt epoch ms, as `now`.
   * @param inFlightOverall pushes still in flight to all push services.
   * @param msLeft until the last retry.
   */
  ended(
    outcome: Outcome,
    now: number,
    startedAt: number,
    inFlightOverall: number,
    msLeft: number,
  ): void {
    const tookMs = now - startedAt;
    const isWell = outcome.kind !== 'transient';
    this.#limiter.ended(isWell, tookMs, inFlightOverall);
    this.#lastEventAt = now;
    const isPrompt = isWell && tookMs < promptMs ? 1 : 0;
    this.#promptShare += latestWeight * (isPrompt - this.#promptShare);
    if (this.isSuspended) return;
    const isThrottledToTheEnd =
      outcome.kind === 'transient' &&
      outcome.reason === 'throttled' &&
      (outcome.retryAfterMs ?? 0) >= msLeft;
    this.#throttledInARow = isThrottledToTheEnd ? this.#throttledInARow + 1 : 0;
  }
}

function encryptionFor(message: Message): EncryptFor {
  if (typeof message !== 'function') return encryption(message);
  return (recipient) => encryption(message(recipient))(recipient);
}

/** The push services of a pusher. */
export class PushServices {
  readonly all: PushService[] = [];
  readonly #byName = new Map<string, PushService>();
  /** One for each message. */
  readonly encrypts: readonly EncryptFor[];
  readonly #options: PusherOptions;
  readonly #settings: PusherSettings;

  constructor(options: PusherOptions, settings: PusherSettings) {
    this.encrypts = options.messages.map(encryptionFor);
    this.#options = options;
    this.#settings = settings;
  }

  /**
   * Queues each push at its push service. The accepted origins may have changed since a subscription was
   * stored.
   * @returns the number of pushes whose origin is no longer accepted.
   */
  queue(byOrigin: readonly OriginPushes[]): number {
    let notAccepted = 0;
    for (const [origin, pushes] of byOrigin) {
      const name = pushServiceOf(origin.name, this.#settings.extraOrigins);
      if (name === undefined) {
        notAccepted += pushes.length;
        continue;
      }
      const { queue } = this.#named(name);
      for (const push of pushes) queue.add(push);
    }
    return notAccepted;
  }

  #named(name: string): PushService {
    let pushService = this.#byName.get(name);
    if (pushService === undefined) {
      const prepare = preparer(this.#options, name, this.#settings);
      pushService = new PushService(name, this.#settings.inFlight, prepare);
      this.#byName.set(name, pushService);
      this.all.push(pushService);
    }
    return pushService;
  }
}

/** Of the push services that can start a push, the one with the fewest in flight. */
export function nextToStart(pushServices: readonly PushService[]): PushService | undefined {
  let next: PushService | undefined;
  for (const pushService of pushServices) {
    if (!pushService.canStart()) continue;
    if (next === undefined || pushService.inFlight < next.inFlight) next = pushService;
  }
  return next;
}
