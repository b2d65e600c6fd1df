import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type Slice, sliceSchema } from '../../contract/infrastructure/slice.ts';
import type { SliceStarter } from '../../lambdas/send/invoker.ts';
import type { Environment, Environments } from './environments.ts';
import type { FunctionRun, RunOutcome } from './function-run.ts';
import type { Random } from './time/random.ts';
import type { SliceFate, World } from './world.ts';

/** The code of deliver's handler. */
export type DeliverBody = (
  run: FunctionRun,
  environment: Environment,
  slice: Slice,
) => Promise<void>;

/** Lambda repeats an asynchronous invocation whose function failed twice, after these ms. */
const retriesMs = [60_000, 120_000];

/** Ms between a claim and its end: a duplicate that comes then meets the end of the claim. */
const claimMs = { least: 30_000, most: 130_000 };

/** Longer than a function waits for a response of Lambda's API. */
const longestCallMs = 3000;

/** A call to Lambda's API, as it ends. */
interface ApiCall {
  /** Whether Lambda has the invocation then. */
  readonly arrives: boolean;
  /** Ms after which the call fails, and whether that is because the connection breaks. */
  readonly failsAfterMs?: number;
  readonly isBroken?: boolean;
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
  readonly #environments: Environments;
  readonly #deliver: DeliverBody;

  constructor(world: World, environments: Environments, deliver: DeliverBody) {
    this.#world = world;
    this.#random = world.stream('Lambda');
    this.#environments = environments;
    this.#deliver = deliver;
  }

  /** Starts slices for a function. */
  starter(run: FunctionRun): SliceStarter {
    const { scheduler } = this.#world;
    /** Epoch ms until which Lambda refuses a slice. */
    const refusedUntil = new Map<number, number>();
    return {
      start: (slice, signal) =>
        new Promise<boolean>((resolve) => {
          const what = () => `start slice ${slice.slice}`;
          const settle = (isTaken: boolean) => {
            if (!run.isAlive) return;
            run.note(() => `${what()}: ${isTaken ? 'taken' : 'not taken'}`);
            resolve(isTaken);
          };
          if (signal.aborted) return settle(false);
          signal.addEventListener('abort', () => settle(false), { once: true });
          const sent = sliceSchema.parse(JSON.parse(JSON.stringify(slice)));
          const fate = this.#world.fateOf(sent);
          const until = refusedUntil.get(slice.slice) ?? this.#refusalOf(run);
          refusedUntil.set(slice.slice, until);
          /** As the functions' own starter: a connection that breaks is replaced once. */
          const post = (isRepetition: boolean): void => {
            if (signal.aborted || !run.isAlive || run.crashes('crash before a call', what)) return;
            const { arrives, failsAfterMs, isBroken } = this.#callOf(run, until);
            if (failsAfterMs !== undefined) {
              fate.refusedAt = scheduler.now;
              run.delay(Math.min(failsAfterMs, longestCallMs));
              const again = isBroken && !isRepetition;
              run.after(failsAfterMs, () => (again ? post(true) : settle(false)));
            }
            if (!arrives) return;
            scheduler.after(run.random.latency(5, 500), () => {
              this.#accept(sent, fate, run.requestId);
              if (failsAfterMs === undefined) {
                scheduler.after(run.random.latency(2, 500), () => settle(true));
              }
              if (run.isAlive) run.crashes('crash after a call', what);
            });
          };
          post(false);
        }),
    };
  }

