import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type Slice, sliceSchema } from '../../contract/infrastructure/slice.ts';
import type { Host } from '../../lambdas/host.ts';
import { tables } from './database/memory-database.ts';
import { described, type Environments } from './environments.ts';
import type { Invocation } from './invocation.ts';
import type { Random } from './time/random.ts';
import type { SliceFate, World } from './world.ts';

/** Lambda repeats an asynchronous invocation whose function failed twice, after these ms. */
const retriesMs = [60_000, 120_000];

/** Ms between a claim and its end: a duplicate that comes then meets the end of the claim. */
const claimMs = { least: 30_000, most: 130_000 };

/** Ms for which a function reads recipients, and, if a caller waits, for which it pushes since the request. */
const attemptMs =
  sliceTimeline.timeoutMs -
  sliceTimeline.lastWritesMs -
  sliceTimeline.lastPushBeforeEndMs -
  sliceTimeline.lastChunkBeforeMs;
const awaitedMs =
  sendTimeline.lastPushMs - sendTimeline.lookBeforeMs - sliceTimeline.clockDifferenceMs;

/** Longer than a function waits for a response of Lambda's API. */
const longestCallMs = 3000;

/** What becomes of a call to its API. */
interface ApiCall {
  /** Whether Lambda has the invocation then. */
  readonly arrives: boolean;
  /** Ms after which it fails, and how: with this status, or without a response. */
  readonly failsAfterMs?: number;
  readonly status?: number;
}

/** An asynchronous invocation in Lambda's queue. */
interface QueuedEvent {
  readonly slice: Slice;
  readonly requestId: string;
  /** Epoch ms after which Lambda drops it: the age counts from its first arrival. */
  readonly expiresAt: number;
}

/** Lambda, as far as it invokes deliver. */
export class SimulatedLambda {
  readonly #world: World;
  readonly #random: Random;
  readonly #changed: (slice: Slice) => Slice;
  /** In which it runs functions. */
  environments: Environments | undefined;
  /** Epoch ms until which Lambda refuses a slice of a request. */
  readonly #refusedUntil = new Map<string, number>();

  /** @param changed what a function gets of a slice. */
  constructor(world: World, changed: (slice: Slice) => Slice = (slice) => slice) {
    this.#world = world;
    this.#random = world.stream('Lambda');
    this.#changed = changed;
  }

  /** Its API, for a function. */
  post(running: () => Invocation): NonNullable<Host['post']> {
    const { scheduler } = this.#world;
    return (_url, _headers, body, signal) =>
      new Promise((resolve, reject) => {
        const run = running();
        const slice = this.#changed(sliceSchema.parse(JSON.parse(body)));
        const what = () => `start slice ${slice.slice}`;
        const fail = (reason: string) => {
          if (!run.isAlive) return;
          run.note(() => `${what()}: ${reason}`);
          reject(new Error(reason));
        };
        const respond = (statusCode: number) => {
          run.note(() => `${what()}: ${statusCode}`);
          resolve({ statusCode, destroy() {} });
        };
        if (signal.aborted) {
          fail('aborted');
          return;
        }
        signal.addEventListener('abort', () => fail('aborted'), { once: true });
        this.#world.startedIds.add(slice.notificationId);
        const isPicked = this.#world.isPicked(`${run.kind}: start`, true);
        if (isPicked && run.random.chance(0.3)) run.die(`before ${what()}`);
        else run.crashes('crash before a call', what);
        if (!run.isAlive) return;
        const picked: ApiCall = { arrives: run.random.chance(0.5), failsAfterMs: 60_000 };
        const { arrives, failsAfterMs, status } = isPicked ? picked : this.#callOf(run, slice);
        if (failsAfterMs !== undefined) {
          run.disturb(Math.min(failsAfterMs, longestCallMs));
          run.after(failsAfterMs, () =>
            status === undefined ? fail('connection broken') : respond(status),
          );
        }
        if (!arrives) return;
        scheduler.after(run.random.latency(5, 500), () => {
          this.#accept(slice, run.requestId);
          if (failsAfterMs === undefined) run.after(run.random.latency(2, 500), () => respond(202));
          if (run.isAlive) run.crashes('crash after a call', what);
        });
      });
  }

