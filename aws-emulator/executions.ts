import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { FunctionError, type FunctionLog } from './function-pool.ts';
import type { FunctionDefinition } from './functions.ts';

/** What became of one invocation of a function, as Lambda's metrics count it. */
export interface Invocation {
  /** Name of the function. */
  readonly function: string;
  /** `dropped`: Lambda gave up an asynchronous invocation, after its last attempt or too late. */
  readonly outcome: 'succeeded' | 'failed' | 'throttled' | 'dropped';
  /** How long the function ran; undefined if it did not. */
  readonly durationMs?: number;
  /** Executions of all functions at its start, itself included; undefined if it did not run. */
  readonly running?: number;
}

/**
 * Runs a function once.
 * @param event JSON.
 * @returns the function's result, JSON.
 * @throws {FunctionError}
 */
export type Invoke = (functionName: string, event: string, requestId: string) => Promise<string>;

/** Lambda refused an invocation. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** The executions of all functions. As Lambda does for an account, it limits how many run at a time. */
export class Executions {
  readonly #ends = new EventEmitter().setMaxListeners(0);
  /** Executions that run now. */
  running = 0;

  constructor(
    private readonly invoke: Invoke,
    private readonly onInvocation: (invocation: Invocation) => void = () => {},
    /** Executions at a time of all functions. Default: AWS's for an account in a region. */
    readonly accountLimit = 1000,
  ) {}

  /** Runs a function, and reports what became of it. @throws {Throttled} at the limit. */
  readonly start: Invoke = async (name, event, requestId) => {
    if (this.running >= this.accountLimit) {
      this.onInvocation({ function: name, outcome: 'throttled' });
      throw new Throttled();
    }
    this.running += 1;
    const running = this.running;
    const startedAtMs = performance.now();
    const report = (outcome: Invocation['outcome']) => {
      const durationMs = performance.now() - startedAtMs;
      this.onInvocation({ function: name, outcome, durationMs, running });
    };
    try {
      const result = await this.invoke(name, event, requestId);
      report('succeeded');
      return result;
    } catch (error) {
      report('failed');
      throw error;
    } finally {
      this.running -= 1;
      this.#ends.emit('end');
    }
  };

  /** Calls a function that starts an execution, as soon as the limit allows it. The signal ends the wait with an error. */
  async whenAllowed<Result>(execute: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    while (this.running >= this.accountLimit) await once(this.#ends, 'end', { signal });
    return execute();
  }
}

export interface EventQueueOptions {
  readonly executions: Executions;
  /** Waits before the first and the second retry. Default: AWS's, one minute and two. */
  readonly retryDelaysMs?: readonly number[] | undefined;
  readonly nowMs?: (() => number) | undefined;
  /** Is called with a line about each invocation that is dropped. */
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
  /** Is called with each invocation that is dropped, as Lambda's metrics count it. */
  readonly onInvocation?: ((invocation: Invocation) => void) | undefined;
}

type QueuedFunction = Pick<FunctionDefinition, 'name' | 'asynchronous'>;

/**
 * Lambda's queue of asynchronous invocations. One that fails is retried with the same request id, as
 * often as the function's settings say. One that is throttled waits, which is no attempt.
 */
export class EventQueue {
  readonly #stopped = new AbortController();

  constructor(private readonly options: EventQueueOptions) {}

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
    const { executions, retryDelaysMs = [60_000, 120_000], onLog, onInvocation } = this.options;
    const nowMs = this.options.nowMs ?? (() => performance.now());
    const { signal } = this.#stopped;
    const endMs = nowMs() + asynchronous.maximumAgeMs;
    const attempt = async (): Promise<Attempt> => {
      if (nowMs() > endMs) return 'expired';
      return executions.start(name, event, requestId).then(() => 'succeeded' as const, failed);
    };
    for (let retries = 0; ; retries += 1) {
      const outcome = await executions.whenAllowed(attempt, signal);
      if (outcome === 'succeeded' || signal.aborted) return;
      if (outcome === 'expired' || retries === asynchronous.retries) {
        const reason = outcome === 'expired' ? 'too old' : `failed ${retries + 1} times`;
        const text = `${requestId} Asynchronous invocation dropped: ${reason}`;
        onInvocation?.({ function: name, outcome: 'dropped' });
        return onLog?.({ function: name, text });
      }
      await sleep(retryDelaysMs[retries] ?? 0, undefined, { signal });
    }
  }
}

type Attempt = 'succeeded' | 'failed' | 'expired';

function failed(error: unknown): Attempt {
  if (error instanceof FunctionError) return 'failed';
  throw error;
}
