import type { Share, ShareResult } from '../../contract/share.ts';
import { deliverResponseSchema, shareSchema } from '../../contract/share.ts';
import { shareTimeline } from '../../contract/timeline.ts';
import { outcomeOfRepetition } from '../../lambdas/send/invoker.ts';
import type { InvocationOutcome, ShareInvoker } from '../../lambdas/send/run-shares.ts';
import type { Environment, Environments } from './environments.ts';
import type { FunctionRun, RunOutcome } from './function-run.ts';
import type { World } from './world.ts';

/** The code of deliver's handler. */
export type DeliverBody = (
  run: FunctionRun,
  environment: Environment,
  share: Share,
) => Promise<{ result?: ShareResult }>;

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
  readonly #environments: Environments;
  readonly #deliver: DeliverBody;

  constructor(world: World, environments: Environments, deliver: DeliverBody) {
    this.#world = world;
    this.#environments = environments;
    this.#deliver = deliver;
  }

  /** The invoker of a function. */
  invoker(run: FunctionRun): ShareInvoker {
    const { faults, random, scheduler } = this.#world;
    return {
      invoke: (share, type, signal) =>
        new Promise<InvocationOutcome>((resolve) => {
          const what = () => `invoke share ${share.firstTally}, ${type}`;
          const settle = (outcome: InvocationOutcome) => {
            if (!run.isAlive) return;
            run.note(() => `${what()}: ${outcome.kind}`);
            resolve(outcome);
          };
          if (signal.aborted) return settle({ kind: 'unknown' });
          signal.addEventListener('abort', () => settle({ kind: 'unknown' }), { once: true });
          const payload = JSON.stringify(shareSchema.parse(share));
          const back = () => random.latency(2, 500);
          const loseResponse = () => this.#world.notInvoked.add(run.requestId);
          /** As the functions' own invoker: a connection that breaks is replaced once. */
          const post = (isRepetition: boolean): void => {
            if (signal.aborted || run.crashes('crash before a call', what)) return;
            if (faults.occurs('throttled invocation')) {
              loseResponse();
              const kind = isRepetition ? 'unknown' : 'throttled';
              run.after(back(), () => settle({ kind }));
              return;
            }
            if (faults.occurs('lost invocation')) {
              loseResponse();
              run.after(random.between(100, 5000), () => settle({ kind: 'unknown' }));
              return;
            }
            const breakConnection = (ms: number) => {
              run.note(() => `connection broken: ${what()}`);
              if (isRepetition) loseResponse();
              run.after(ms, () => (isRepetition ? settle({ kind: 'unknown' }) : post(true)));
            };
            if (faults.occurs('connection broken before the invocation')) {
              breakConnection(random.latency(1, 500));
              return;
            }
            const isBroken = faults.occurs('connection broken after the invocation');
            const isLost = isBroken || faults.occurs('lost invocation response');
            if (isLost) loseResponse();
            if (isBroken) breakConnection(random.between(10, 5000));
            else if (isLost)
              run.after(random.between(100, 5000), () => settle({ kind: 'unknown' }));
            scheduler.after(random.latency(5, 500), () => {
              if (type === 'async') {
                this.#enqueue(payload, run.requestId);
                if (!isLost) scheduler.after(back(), () => settle({ kind: 'accepted' }));
              } else {
                void this.#invoke(payload, run.requestId).then((outcome) => {
                  const received = responseOf(outcome);
                  const response = isRepetition ? outcomeOfRepetition(received) : received;
                  if (!isLost) scheduler.after(back(), () => settle(response));
                });
              }
              if (run.isAlive) run.crashes('crash after a call', what);
            });
          };
          post(false);
        }),
    };
  }

  /** Lambda delivers an asynchronous invocation at least once. */
  #enqueue(payload: string, requestId: string): void {
    const { faults, random, scheduler } = this.#world;
    const event = { payload, requestId, expiresAt: scheduler.now + shareTimeline.startWithinMs };
    const wait = faults.occurs('late invocation')
      ? random.latency(60_000, shareTimeline.startWithinMs)
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
    const { faults, random, scheduler } = this.#world;
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
  ): Promise<RunOutcome<{ result?: ShareResult | undefined }>> {
    const { faults, random, scheduler } = this.#world;
    if (faults.occurs('cold start')) {
      await new Promise<void>((resolve) => scheduler.after(random.latency(300, 10_000), resolve));
    }
    const share = shareSchema.parse(JSON.parse(payload));
    const outcome = await this.#environments.run(
      'deliver',
      requestId,
      shareTimeline.timeoutMs,
      (run, environment) => this.#deliver(run, environment, share),
      (run) => {
        run.note(() => `started: share ${share.firstTally} of ${share.notificationId}`);
        if (hostDiesAfterMs !== undefined) {
          run.after(hostDiesAfterMs, () => run.die(() => 'its host'));
        }
      },
    );
    this.#world.note('Lambda', () => `share ${share.firstTally} ended: ${described(outcome)}`);
    return outcome;
  }
}

function responseOf(outcome: RunOutcome<{ result?: ShareResult | undefined }>): InvocationOutcome {
  if (outcome.kind !== 'returned') return { kind: 'died' };
  const { result } = deliverResponseSchema.parse(JSON.parse(JSON.stringify(outcome.value)));
  return result === undefined ? { kind: 'unknown' } : { kind: 'result', result };
}

export function described(outcome: RunOutcome<unknown>): string {
  if (outcome.kind === 'returned') return JSON.stringify(outcome.value);
  return outcome.kind === 'threw' ? String(outcome.error) : 'died';
}
