import type { Random } from './random.ts';

interface Event {
  readonly at: number;
  /** Decides between events of the same time. */
  readonly tie: number;
  readonly act: () => void;
}

/**
 * Virtual time. It passes from event to event, as fast as they can be executed. Events of the same
 * time happen in a random order, so a run depends on its seed only.
 */
export class Scheduler {
  readonly #random: Random;
  readonly #events: Event[] = [];
  #now: number;

  /** @param startsAt epoch ms. */
  constructor(random: Random, startsAt: number) {
    this.#random = random;
    this.#now = startsAt;
  }

  /** Epoch ms, with a fraction. */
  get now(): number {
    return this.#now;
  }

  readonly clock = (): Date => new Date(this.#now);

  after(ms: number, act: () => void): void {
    this.#push({ at: this.#now + Math.max(0, ms), tie: this.#random.next(), act });
  }

  at(epochMs: number, act: () => void): void {
    this.after(epochMs - this.#now, act);
  }

  /** Lets time pass until nothing is scheduled any more. */
  async run(): Promise<void> {
    await settled();
    for (let event = this.#pop(); event !== undefined; event = this.#pop()) {
      this.#now = event.at;
      event.act();
      await settled();
    }
  }

  // A binary heap: no event is before its parent, which is at half its index.
  #push(event: Event): void {
    const events = this.#events;
    let index = events.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[index] = events[parent]!;
      index = parent;
    }
    events[index] = event;
  }

  #pop(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || events.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
      if (!isBefore(events[child]!, last!)) break;
      events[index] = events[child]!;
      index = child;
    }
    events[index] = last!;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.tie < other.tie);
}

/** Resolves when everything that follows from the last event without waiting has happened. */
function settled(): Promise<void> {
  // Node executes all promise jobs before the next tick.
  return new Promise((resolve) => process.nextTick(resolve));
}
