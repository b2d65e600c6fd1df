import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition } from './functions.ts';

/** One write of a function to its log, without trailing white space. */
export interface FunctionLog {
  /** Name of the function. */
  readonly function: string;
  readonly text: string;
}

/** What Lambda reports as a function error: the function threw an error, crashed or timed out. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';

  constructor(
    /** Name of the thrown error, or Lambda's error type, such as `Sandbox.Timedout`. */
    readonly errorType: string,
    message: string,
  ) {
    super(message);
  }
}

export interface FunctionPoolOptions {
  /** Maximum number of instances. Further requests wait for an idle one. Default: 8. */
  readonly size?: number | undefined;
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
  /** Ms for which functions were frozen: their wall clocks are ahead by this. Default: 0. */
  readonly frozenMs?: (() => number) | undefined;
}

/** The instances of one function. A request gets an idle instance, or a new one up to a maximum. */
export class FunctionPool {
  readonly #handler: HandlerLocation;
  readonly #instances = new Set<FunctionInstance>();
  readonly #idle: FunctionInstance[] = [];
  readonly #waiting: ((instance: FunctionInstance | undefined) => void)[] = [];
  #stopped = false;

  /** @throws {Error} if the bundle does not contain the handler's file. */
  constructor(
    private readonly definition: FunctionDefinition,
    private readonly options: FunctionPoolOptions = {},
  ) {
    this.#handler = locateHandler(definition);
  }

  /** Number of instances, busy and idle. */
  get instances(): number {
    return this.#instances.size;
  }

  /**
   * Runs the function once.
   * @param event JSON.
   * @returns the function's result, JSON.
   * @throws {FunctionError}
   */
  async invoke(event: string, requestId: string): Promise<string> {
    const instance = await this.#acquire();
    if (instance === undefined) throw stopped();
    try {
      return await instance.invoke(event, requestId, this.options.frozenMs?.());
    } finally {
      this.#release(instance);
    }
  }

