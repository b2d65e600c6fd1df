import { limits } from '../../contract/limits.ts';
import type { Share, ShareResult } from '../../contract/share.ts';
import { deliverResponseSchema, shareSchema } from '../../contract/share.ts';
import type { InvocationOutcome, ShareInvoker } from '../../lambdas/send/run-shares.ts';
import { FunctionRun, type RunOutcome } from './function-run.ts';
import type { World } from './world.ts';

/** The code of deliver's handler. */
export type DeliverBody = (run: FunctionRun, share: Share) => Promise<{ result?: ShareResult }>;

/** Lambda repeats a failed asynchronous invocation twice, after these ms. */
const retriesMs = [60_000, 120_000];

/** Lambda, as far as it invokes deliver. */
export class SimulatedLambda {
  /** Asynchronous invocations that failed for good, or were dropped. */
  givenUp = 0;
  readonly #world: World;
  readonly #deliver: DeliverBody;

  constructor(world: World, deliver: DeliverBody) {
    this.#world = world;
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
          if (run.crashes('crash before a call', what)) return;
          const back = () => random.latency(2, 500);
          if (faults.occurs('refused invocation')) {
            this.#world.notInvoked.add(run.requestId);
            run.after(back(), () => settle({ kind: 'refused' }));
            return;
          }
          const payload = JSON.stringify(shareSchema.parse(share));
          if (faults.occurs('lost invocation')) {
            this.#world.notInvoked.add(run.requestId);
            run.after(random.between(100, 5000), () => settle({ kind: 'unknown' }));
            return;
          }
          const isLost = faults.occurs('lost invocation response');
          if (isLost) this.#world.notInvoked.add(run.requestId);
          if (isLost) run.after(random.between(100, 5000), () => settle({ kind: 'unknown' }));
          scheduler.after(random.latency(5, 500), () => {
            if (type === 'async') {
              this.#enqueue(payload, run.requestId);
              if (!isLost) scheduler.after(back(), () => settle({ kind: 'accepted' }));
            } else {
              void this.#invoke(payload, run.requestId).then((outcome) => {
                const response = responseOf(outcome);
                if (!isLost) scheduler.after(back(), () => settle(response));
              });
            }
            if (run.isAlive) run.crashes('crash after a call', what);
          });
        }),
    };
  }

  /** Lambda delivers an asynchronous invocation at least once. */
  #enqueue(payload: string, requestId: string): void {
    const { faults, random, scheduler } = this.#world;
    const copies = faults.occurs('duplicated invocation') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const wait = faults.occurs('late invocation')
        ? random.latency(60_000, limits.share.startWithinMs)
        : random.latency(10, 10_000);
      scheduler.after(wait, () => void this.#runAsync(payload, requestId, 0));
    }
  }

  async #runAsync(payload: string, requestId: string, retries: number): Promise<void> {
    const outcome = await this.#invoke(payload, requestId);
    if (outcome.kind === 'returned') return;
    const wait = retriesMs[retries];
    if (wait === undefined) {
      this.givenUp += 1;
      this.#world.note('Lambda', () => 'gave up an asynchronous invocation');
      return;
    }
    this.#world.scheduler.after(wait, () => void this.#runAsync(payload, requestId, retries + 1));
  }

  async #invoke(
    payload: string,
    requestId: string,
  ): Promise<RunOutcome<{ result?: ShareResult | undefined }>> {
    const { faults, random, scheduler } = this.#world;
    if (faults.occurs('cold start')) {
      await new Promise<void>((resolve) => scheduler.after(random.latency(300, 10_000), resolve));
    }
    const share = shareSchema.parse(JSON.parse(payload));
    const run = new FunctionRun(this.#world, 'deliver', requestId);
    run.note(() => `started: share ${share.firstTally} of ${share.notificationId}`);
    const outcome = await run.start(() => this.#deliver(run, share), limits.share.timeoutMs);
    run.note(() => `ended: ${described(outcome)}`);
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
