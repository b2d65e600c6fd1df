import type { Recipient } from '../../../contract/audience.ts';
import type { Counts } from '../../../contract/counts.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../../lambdas/push/pushing/pusher.ts';
import type { Random } from '../time/random.ts';
import type { Scheduler } from '../time/scheduler.ts';
import { model } from './model.ts';

/** Time between two steps of a delivery. */
const stepMs = 100;

/**
 * Delivers in aggregate: as many pushes per step as the processor, the pace and the pushes in flight
 * allow. Those that are gone are removed with real calls.
 */
export function aggregateDelivery(scheduler: Scheduler, random: Random): StartPushing {
  return (options) => new AggregateDelivery(scheduler, random, options);
}

class AggregateDelivery implements Pusher {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #options: PusherOptions;
  readonly #pushesPerStep: number;
  readonly #removals: Promise<void>[] = [];
  readonly #counts = { delivered: 0, removed: 0, notRemoved: 0, unreached: 0 };
  #queue: readonly Recipient[] = [];
  #isRunning = false;
  #onEmpty: () => void = () => {};

  constructor(scheduler: Scheduler, random: Random, options: PusherOptions) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#options = options;
    const perSecond = Math.min(
      1e6 / model.cpuPerPush.value,
      options.pushesPerSecond,
      (model.inFlight.value * 1000) / model.pushLatency.value,
    );
    this.#pushesPerStep = (perSecond * stepMs) / 1000;
  }

  add(recipients: readonly Recipient[]): void {
    this.#queue = recipients;
    if (!this.#isRunning) this.#step(0);
  }

  async wantsMore(): Promise<boolean> {
    await this.#empty();
    return this.#scheduler.now < this.#options.times.lastPushAt;
  }

  async end(): Promise<Counts> {
    await this.#empty();
    await new Promise<void>((resolve) => this.#scheduler.after(model.pushLatency.value, resolve));
    await Promise.all(this.#removals);
    return this.soFar();
  }

  stop(): void {
    this.#counts.unreached += this.#queue.length;
    this.#queue = [];
  }

  soFar(): Counts {
    const { delivered, removed, notRemoved, unreached } = this.#counts;
    return {
      attempted: delivered + removed + notRemoved,
      ...{ delivered, removed, failed: notRemoved, unreached },
      failures: notRemoved > 0 ? { not_removed: notRemoved } : {},
    };
  }

  async #empty(): Promise<void> {
    if (!this.#isRunning) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** @param carried part of a push that the steps before had room for. */
  #step(carried: number): void {
    if (this.#scheduler.now >= this.#options.times.lastPushAt) this.stop();
    const room = carried + this.#pushesPerStep;
    const number = Math.min(Math.floor(room), this.#queue.length);
    const gone = this.#queue
      .slice(0, number)
      .filter(() => this.#random.chance(model.goneShare.value));
    this.#queue = this.#queue.slice(number);
    this.#counts.delivered += number - gone.length;
    for (const batch of batchesOf(gone, this.#options)) this.#removals.push(this.#remove(batch));
    this.#isRunning = this.#queue.length > 0;
    if (this.#isRunning) this.#scheduler.after(stepMs, () => this.#step(room - number));
    else this.#onEmpty();
  }

  async #remove(batch: readonly Recipient[]): Promise<void> {
    const { times, remove } = this.#options;
    const end = new AbortController();
    this.#scheduler.at(times.endAt, () => end.abort());
    try {
      await remove(batch, end.signal);
      this.#counts.removed += batch.length;
    } catch {
      this.#counts.notRemoved += batch.length;
    }
  }
}

/** By groups, as the real delivery removes them; a batch per step and group, which is more calls. */
function batchesOf(gone: readonly Recipient[], { group: groupOf }: PusherOptions): Recipient[][] {
  const groups = new Map<number, Recipient[]>();
  for (const recipient of gone) {
    const group = groupOf(recipient);
    groups.set(group, [...(groups.get(group) ?? []), recipient]);
  }
  return [...groups.values()];
}