  /** Ends every instance, as if its machine failed. Later requests get new instances. */
  async kill(): Promise<void> {
    await Promise.all([...this.#instances].map((instance) => instance.stop()));
  }

  /** Ends every instance. Current and waiting requests fail. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    await this.kill();
  }

  /** Waits for an idle instance. @returns undefined if the pool has stopped. */
  async #acquire(): Promise<FunctionInstance | undefined> {
    if (this.#stopped) return undefined;
    // The most recently used instance first: its caches are the least likely to have expired.
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.ended) return idle;
      this.#instances.delete(idle);
    }
    if (this.#instances.size < (this.options.size ?? 8)) return this.#start();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(instance: FunctionInstance): void {
    if (instance.ended) this.#instances.delete(instance);
    if (this.#stopped) return;
    const resolve = this.#waiting.shift();
    if (resolve !== undefined) resolve(instance.ended ? this.#start() : instance);
    else if (!instance.ended) this.#idle.push(instance);
  }

  #start(): FunctionInstance {
    const instance = new FunctionInstance(this.definition, this.#handler, this.options.onLog);
    this.#instances.add(instance);
    return instance;
  }
}

type Message =
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'result'; readonly payload: string }
  | ({ readonly type: 'error' } & ThrownError);

interface ThrownError {
  readonly errorType: string;
  readonly message: string;
  readonly stack: string;
}

interface Request {
  readonly event: string;
  readonly requestId: string;
  readonly frozenMs: number;
  succeed(payload: string): void;
  fail(error: FunctionError): void;
}

/** One execution environment of a function: a worker thread that serves one request at a time. */
class FunctionInstance {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #ready = false;
  /** Whether the thread has ended. The function's memory is gone, too. */
  ended = false;
  #request: Request | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly definition: FunctionDefinition,
    handler: HandlerLocation,
    private readonly onLog: (line: FunctionLog) => void = () => {},
  ) {
    this.#worker = new Worker(join(import.meta.dirname, 'function-worker.mjs'), {
      workerData: handler,
      env: { ...definition.environment },
      // Without this process's loaders: the bundle runs as it is deployed.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: definition.memoryMb },
    });
    this.#worker.on('message', (message: Message) => this.#receive(message));
    this.#worker.on('error', ({ name, message, stack = message }) => {
      this.#logError({ errorType: name, message, stack });
      this.#end(new FunctionError('Runtime.UnhandledError', message));
    });
    this.#exited = new Promise((exited) => {
      this.#worker.on('exit', (code) => {
        const message = `The runtime exited with code ${code}.`;
        this.#end(new FunctionError('Runtime.ExitError', message));
        exited();
      });
    });
  }

  /**
   * Serves one request. The previous request must have ended.
   * @param event JSON.
   * @param frozenMs by which the wall clock of the function is ahead.
   * @returns the function's result, JSON.
   * @throws {FunctionError}
   */
  invoke(event: string, requestId: string, frozenMs = 0): Promise<string> {
    if (this.ended) return Promise.reject(stopped());
    return new Promise((succeed, fail) => {
      this.#request = { event, requestId, frozenMs, succeed, fail };
      if (this.#ready) this.#begin(this.#request);
    });
  }

  /** Ends the thread. The current request fails. */
  async stop(): Promise<void> {
    this.ended = true;
    // Lambda logs nothing of a machine that fails.
    this.#takeRequest()?.fail(stopped());
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
        this.#logError(message);
        this.#fail(new FunctionError(message.errorType, message.message));
    }
  }

  // The timeout starts here and not when the thread starts: in Lambda it excludes the initialization.
  #begin({ event, requestId, frozenMs }: Request): void {
    const { name, arn, memoryMb, timeoutMs } = this.definition;
    this.#worker.postMessage({
      event,
      context: {
        awsRequestId: requestId,
        functionName: name,
        functionVersion: '$LATEST',
        invokedFunctionArn: arn,
        memoryLimitInMB: String(memoryMb),
        logGroupName: `/aws/lambda/${name}`,
        logStreamName: `local/${this.#worker.threadId}`,
      },
      frozenMs,
      deadlineMs: Date.now() + frozenMs + timeoutMs,
    });
    this.#timer = setTimeout(() => {
      const message = `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
      this.#end(new FunctionError('Sandbox.Timedout', message));
      void this.#worker.terminate();
    }, timeoutMs);
  }

  #end(error: FunctionError): void {
    this.ended = true;
    this.#fail(error);
  }

  #fail(error: FunctionError): void {
    const request = this.#takeRequest();
    if (request === undefined) return;
    const { errorType } = error;
    const outcome =
      errorType === 'Sandbox.Timedout' ? { status: 'timeout' } : { status: 'error', errorType };
    const record = { requestId: request.requestId, ...outcome };
    // Lambda's report of a failed invocation. Reports of successful ones have level INFO and are not imitated.
    this.#log(JSON.stringify({ time: new Date(), type: 'platform.report', record }));
    request.fail(error);
  }

  #takeRequest(): Request | undefined {
    clearTimeout(this.#timer);
    const request = this.#request;
    this.#request = undefined;
    return request;
  }

  /** The line of Lambda's runtime about a thrown error, in the log format JSON. */
  #logError({ errorType, message: errorMessage, stack }: ThrownError): void {
    const message = { errorType, errorMessage, stackTrace: stack.split('\n') };
    const requestId = this.#request?.requestId;
    this.#log(JSON.stringify({ timestamp: new Date(), level: 'ERROR', requestId, message }));
  }

  #log(text: string): void {
    const trimmed = text.trimEnd();
    if (trimmed !== '') this.onLog({ function: this.definition.name, text: trimmed });
  }
}

/** The error of a request to a stopped function. */
function stopped(): FunctionError {
  return new FunctionError('Runtime.Stopped', 'The function was stopped.');
}

interface HandlerLocation {
  readonly file: string;
  readonly exportName: string;
}

/** @throws {Error} if the bundle does not contain the handler's file. */
export function locateHandler({ name, assetPath, handler }: FunctionDefinition): HandlerLocation {
  const [base = '', exportName = ''] = handler.split('.');
  const candidates = ['mjs', 'js', 'cjs'].map((extension) =>
    join(assetPath, `${base}.${extension}`),
  );
  const file = candidates.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`The bundle of "${name}" has no file "${base}".`);
  return { file, exportName };
}
