import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition } from '../template/functions.ts';

/** What a function wrote to its log at one time, without the newline at the end. */
export interface FunctionLog {
  /** Name of the function. */
  readonly function: string;
  readonly text: string;
}

/** The function threw, crashed or ran out of time: what Lambda reports as a function error. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  /** Name of what was thrown, or Lambda's word for it, such as `Sandbox.Timedout`. */
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

type Message =
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'error'; readonly errorType: string; readonly message: string };

interface Request {
  readonly event: string;
  readonly requestId: string;
  succeed(payload: string): void;
  fail(error: FunctionError): void;
}

/** One execution environment of a function: a thread that serves one request at a time. */
export class FunctionInstance {
  readonly #definition: FunctionDefinition;
  readonly #onLog: (line: FunctionLog) => void;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #ready = false;
  #ended = false;
  #request: Request | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    definition: FunctionDefinition,
    handler: HandlerLocation,
    onLog: (line: FunctionLog) => void,
  ) {
    this.#definition = definition;
    this.#onLog = onLog;
    this.#worker = new Worker(resolve('local/lambda/function-worker.mjs'), {
      workerData: handler,
      env: { ...definition.environment },
      // Not this process's loaders: the bundle is what it is.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: definition.memory },
    });
    this.#worker.on('message', (message: Message) => this.#receive(message));
    this.#worker.on('error', (error) => {
      this.#log(error.stack ?? error.message);
      this.#end(new FunctionError('Runtime.UnhandledError', error.message));
    });
    this.#exited = new Promise((exited) => {
      this.#worker.on('exit', (code) => {
        const message = `The runtime exited with status ${code}.`;
        this.#end(new FunctionError('Runtime.ExitError', message));
        exited();
      });
    });
  }

  /** Whether the thread is gone, and with it everything that the function kept in memory. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Serves one request; the one before must have ended.
   * @param event JSON.
   * @returns the function's result, JSON.
   * @throws {FunctionError}
   */
  invoke(event: string, requestId: string): Promise<string> {
    if (this.#ended) return Promise.reject(stopped());
    return new Promise((succeed, fail) => {
      this.#request = { event, requestId, succeed, fail };
      if (this.#ready) this.#begin(this.#request);
    });
  }

  /** Ends the thread. A request under way fails. */
  async stop(): Promise<void> {
    this.#end(stopped());
    await this.#worker.terminate();
    await this.#exited;
  }

  #receive(message: Message): void {
    switch (message.type) {
      case 'ready':
        this.#ready = true;
        if (this.#request !== undefined) this.#begin(this.#request);
        return;
      case 'log':
        this.#log(message.text);
        return;
      case 'result':
        this.#takeRequest()?.succeed(message.payload);
        return;
      case 'error':
        this.#takeRequest()?.fail(new FunctionError(message.errorType, message.message));
    }
  }

  // As in Lambda, a function's time-out does not count the loading of its code.
  #begin({ event, requestId }: Request): void {
    const { name, arn, memory, timeout } = this.#definition;
    this.#worker.postMessage({
      event,
      context: {
        awsRequestId: requestId,
        functionName: name,
        functionVersion: '$LATEST',
        invokedFunctionArn: arn,
        memoryLimitInMB: String(memory),
        logGroupName: `/aws/lambda/${name}`,
        logStreamName: `local/${this.#worker.threadId}`,
      },
      deadline: Date.now() + timeout,
    });
    this.#timer = setTimeout(() => {
      const message = `Task timed out after ${(timeout / 1000).toFixed(2)} seconds`;
      this.#log(`${requestId} ${message}`);
      this.#end(new FunctionError('Sandbox.Timedout', message));
      void this.#worker.terminate();
    }, timeout);
  }

  #end(error: FunctionError): void {
    this.#ended = true;
    this.#takeRequest()?.fail(error);
  }

  #takeRequest(): Request | undefined {
    clearTimeout(this.#timer);
    const request = this.#request;
    this.#request = undefined;
    return request;
  }

  #log(text: string): void {
    const trimmed = text.trimEnd();
    if (trimmed !== '') this.#onLog({ function: this.#definition.name, text: trimmed });
  }
}

/** What a request fails with that comes too late, or that nobody will answer any more. */
export function stopped(): FunctionError {
  return new FunctionError('Runtime.Stopped', 'The function was stopped.');
}

export interface HandlerLocation {
  readonly file: string;
  readonly exportName: string;
}

/** @throws {Error} where the bundle lacks the file that the template names. */
export function locateHandler({ name, assetPath, handler }: FunctionDefinition): HandlerLocation {
  const [base = '', exportName = ''] = handler.split('.');
  const candidates = ['mjs', 'js', 'cjs'].map((extension) =>
    join(assetPath, `${base}.${extension}`),
  );
  const file = candidates.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`The bundle of "${name}" has no file "${base}".`);
  return { file, exportName };
}
