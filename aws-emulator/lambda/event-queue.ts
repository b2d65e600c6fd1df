import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionDefinition } from '../functions.ts';
import type { Executions, Invocation } from './executions.ts';
import { FunctionError, type FunctionLog } from './function-instance.ts';

export interface EventQueueOptions {
  readonly executions: Executions;
  /** Waits before the first and the second retry. Default: AWS's, one minute and two. */
  readonly retryDelaysMs?: readonly number[] | undefined;
  readonly nowMs?: (() => number) | undefined;
  /** Hears of every invocation that is dropped. */
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
  /** Hears of them as Lambda's metrics do. */
  readonly onInvocation?: ((invocation: Invocation) => void) | undefined;
}

type QueuedFunction = Pick<FunctionDefinition, 'name' | 'asynchronous'>;

/**
 * Lambda's queue of asynchronous invocations. One that fails is retried with the same request id, as
 * often as the function's settings say. One that is throttled waits, which is no attempt.
 */
export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #retryDelaysMs: readonly number[];
  readonly #nowMs: () => number;
  readonly #stopped = new AbortController();

  constructor(options: EventQueueOptions) {
    this.#options = options;
    this.#retryDelaysMs = options.retryDelaysMs ?? [60_000, 120_000];
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Accepts an invocation and returns at once. */
  add(definition: QueuedFunction, event: string, requestId: string): void {
    this.#process(definition, event, requestId).catch((error) => {
      if (!this.#stopped.signal.aborted) throw error;
    });
  }

  /** Starts no further attempt. Does not wait for those under way. */
  stop(): void {
    this.#stopped.abort();
  }

  async #process(definition: QueuedFunction, event: string, requestId: string): Promise<void> {
    const { name, asynchronous } = definition;
    const { executions } = this.#options;
    const { signal } = this.#stopped;
    const endMs = this.#nowMs() + asynchronous.maximumAgeMs;
    const attempt = async (): Promise<Attempt> => {
      if (this.#nowMs() > endMs) return 'expired';
      return executions.start(name, event, requestId).then(() => 'succeeded' as const, failed);
    };
    for (let retries = 0; ; retries += 1) {
      const outcome = await executions.whenAllowed(attempt, signal);
      if (outcome === 'succeeded' || signal.aborted) return;
      if (outcome === 'expired' || retries === asynchronous.retries) {
        const reason = outcome === 'expired' ? 'too old' : `failed ${retries + 1} times`;
        const text = `${requestId} Asynchronous invocation dropped: ${reason}`;
        this.#options.onInvocation?.({ function: name, outcome: 'dropped' });
        return this.#options.onLog?.({ function: name, text });
      }
      await sleep(this.#retryDelaysMs[retries] ?? 0, undefined, { signal });
    }
  }
}

type Attempt = 'succeeded' | 'failed' | 'expired';

function failed(error: unknown): Attempt {
  if (error instanceof FunctionError) return 'failed';
  throw error;
}
