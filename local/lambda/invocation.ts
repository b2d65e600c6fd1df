import type { Concurrency } from './concurrency.ts';

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

/** Reports what becomes of each execution of a function. */
export function measured(
  invoke: Invoke,
  concurrency: Concurrency,
  onInvocation: (invocation: Invocation) => void,
): Invoke {
  return async (name, event, requestId) => {
    const { running } = concurrency;
    const startedAtMs = performance.now();
    const ended = (outcome: Invocation['outcome']) => {
      const durationMs = performance.now() - startedAtMs;
      onInvocation({ function: name, outcome, durationMs, running });
    };
    try {
      const result = await invoke(name, event, requestId);
      ended('succeeded');
      return result;
    } catch (error) {
      ended('failed');
      throw error;
    }
  };
}
