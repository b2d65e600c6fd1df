import type { FunctionDefinition } from '../functions.ts';
import {
  FunctionInstance,
  type FunctionLog,
  type HandlerLocation,
  locateHandler,
  stopped,
} from './function-instance.ts';

export interface FunctionPoolOptions {
  /** Maximum number of instances. Further requests wait for an idle one. Default: 8. */
  readonly size?: number | undefined;
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
  /** Ms for which functions were frozen: their wall clocks are ahead by this. Default: 0. */
  readonly frozenMs?: (() => number) | undefined;
}

/** The instances of one function. A request gets an idle instance, or a new one up to a maximum. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #handler: HandlerLocation;
  readonly #size: number;
  readonly #onLog: (line: FunctionLog) => void;
  readonly #frozenMs: () => number;
  readonly #instances = new Set<FunctionInstance>();
  readonly #idle: FunctionInstance[] = [];
  readonly #waiting: ((instance: FunctionInstance | undefined) => void)[] = [];
  #stopped = false;

  /** @throws {Error} if the bundle does not contain the handler's file. */
  constructor(
    definition: FunctionDefinition,
    { size = 8, onLog = () => {}, frozenMs = () => 0 }: FunctionPoolOptions = {},
  ) {
    this.#definition = definition;
    this.#handler = locateHandler(definition);
    this.#size = size;
    this.#onLog = onLog;
    this.#frozenMs = frozenMs;
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
      return await instance.invoke(event, requestId, this.#frozenMs());
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
    if (this.#instances.size < this.#size) return this.#start();
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
    const instance = new FunctionInstance(this.#definition, this.#handler, this.#onLog);
    this.#instances.add(instance);
    return instance;
  }
}
