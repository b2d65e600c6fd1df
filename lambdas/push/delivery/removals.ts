import type { Recipient } from '../../../contract/audience.ts';
import { limits } from '../../../contract/limits.ts';
import type { Chunk } from './chunk.ts';
import type { Counts } from './counts.ts';
import { untilAborted } from './until-aborted.ts';

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
  readonly #chunk: Chunk;
  readonly #counts: Counts;
  readonly #end: AbortSignal;
  readonly #groups = new Map<number, Group>();

  /** @param end aborts when the time is over. Later batches count as not removed. */
  constructor(chunk: Chunk, counts: Counts, end: AbortSignal) {
    this.#chunk = chunk;
    this.#counts = counts;
    this.#end = end;
  }

  add(recipient: Recipient): void {
    const group = this.#groupOf(this.#chunk.removalGroup(recipient));
    group.batch.push(recipient);
    if (group.batch.length === limits.removalBatch) this.#remove(group);
  }

  /** Starts the batches that are not full. */
  removeRest(): void {
    for (const group of this.#groups.values()) this.#remove(group);
  }

  /** Resolves when all batches have ended. */
  async finish(): Promise<void> {
    this.removeRest();
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
        await untilAborted(this.#chunk.remove(batch, this.#end), this.#end);
        this.#counts.addRemoved(batch.length);
      } catch {
        this.#counts.addFailed('not_removed', batch.length);
      }
    });
  }
}
