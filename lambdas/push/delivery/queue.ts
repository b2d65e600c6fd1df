/**
 * Items prepared in a row. Encryption after encryption finds its tables in the processor's cache,
 * which each system call of a push between them would empty: a tenth of a push's CPU time.
 */
const preparedInARow = 32;

/**
 * Waiting items, first in, first out.
 *
 *     taken  | prepared | waiting
 *     ───────┼──────────┼────────
 *          #head    #unprepared
 *
 * Only items from `#head` on are live. The slots before it stay empty until the queue is.
 */
export class Queue<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #prepare: (item: Item) => void;
  #head = 0;
  #unprepared = 0;

  /** @param prepare is called for each item shortly before it is taken. */
  constructor(prepare: (item: Item) => void) {
    this.#prepare = prepare;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  add(item: Item): void {
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
      this.#unprepared = 0;
    }
    this.#items.push(item);
  }

  /** Takes the first item. Of 32 items, the first one to be taken prepares them all. */
  take(): Item {
    if (this.#head === this.#unprepared) {
      this.#unprepared = Math.min(this.#head + preparedInARow, this.#items.length);
      for (let at = this.#head; at < this.#unprepared; at += 1) this.#prepare(this.#items[at]!);
    }
    const item = this.#items[this.#head]!;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    return item;
  }

  /** Takes all items without preparing them. */
  drain(): Item[] {
    const items = this.#items.splice(this.#head) as Item[];
    this.#unprepared = this.#head;
    return items;
  }
}