  #callOf(run: Invocation, slice: Slice): ApiCall {
    const { faults, scheduler } = this.#world;
    const { random } = run;
    const key = `${run.requestId}/${slice.slice}`;
    let until = this.#refusedUntil.get(key);
    if (until === undefined) {
      until = this.#refusalOf(random);
      this.#refusedUntil.set(key, until);
      run.disturb(until - scheduler.now);
    }
    if (scheduler.now < until) {
      return { arrives: false, failsAfterMs: random.latency(2, 500), status: 429 };
    }
    if (faults.occurs('lost invocation')) {
      return { arrives: false, failsAfterMs: random.between(100, 5000), status: 500 };
    }
    if (faults.occurs('connection broken before the invocation')) {
      return { arrives: false, failsAfterMs: random.latency(1, 500) };
    }
    if (faults.occurs('hanging invocation')) {
      return { arrives: random.chance(0.5), failsAfterMs: 60_000 };
    }
    if (faults.occurs('connection broken after the invocation')) {
      return { arrives: true, failsAfterMs: random.between(10, 5000) };
    }
    if (faults.occurs('lost invocation response')) {
      return { arrives: true, failsAfterMs: random.between(100, 5000), status: 500 };
    }
    return { arrives: true };
  }

  /** Epoch ms until which Lambda refuses the invocations for a slice. */
  #refusalOf(random: Random): number {
    const { faults, scheduler } = this.#world;
    if (faults.occurs('never taken')) return Number.POSITIVE_INFINITY;
    return faults.occurs('throttled invocations') ? scheduler.now + random.latency(200, 15_000) : 0;
  }

  #accept(slice: Slice, requestId: string): void {
    const fate = this.#world.fateOf(slice);
    fate.accepted += 1;
    if (this.#world.faults.occurs('taken and lost')) {
      this.#delay(requestId, Number.POSITIVE_INFINITY);
      return;
    }
    fate.events += 1;
    this.#enqueue(slice, requestId);
  }

  /** The functions that a request has started begin this much later. */
  #delay(requestId: string, ms: number): void {
    const { now } = this.#world;
    this.#world.disturb(functionsOf(requestId), { from: now, to: now + ms });
  }

  /** Lambda delivers an asynchronous invocation at least once. */
  #enqueue(slice: Slice, requestId: string): void {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    const event = { slice, requestId, expiresAt: scheduler.now + sliceTimeline.startWithinMs };
    const isLate = faults.occurs('late invocation');
    const wait = isLate
      ? random.latency(60_000, sliceTimeline.startWithinMs)
      : random.latency(10, 10_000);
    if (isLate) this.#delay(requestId, wait);
    scheduler.after(wait, () => void this.#runAsync(event, 0));
    if (faults.occurs('duplicated invocation')) {
      scheduler.after(random.latency(10, 10_000), () => void this.#runAsync(event, 0));
    }
    if (faults.occurs('duplicate at the end of a claim')) {
      const after = wait + random.between(claimMs.least, claimMs.most);
      scheduler.after(after, () => void this.#runAsync(event, 0));
    }
  }

  /**
   * @param failures of the function so far.
   * @param isFaulty whether one of them was no end of its time: the last attempt does not know that it is the third.
   */
  async #runAsync(event: QueuedEvent, failures: number, isFaulty = false): Promise<void> {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    const { slice } = event;
    const fate = this.#world.fateOf(slice);
    if (scheduler.now > event.expiresAt) return this.#giveUp(fate, 'too old');
    // The end of a host is not a failure of the function: Lambda repeats it from 1 s on.
    const diesAfterMs = faults.occurs('host died')
      ? random.pick([random.latency(20), random.between(0, sliceTimeline.timeoutMs)])
      : undefined;
    if (faults.occurs('cold start')) await scheduler.sleep(random.latency(300, 10_000));
    const startedAt = scheduler.now;
    const { run, outcome } = await this.#invoke(event, diesAfterMs);
    if (outcome.kind === 'returned') return;
    const isHost = outcome.kind === 'died' && diesAfterMs !== undefined;
    const isCutOff = run.isCutOff(Object.values(tables)) || run.hasLostWrite;
    if (outcome.kind === 'threw' && !isCutOff && scheduler.now < timeIsOverAt(slice, startedAt)) {
      const afterMs = scheduler.now - startedAt;
      this.#world.wasted.push(`slice ${slice.slice}: ${outcome.error} after ${afterMs} ms`);
    }
    const wait = isHost ? random.latency(1000, 300_000) : retriesMs[failures];
    const isFault = isFaulty || outcome.kind === 'died' || isCutOff;
    if (wait === undefined) {
      return this.#giveUp(fate, isFault ? 'an attempt died or lost the database' : 'failed');
    }
    const late = faults.occurs('late repetition') ? random.latency(60_000, 3_600_000) : 0;
    const next = isHost ? failures : failures + 1;
    scheduler.after(wait + late, () => void this.#runAsync(event, next, isFault && !isHost));
  }

  #giveUp(fate: SliceFate, why: SliceFate['givenUp'][number]): void {
    this.#world.note('Lambda', () => `gave up an asynchronous invocation: ${why}`);
    fate.givenUp.push(why);
  }

  async #invoke({ slice, requestId }: QueuedEvent, hostDiesAfterMs?: number) {
    const ended = await this.environments!.invoke('deliver', requestId, slice, (run) => {
      run.note(() => `started: slice ${slice.slice} of ${slice.notificationId}`);
      if (hostDiesAfterMs !== undefined) run.after(hostDiesAfterMs, () => run.die('its host'));
    });
    this.#world.note('Lambda', () => `slice ${slice.slice} ended: ${described(ended.outcome)}`);
    return ended;
  }
}

/** Who is disturbed if Lambda is late. */
export function functionsOf(requestId: string): string {
  return `functions of ${requestId}`;
}

/** Epoch ms from which on an attempt of Lambda may leave a slice to the next one: its last try is a moment earlier. */
function timeIsOverAt({ awaitedSince }: Slice, startedAt: number): number {
  const lastTryMs = 200;
  // The request began by the clock of the gateway, and the function's may be ahead.
  return (
    (awaitedSince === undefined ? startedAt + attemptMs : awaitedSince + awaitedMs) - lastTryMs
  );
}
