import type { Counts } from '../../../contract/counts.ts';
import type { FailureReason } from '../../../contract/failure-reasons.ts';

/** Counts each recipient once, when it is settled. */
export class OutcomeCounter {
  #delivered = 0;
  #removed = 0;
  #failed = 0;
  #unreached = 0;
  readonly #failures: Partial<Record<FailureReason, number>> = {};

  addDelivered(): void {
    this.#delivered += 1;
  }

  addRemoved(number: number): void {
    this.#removed += number;
  }

  addFailed(reason: FailureReason, number = 1): void {
    this.#failed += number;
    this.#failures[reason] = (this.#failures[reason] ?? 0) + number;
  }

  addUnreached(): void {
    this.#unreached += 1;
  }

  report(): Counts {
    return {
      attempted: this.#delivered + this.#removed + this.#failed,
      delivered: this.#delivered,
      removed: this.#removed,
      failed: this.#failed,
      unreached: this.#unreached,
      failures: { ...this.#failures },
    };
  }
}
