import type { Recipient } from '../../../contract/audience.ts';
import type { PusherOptions } from './pusher.ts';
import { untilAborted } from './until-aborted.ts';

/** Writes in flight: few, because they take processor time from the pushes. */
const concurrency = 8;

/**
 * Stores the right key pair of recipients that were delivered with the other one, while pushes continue.
 * Best effort: after a failure, or when the time is over, the next send corrects the others.
 */
export class Corrections {
  readonly #correctPair: PusherOptions['correctPair'];
  readonly #end: AbortSignal;
  readonly #waiting: (readonly [Recipient, number: number])[] = [];
  #inFlight = 0;
  #allWritten = () => {};

  /** @param end aborts when the time is over. */
  constructor({ correctPair }: PusherOptions, end: AbortSignal) {
    this.#correctPair = correctPair;
    this.#end = end;
  }

  add(recipient: Recipient, number: number): void {
    this.#waiting.push([recipient, number]);
    if (this.#inFlight < concurrency) void this.#write();
  }

  /** Resolves when all writes have ended, or the time is over. */
  async finish(): Promise<void> {
    if (this.#inFlight === 0) return;
    const allWritten = new Promise<void>((resolve) => {
      this.#allWritten = resolve;
    });
    await untilAborted(allWritten, this.#end).catch(() => {});
  }

  async #write(): Promise<void> {
    this.#inFlight += 1;
    try {
      for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
        this.#end.throwIfAborted();
        await this.#correctPair(...next, this.#end);
      }
    } catch {
      this.#waiting.length = 0;
    }
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#allWritten();
  }
}
