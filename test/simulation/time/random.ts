/** Random numbers that depend on the seed only (mulberry32 by Tommy Ettinger). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A stream of its own for each name: what one of them draws changes no other. */
  static of(seed: number, name: string): Random {
    let hash = seed ^ 0x811c9dc5;
    // FNV-1a, 32 bits.
    for (let index = 0; index < name.length; index += 1) {
      hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    }
    return new Random(Math.floor(new Random(hash).next() * 2 ** 32));
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** A whole number; both bounds are possible. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)]!;
  }

  /**
   * Ms with a long tail (Pareto, shape 1.5): half are below 1.6 times the least, one in a hundred is
   * above 21 times the least.
   */
  latency(least: number, most = Number.POSITIVE_INFINITY): number {
    return Math.min(most, least * (1 - this.next()) ** (-1 / 1.5));
  }
}
