interface BatchesOptions<Item> {
  readonly size: number;
  readonly write: (items: readonly Item[], signal: AbortSignal) => Promise<unknown>;
  readonly onWritten?: (items: readonly Item[]) => void;
  readonly onFailed?: (items: readonly Item[]) => void;
  /** Does something after some ms, unless the pusher has ended. */
  readonly after: (ms: number, act: () => void) => void;
  /** Aborts when the time is over. Later batches fail. */
  readonly end: AbortSignal;
}

/** Milliseconds after which a batch is written although it is not full: nothing waits for a slow push service. */
const batchMs = 1000;

/** Batches that are written at once. More transactions on the counter of a project would conflict. */
const lanes = 8;

/** Writes to the database in batches, while pushes continue. */
export class Batches<Item> {
  readonly #options: BatchesOptions<Item>;
  readonly #isOver: Promise<never>;
  /** Each ends when its batches have ended, which are written one after another. */
  readonly #lanes: Promise<void>[] = Array.from({ length: lanes }, () => Promise.resolve());
  #nextLane = 0;
  #batch: Item[] = [];

  constructor(options: BatchesOptions<Item>) {
    this.#options = options;
    const { end } = options;
    this.#isOver = new Promise((_, reject) => {
      end.addEventListener('abort', () => reject(end.reason));
    });
    this.#isOver.catch(() => {});
  }

  add(item: Item): void {
    const batch = this.#batch;
    batch.push(item);
    if (batch.length === this.#options.size) this.#write();
    else if (batch.length === 1) {
      this.#options.after(batchMs, () => {
        if (this.#batch === batch) this.#write();
      });
    }
  }

  /** Writes all that is left. */
  async finish(): Promise<void> {
    this.#write();
    await Promise.all(this.#lanes);
  }

  #write(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const { write, onWritten, onFailed, end } = this.#options;
    this.#batch = [];
    const lane = this.#nextLane;
    this.#nextLane = (lane + 1) % lanes;
    this.#lanes[lane] = this.#lanes[lane]!.then(async () => {
      try {
        end.throwIfAborted();
        await Promise.race([write(batch, end), this.#isOver]);
        onWritten?.(batch);
      } catch {
        onFailed?.(batch);
      }
    });
  }
}
