import type { FailureReason, Failures } from '../../../contract/failure-reasons.ts';
import { pushServiceOf } from '../../../contract/push-services.ts';
import type { Chunk, DeliverySettings } from './chunk.ts';
import { type InFlightLimits, Limiter } from './limiter.ts';
import type { Outcome } from './outcome.ts';
import { type Push, preparer, pushesByOrigin } from './push.ts';
import { Queue } from './queue.ts';

/**
 * Responses in a row that suspend a push service, all throttled until after the last push. It is as
 * many as are in flight at the beginning: a few subscriptions that are throttled by themselves never
 * reach it, while a push service that throttles everything is suspended with its first responses.
 */
const suspendAfter = 32;

/** One push service during the delivery of a chunk. */
export class PushService {
  readonly name: string;
  readonly queue: Queue<Push>;
  readonly #limiter: Limiter;
  readonly #failures: Partial<Record<FailureReason, number>> = {};
  #throttledInARow = 0;

  constructor(name: string, limits: InFlightLimits, prepare: (push: Push) => void) {
    this.name = name;
    this.queue = new Queue(prepare);
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

  start(): Push {
    this.#limiter.started();
    return this.queue.take();
  }

  /**
   * @param inFlightOverall pushes still in flight to all push services.
   * @param msLeft until the last push.
   */
  ended(outcome: Outcome, tookMs: number, inFlightOverall: number, msLeft: number): void {
    this.#limiter.ended(outcome.kind !== 'transient', tookMs, inFlightOverall);
    if (this.isSuspended) return;
    const isThrottledToTheEnd =
      outcome.kind === 'transient' &&
      outcome.reason === 'throttled' &&
      (outcome.retryAfter ?? 0) >= msLeft;
    this.#throttledInARow = isThrottledToTheEnd ? this.#throttledInARow + 1 : 0;
  }
}

/**
 * Queues each push of a chunk at its push service. The accepted origins may have changed since a
 * subscription was stored.
 * @returns the push services, and the number of recipients whose origin is no longer accepted.
 */
export function queuePushes(chunk: Chunk, settings: DeliverySettings) {
  const services = new Map<string, PushService>();
  let notAccepted = 0;
  for (const [origin, pushes] of pushesByOrigin(chunk)) {
    const name = pushServiceOf(origin.name, settings.extraOrigins);
    if (name === undefined) {
      notAccepted += pushes.length;
      continue;
    }
    let service = services.get(name);
    if (service === undefined) {
      service = new PushService(name, settings.inFlight, preparer(chunk, name, settings));
      services.set(name, service);
    }
    for (const push of pushes) service.queue.add(push);
  }
  return { services: [...services.values()], notAccepted };
}

/** Of the push services that can start a push, the one with the fewest in flight. */
export function nextToStart(services: readonly PushService[]): PushService | undefined {
  let next: PushService | undefined;
  for (const service of services) {
    if (!service.canStart()) continue;
    if (next === undefined || service.inFlight < next.inFlight) next = service;
  }
  return next;
}
