import type { FunctionDefinition } from '../template/functions.ts';
import {
  FunctionInstance,
  type FunctionLog,
  type HandlerLocation,
  locateHandler,
  stopped,
} from './function-instance.ts';

export interface FunctionPoolOptions {
  /** The most instances at a time; further requests wait for one to become free. */
  readonly size?: number | undefined;
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
}

/** One function with as many instances as its requests call for, up to a bound. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #handler: HandlerLocation;
  readonly #size: number;
  readonly #onLog: (line: FunctionLog) => void;
  readonly #instances = new Set<FunctionInstance>();
  readonly #idle: FunctionInstance[] = [];
  readonly #waiting: ((instance: FunctionInstance | undefined) => void)[] = [];
  #stopped = false;

  /** @throws {Error} where the bundle lacks the file that the template names. */
  constructor(
    definition: FunctionDefinition,
    { size = 8, onLog = () => {} }: FunctionPoolOptions = {},
  ) {
    this.#definition = definition;
    this.#handler = locateHandler(definition);
    this.#size = size;
    this.#onLog = onLog;
  }

  /** Threads there are, busy or idle. */
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
      return await instance.invoke(event, requestId);
    } finally {
      this.#release(instance);
    }
  }

  /** Ends every instance as if its machine had failed. Requests that come later get new ones. */
  async kill(): Promise<void> {
    await Promise.all([...this.#instances].map((instance) => instance.stop()));
  }

  /** Ends every instance. Requests under way and waiting ones fail. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const give of this.#waiting.splice(0)) give(undefined);
    await this.kill();
  }

  /** An instance that is free, or undefined once the pool has stopped. */
  async #acquire(): Promise<FunctionInstance | undefined> {
    if (this.#stopped) return undefined;
    // The one used last: what was cached there is the freshest.
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.ended) return idle;
      this.#instances.delete(idle);
    }
    if (this.#instances.size < this.#size) return this.#start();
    return new Promise((give) => this.#waiting.push(give));
  }

  #release(instance: FunctionInstance): void {
    if (instance.ended) this.#instances.delete(instance);
    if (this.#stopped) return;
    const give = this.#waiting.shift();
    if (give !== undefined) give(instance.ended ? this.#start() : instance);
    else if (!instance.ended) this.#idle.push(instance);
  }

  #start(): FunctionInstance {
    const instance = new FunctionInstance(this.#definition, this.#handler, this.#onLog);
    this.#instances.add(instance);
    return instance;
  }
}
