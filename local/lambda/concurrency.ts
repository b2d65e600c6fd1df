import type { FunctionDefinition } from '../template/functions.ts';

/** Why Lambda does not start an execution now, in the words of its API. */
export type ThrottleReason =
  | 'ConcurrentInvocationLimitExceeded'
  | 'ReservedFunctionConcurrentInvocationLimitExceeded';

/** Executions at a time that AWS allows an account in a region, unless its quota is another. */
const defaultAccountLimit = 1000;

/** Lambda refused an invocation. */
export class Throttled extends Error {
  override readonly name = 'Throttled';

  constructor(reason: ThrottleReason) {
    super(reason);
  }
}

type LimitedFunction = Pick<FunctionDefinition, 'name' | 'reservedConcurrency'>;

interface WaitingExecution {
  readonly functionName: string;
  start(): void;
}

/**
 * Counts the executions of all functions, as Lambda does for an account. A function with reserved
 * concurrency has that many for itself; the others share the rest of the account's limit.
 */
export class Concurrency {
  readonly #reserved = new Map<string, number>();
  readonly #unreserved: number;
  /** By the function's name; the functions that share a limit are counted under ''. */
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<WaitingExecution>();

  /** Executions at a time of all functions. */
  readonly accountLimit: number;

  constructor(functions: readonly LimitedFunction[], accountLimit = defaultAccountLimit) {
    this.accountLimit = accountLimit;
    let unreserved = accountLimit;
    for (const { name, reservedConcurrency } of functions) {
      if (reservedConcurrency === undefined) continue;
      this.#reserved.set(name, reservedConcurrency);
      unreserved -= reservedConcurrency;
    }
    this.#unreserved = unreserved;
  }

  /** Executions of all functions that run now, reserved ones included. */
  get running(): number {
    return [...this.#running.values()].reduce((sum, number) => sum + number, 0);
  }

  /** Why the function may not be executed once more now; undefined if it may. */
  throttled(functionName: string): ThrottleReason | undefined {
    const reserved = this.#reserved.get(functionName);
    const running = this.#running.get(this.#key(functionName)) ?? 0;
    if (running < (reserved ?? this.#unreserved)) return undefined;
    return reserved === undefined
      ? 'ConcurrentInvocationLimitExceeded'
      : 'ReservedFunctionConcurrentInvocationLimitExceeded';
  }

  /** Counts an execution while it runs, whatever the limit. */
  async run<Result>(functionName: string, execute: () => Promise<Result>): Promise<Result> {
    const key = this.#key(functionName);
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    try {
      return await execute();
    } finally {
      this.#running.set(key, this.#running.get(key)! - 1);
      this.#startWaiting();
    }
  }

  /** Runs an execution as soon as the limit allows it. The signal ends the wait with an error. */
  runWhenAllowed<Result>(
    functionName: string,
    execute: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    if (this.throttled(functionName) === undefined) return this.run(functionName, execute);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: WaitingExecution = {
        functionName,
        start: () => {
          signal.removeEventListener('abort', abort);
          resolve(this.run(functionName, execute));
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #startWaiting(): void {
    for (const waiting of this.#waiting) {
      if (this.throttled(waiting.functionName) !== undefined) continue;
      this.#waiting.delete(waiting);
      waiting.start();
    }
  }

  #key(functionName: string): string {
    return this.#reserved.has(functionName) ? functionName : '';
  }
}
