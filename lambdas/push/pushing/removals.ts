import type { Recipient } from '../../../contract/audience.ts';
import { shareSizes } from '../../../contract/share-sizes.ts';
import type { OutcomeCounter } from './outcome-counter.ts';
import type { PusherOptions } from './pusher.ts';
import { untilAborted } from './until-aborted.ts';

/** Milliseconds after which a batch is removed that is not full. */
const batchMs = 1000;

/** The recipients of one group that are gone. */
interface Group {
  batch: Recipient[];
  /** Ends when all earlier batches have ended. */
  removed: Promise<void>;
}

/**
 * Removes subscriptions that are gone, in batches, while pushes continue. Batches of one group run
 * one after another, because they would conflict; groups run in parallel.
 */
export class Removals {
  readonly #options: PusherOptions;
  readonly #counts: OutcomeCounter;
  readonly #after: (ms: number, act: () => void) => void;
  readonly #end: AbortSignal;
  readonly #groups = new Map<number, Group>();

  /**
   * @param after does something after some ms, unless the pusher has ended.
   * @param end aborts when the time is over. Later batches count as not removed.
   */
  constructor(
    options: PusherOptions,
    counts: OutcomeCounter,
    after: (ms: number, act: () => void) => void,
    end: AbortSignal,
  ) {
    this.#options = options;
    this.#counts = counts;
    this.#after = after;
    this.#end = end;
  }

  add(recipient: Recipient): void {
    const group = this.#groupOf(this.#options.removalGroup(recipient));
    const { batch } = group;
    batch.push(recipient);
    if (batch.length === shareSizes.removalBatch) this.#remove(group);
    else if (batch.length === 1) {
      // It does not wait for a push service that is slow.
      this.#after(batchMs, () => {
        if (group.batch === batch) this.#remove(group);
      });
    }
  }

  /** Removes all that are left. */
  async finish(): Promise<void> {
    for (const group of this.#groups.values()) this.#remove(group);
    for (const { removed } of this.#groups.values()) await removed;
  }

  #groupOf(number: number): Group {
    let group = this.#groups.get(number);
    if (group === undefined) {
      group = { batch: [], removed: Promise.resolve() };
      this.#groups.set(number, group);
    }
    return group;
  }

  #remove(group: Group): void {
    const { batch } = group;
    if (batch.length === 0) return;
    group.batch = [];
    group.removed = group.removed.then(async () => {
      try {
        this.#end.throwIfAborted();
        await untilAborted(this.#options.remove(batch, this.#end), this.#end);
        this.#counts.addRemoved(batch.length);
      } catch {
        this.#counts.addFailed('not_removed', batch.length);
      }
    });
  }
}
