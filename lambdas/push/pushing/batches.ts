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

interface Group<Item> {
  batch: Item[];
  /** Ends when all earlier batches have ended. */
  written: Promise<void>;
}

/** Milliseconds after which a batch is written although it is not full: nothing waits for a slow push service. */
const batchMs = 1000;

/**
 * Writes to the database in batches, while pushes continue. Batches of one group are written one after another, because
 * they would conflict; groups are written in parallel.
 */
export class Batches<Item> {
  readonly #options: BatchesOptions<Item>;
  readonly #groups = new Map<number, Group<Item>>();
  readonly #isOver: Promise<never>;

  constructor(options: BatchesOptions<Item>) {
    this.#options = options;
    const { end } = options;
    this.#isOver = new Promise((_, reject) => {
      end.addEventListener('abort', () => reject(end.reason));
    });
    this.#isOver.catch(() => {});
  }

  add(number: number, item: Item): void {
    let group = this.#groups.get(number);
    if (group === undefined) {
      group = { batch: [], written: Promise.resolve() };
      this.#groups.set(number, group);
    }
    const { batch } = group;
    batch.push(item);
    if (batch.length === this.#options.size) this.#write(group);
    else if (batch.length === 1) {
      const waiting = group;
      this.#options.after(batchMs, () => {
        if (waiting.batch === batch) this.#write(waiting);
      });
    }
  }

  /** Writes all that is left. */
  async finish(): Promise<void> {
    for (const group of this.#groups.values()) this.#write(group);
    for (const { written } of this.#groups.values()) await written;
  }

  #write(group: Group<Item>): void {
    const { batch } = group;
    if (batch.length === 0) return;
    const { write, onWritten, onFailed, end } = this.#options;
    group.batch = [];
    group.written = group.written.then(async () => {
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
