/**
 * Waiting items, first in, first out.
 *
 *     taken  | waiting
 *     ───────┼────────
 *          #head
 *
 * Only items from `#head` on are live. The slots before it stay empty until the queue is.
 */
export class Queue<Item> {
  readonly #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  add(item: Item): void {
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    }
    this.#items.push(item);
  }

  take(): Item {
    const item = this.#items[this.#head]!;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    return item;
  }

  /** The items that are taken next. They stay in the queue. */
  first(count: number): Item[] {
    return this.#items.slice(this.#head, this.#head + count) as Item[];
  }

  /** Takes all items. */
  drain(): Item[] {
    return this.#items.splice(this.#head) as Item[];
  }
}
