import { type Slice, sliceSchema } from '../../contract/slice.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import type { SliceStarter } from '../../lambdas/send/invoker.ts';
import type { Environment, Environments } from './environments.ts';
import type { FunctionRun, RunOutcome } from './function-run.ts';
import type { Random } from './time/random.ts';
import type { World } from './world.ts';

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

/** An asynchronous invocation in Lambda's queue. */
interface QueuedEvent {
  readonly payload: string;
  readonly requestId: string;
  /** Epoch ms after which Lambda drops it: the age counts from its first arrival. */
  readonly expiresAt: number;
}

/** Lambda, as far as it invokes deliver. */
export class SimulatedLambda {
  /** Asynchronous invocations that failed for good, or were dropped. */
  givenUp = 0;
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
    const { faults, scheduler } = this.#world;
    const { random } = run;
    return {
      start: (slice, signal) =>
        new Promise<boolean>((resolve) => {
          const what = () => `start slice ${slice.slice}`;
          const settle = (isTaken: boolean) => {
            if (!run.isAlive) return;
            run.note(() => `${what()}: ${isTaken ? 'taken' : 'not taken'}`);
            resolve(isTaken);
          };
          const abort = () => {
            this.#world.notInvoked.add(run.requestId);
            settle(false);
          };
          if (signal.aborted) return abort();
          signal.addEventListener('abort', abort, { once: true });
          const payload = JSON.stringify(sliceSchema.parse(slice));
          const back = () => random.latency(2, 500);
          const notInvoked = (ms: number) => {
            this.#world.notInvoked.add(run.requestId);
            run.after(ms, () => settle(false));
          };
          /** As the functions' own starter: a connection that breaks is replaced once. */
          const post = (isRepetition: boolean): void => {
            if (signal.aborted || run.crashes('crash before a call', what)) return;
            const isThrottled = faults.occurs('throttled invocation');
            if (isThrottled || faults.occurs('lost invocation')) {
              notInvoked(isThrottled ? back() : random.between(100, 5000));
              return;
            }
            const breakConnection = (ms: number) => {
              run.note(() => `connection broken: ${what()}`);
              if (isRepetition) notInvoked(ms);
              else run.after(ms, () => post(true));
            };
            if (faults.occurs('connection broken before the invocation')) {
              breakConnection(random.latency(1, 500));
              return;
            }
            const isBroken = faults.occurs('connection broken after the invocation');
            const isLost = isBroken || faults.occurs('lost invocation response');
            if (isBroken) breakConnection(random.between(10, 5000));
            else if (isLost) notInvoked(random.between(100, 5000));
            scheduler.after(random.latency(5, 500), () => {
              this.#enqueue(payload, run.requestId);
              if (!isLost) scheduler.after(back(), () => settle(true));
              if (run.isAlive) run.crashes('crash after a call', what);
            });
          };
          post(false);
        }),
    };
  }

  /** Lambda delivers an asynchronous invocation at least once. */
  #enqueue(payload: string, requestId: string): void {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    const event = { payload, requestId, expiresAt: scheduler.now + sliceTimeline.startWithinMs };
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
    if (scheduler.now > event.expiresAt) return this.#giveUp('too old');
    // The end of a host is not a failure of the function: Lambda repeats it from 1 s on.
    const diesAfterMs = faults.occurs('host died') ? random.latency(20, 60_000) : undefined;
    const outcome = await this.#invoke(event.payload, event.requestId, diesAfterMs);
    if (outcome.kind === 'returned') return;
    const isHost = outcome.kind === 'died' && diesAfterMs !== undefined;
    const wait = isHost ? random.latency(1000, 300_000) : retriesMs[failures];
    if (wait === undefined) return this.#giveUp('failed');
    const late = faults.occurs('late repetition') ? random.latency(60_000, 3_600_000) : 0;
    const next = isHost ? failures : failures + 1;
    scheduler.after(wait + late, () => void this.#runAsync(event, next));
  }

  #giveUp(why: string): void {
    this.givenUp += 1;
    this.#world.note('Lambda', () => `gave up an asynchronous invocation: ${why}`);
  }

  async #invoke(
    payload: string,
    requestId: string,
    hostDiesAfterMs?: number,
  ): Promise<RunOutcome<void>> {
    const { faults, scheduler } = this.#world;
    const random = this.#random;
    if (faults.occurs('cold start')) {
      await scheduler.sleep(random.latency(300, 10_000));
    }
    const slice = sliceSchema.parse(JSON.parse(payload));
    const outcome = await this.#environments.run(
      'deliver',
      requestId,
      sliceTimeline.timeoutMs,
      (run, environment) => this.#deliver(run, environment, slice),
      (run) => {
        run.note(() => `started: slice ${slice.slice} of ${slice.notificationId}`);
        if (hostDiesAfterMs !== undefined) {
          run.after(hostDiesAfterMs, () => run.die(() => 'its host'));
        }
      },
    );
    this.#world.note('Lambda', () => `slice ${slice.slice} ended: ${described(outcome)}`);
    return outcome;
  }
}

export function described(outcome: RunOutcome<unknown>): string {
  if (outcome.kind === 'returned') return JSON.stringify(outcome.value);
  return outcome.kind === 'threw' ? String(outcome.error) : 'died';
}
