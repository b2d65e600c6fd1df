/** How many pushes are judged together, and how long a mark counts. */
export const goneLimits = {
  /** Of fewer pushes, the push service is believed; after the most, all that waits is decided. */
  leastPushes: 50,
  mostPushes: 200,
  /** A fault of a push service may last most of a day. */
  markCountsAfterMs: 20 * 60 * 60_000,
  /** Two faults of a push service weeks apart must not confirm each other. */
  markCountsForMs: 14 * 24 * 60 * 60_000,
} as const;

/**
 * What a push service says is gone (404, 410) cannot be brought back once it is removed. So it waits until 50 pushes, gone
 * or accepted, are judged together. If at most half of them are gone, these are removed: the push service tells of single
 * subscriptions. If more are, up to 200 pushes decide, and then those that are gone are doubtful.
 *
 *     201 410 201 201 … │ 410 410 410 410 410 410 410 …
 *     at most half      │ more than half
 *     → removed         │ → doubtful
 *
 * Those at the end of a part without an accepted push wait for the next part: its fault may have begun with them.
 */
export class GoneInMasses<Item> {
  readonly #decide: (item: Item, isDoubtful: boolean) => void;
  #waiting: Item[] = [];
  /** Pushes in the current part. */
  #pushes = 0;
  /** How many of its last pushes in a row are gone. */
  #goneInARow = 0;
  /** Of each of the latest pushes, whether it is gone. */
  readonly #latest: boolean[] = [];
  #next = 0;

  constructor(decide: (item: Item, isDoubtful: boolean) => void) {
    this.#decide = decide;
  }

  gone(item: Item): void {
    this.#waiting.push(item);
    this.#goneInARow += 1;
    this.#add(true);
  }

  /** Nothing else speaks for a push service: anybody can subscribe what it refuses, or does not respond to. */
  accepted(): void {
    this.#goneInARow = 0;
    this.#add(false);
  }

  #add(isGone: boolean): void {
    const { leastPushes, mostPushes } = goneLimits;
    this.#latest[this.#next] = isGone;
    this.#next = (this.#next + 1) % leastPushes;
    this.#pushes += 1;
    if (this.#pushes < leastPushes) return;
    const isDoubtful = this.#waiting.length > this.#pushes / 2;
    if (!isDoubtful) this.#end(false, this.#goneInARow);
    else if (this.#pushes >= mostPushes) this.#end(true, 0);
  }

  /** Decides about all that waits. No further push follows. */
  finish(): void {
    const { leastPushes } = goneLimits;
    const judged = this.#latest.filter(Boolean).length;
    const isPart = this.#pushes >= leastPushes;
    const isDoubtful = isPart
      ? this.#waiting.length > this.#pushes / 2
      : this.#latest.length === leastPushes && judged > leastPushes / 2;
    this.#end(isDoubtful, 0);
  }

  /** @param staying how many of the last ones wait for the next part. */
  #end(isDoubtful: boolean, staying: number): void {
    const decided = this.#waiting.splice(0, this.#waiting.length - staying);
    this.#pushes = staying;
    for (const item of decided) this.#decide(item, isDoubtful);
  }
}

/** What the mark of a doubtful subscription says. @param goneSince since when it was reported as gone: epoch ms. */
export function markAt(goneSince: number | undefined, now: number): 'absent' | 'young' | 'counts' {
  const { markCountsAfterMs, markCountsForMs } = goneLimits;
  if (goneSince === undefined || now > goneSince + markCountsForMs) return 'absent';
  return now < goneSince + markCountsAfterMs ? 'young' : 'counts';
}