  /** Epoch ms until which Lambda refuses the invocations for a slice. */
  #refusalOf({ random }: FunctionRun): number {
    const { faults, scheduler } = this.#world;
    if (faults.occurs('never taken')) return Number.POSITIVE_INFINITY;
    return faults.occurs('throttled invocations') ? scheduler.now + random.latency(200, 15_000) : 0;
  }

  /** What becomes of a call to its API. */
  #callOf({ random }: FunctionRun, refusedUntil: number): ApiCall {
    const { faults, scheduler } = this.#world;
    if (scheduler.now < refusedUntil) {
      return { arrives: false, failsAfterMs: random.latency(2, 500) };
    }
    if (faults.occurs('lost invocation')) {
      return { arrives: false, failsAfterMs: random.between(100, 5000) };
    }
    if (faults.occurs('connection broken before the invocation')) {
      return { arrives: false, failsAfterMs: random.latency(1, 500), isBroken: true };
    }
    if (faults.occurs('hanging invocation')) {
      return { arrives: random.chance(0.5), failsAfterMs: 60_000 };
    }
    if (faults.occurs('connection broken after the invocation')) {
      return { arrives: true, failsAfterMs: random.between(10, 5000), isBroken: true };
    }
    if (faults.occurs('lost invocation response')) {
      return { arrives: true, failsAfterMs: random.between(100, 5000) };
    }
    return { arrives: true };
  }

  #accept(slice: Slice, fate: SliceFate, requestId: string): void {
    fate.accepted += 1;
    if (this.#world.faults.occurs('taken and lost')) return;
    fate.events += 1;
    this.#enqueue(slice, requestId);
  }

  /** Lambda delivers an asynchronous invocation at least once. */
  #enqueue(slice: Slice, requestId: string): void {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    const event = { slice, requestId, expiresAt: scheduler.now + sliceTimeline.startWithinMs };
    const wait = faults.occurs('late invocation')
      ? random.latency(60_000, sliceTimeline.startWithinMs)
      : random.latency(10, 10_000);
    scheduler.after(wait, () => void this.#runAsync(event, 0));
    if (faults.occurs('duplicated invocation')) {
      scheduler.after(random.latency(10, 10_000), () => void this.#runAsync(event, 0));
    }
    if (faults.occurs('duplicate at the end of a claim')) {
      const after = wait + random.between(claimMs.least, claimMs.most);
      scheduler.after(after, () => void this.#runAsync(event, 0));
    }
  }

  /** @param failures of the function so far. */
  async #runAsync(event: QueuedEvent, failures: number): Promise<void> {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    const fate = this.#world.fateOf(event.slice);
    if (scheduler.now > event.expiresAt) {
      fate.isTooOld = true;
      return this.#giveUp('too old');
    }
    // The end of a host is not a failure of the function: Lambda repeats it from 1 s on.
    const diesAfterMs = faults.occurs('host died')
      ? random.pick([random.latency(20), random.between(0, sliceTimeline.timeoutMs)])
      : undefined;
    const startedAt = scheduler.now;
    const { outcome, isCutOff } = await this.#invoke(event, diesAfterMs);
    if (outcome.kind === 'returned') return;
    const isHost = outcome.kind === 'died' && diesAfterMs !== undefined;
    if (!isHost && (outcome.kind === 'died' || isCutOff)) fate.deaths += 1;
    if (outcome.kind === 'threw' && scheduler.now < timeIsOverAt(event.slice, startedAt)) {
      const afterMs = scheduler.now - startedAt;
      this.#world.wasted.push(`slice ${event.slice.slice}: ${outcome.error} after ${afterMs} ms`);
    }
    const wait = isHost ? random.latency(1000, 300_000) : retriesMs[failures];
    if (wait === undefined) return this.#giveUp('failed');
    const late = faults.occurs('late repetition') ? random.latency(60_000, 3_600_000) : 0;
    const next = isHost ? failures : failures + 1;
    scheduler.after(wait + late, () => void this.#runAsync(event, next));
  }

  #giveUp(why: string): void {
    this.#world.note('Lambda', () => `gave up an asynchronous invocation: ${why}`);
  }

  async #invoke({ slice, requestId }: QueuedEvent, hostDiesAfterMs?: number) {
    const { faults, scheduler } = this.#world;
    if (faults.occurs('cold start')) {
      await scheduler.sleep(this.#random.latency(300, 10_000));
    }
    let isCutOff = false;
    const outcome = await this.#environments.run(
      'deliver',
      requestId,
      sliceTimeline.timeoutMs,
      async (run, environment) => {
        try {
          await this.#deliver(run, environment, slice);
        } finally {
          isCutOff = run.isCutOff;
        }
      },
      (run) => {
        run.note(() => `started: slice ${slice.slice} of ${slice.notificationId}`);
        if (hostDiesAfterMs !== undefined) {
          run.after(hostDiesAfterMs, () => run.die(() => 'its host'));
        }
      },
    );
    this.#world.note('Lambda', () => `slice ${slice.slice} ended: ${described(outcome)}`);
    return { outcome, isCutOff };
  }
}

/** Epoch ms from which on an attempt of Lambda may leave a slice to the next one. */
function timeIsOverAt({ awaitedSince }: Slice, startedAt: number): number {
  const { timeoutMs, lastWritesMs, lastChunkBeforeEndMs, clockDifferenceMs } = sliceTimeline;
  // The last try is a moment earlier.
  const lastTryMs = 200;
  // Its request began by the clock of the gateway, and the function's may be ahead.
  if (awaitedSince !== undefined) {
    return awaitedSince + sendTimeline.lastPushMs - clockDifferenceMs - lastTryMs;
  }
  return startedAt + timeoutMs - lastWritesMs - lastChunkBeforeEndMs - lastTryMs;
}

export function described(outcome: RunOutcome<unknown>): string {
  if (outcome.kind === 'returned') return JSON.stringify(outcome.value);
  return outcome.kind === 'threw' ? String(outcome.error) : 'died';
}
