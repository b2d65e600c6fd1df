import type { Random } from './random.ts';
import { type Timers, timers } from './timers.ts';

interface Event {
  readonly at: number;
  /** Decides between events of the same time. */
  readonly tie: number;
  readonly act: () => void;
}

/**
 * Virtual time. It passes from event to event, as fast as they can be executed. Events of the same
 * time happen in the order in which they were scheduled, or in a random one, which depends on the seed only.
 */
export class Scheduler {
  readonly #nextTie: () => number;
  /** A binary heap: the next event is the first one, and each one is before its two children, at 2i + 1 and 2i + 2. */
  readonly #events: Event[] = [];
  #now: number;
  #scheduled = 0;
  #sleeping = 0;
  readonly #timers = timers((ms, act) => this.after(ms, act));

  /** @param startsAt epoch ms. */
  constructor(startsAt = 0, random?: Random) {
    this.#now = startsAt;
    this.#nextTie = random === undefined ? () => ++this.#scheduled : () => random.next();
  }

  /** Epoch ms, with a fraction. */
  get now(): number {
    return this.#now;
  }

  readonly clock = (): Date => new Date(this.#now);

  /** Sleeps that have neither ended nor been aborted. */
  get sleeping(): number {
    return this.#sleeping;
  }

  readonly sleep: Timers['sleep'] = async (ms, signal) => {
    this.#sleeping += 1;
    try {
      await this.#timers.sleep(ms, signal);
    } finally {
      this.#sleeping -= 1;
    }
  };

  readonly abortAfter: Timers['abortAfter'] = (ms) => this.#timers.abortAfter(ms);

  after(ms: number, act: () => void): void {
    const events = this.#events;
    const event = { at: this.#now + Math.max(0, ms), tie: this.#nextTie(), act };
    let place = events.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[place] = events[parent]!;
      place = parent;
    }
    events[place] = event;
  }

  at(epochMs: number, act: () => void): void {
    this.after(epochMs - this.#now, act);
  }

  /** Lets time pass while code computes. */
  work(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass until nothing is scheduled. */
  async run(): Promise<void> {
    await settled();
    while (this.#act()) await settled();
  }

  /** Lets time pass until a promise is settled. */
  async until<Result>(promise: Promise<Result>): Promise<Result> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (await settled(); !isSettled; await settled()) {
      if (!this.#act()) throw new Error('The promise is pending and no event is scheduled.');
    }
    return promise;
  }

  /** Lets the next event happen. @returns whether there is one. */
  #act(): boolean {
    const event = this.#take();
    if (event === undefined) return false;
    this.#now = Math.max(this.#now, event.at);
    event.act();
    return true;
  }

  #take(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last === undefined || last === first) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
      if (!isBefore(events[child]!, last)) break;
      events[place] = events[child]!;
      place = child;
    }
    events[place] = last;
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
