import { MemoryDatabase } from './database/memory-database.ts';
import { Faults } from './faults.ts';
import { Random } from './time/random.ts';
import { Scheduler } from './time/scheduler.ts';

export interface TraceLine {
  /** Ms since the start. */
  readonly at: number;
  readonly actor: string;
  readonly text: string;
}

/** One try of a push, as the push service saw it. */
export interface PushAttempt {
  readonly notificationId: string;
  /** What the browser shows. */
  readonly title: string;
  readonly path: string;
  /** The invocation, and its pusher: one for each share. */
  readonly run: string;
  readonly pusher: number;
  readonly requestId: string;
  /** Epoch ms at which the function started it. */
  readonly startedAt: number;
  isAccepted: boolean;
  /** Whether a retry is allowed after this attempt. */
  isTransient: boolean;
}

/** What all actors of a run share: time, chance, the database and a record of what happened. */
export class World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: MemoryDatabase;
  readonly attempts: PushAttempt[] = [];
  /** Functions that Lambda ended. */
  readonly timeOuts: string[] = [];
  /** Requests of which an invocation was refused or lost. */
  readonly notInvoked = new Set<string>();
  readonly trace: TraceLine[] = [];
  readonly startsAt: number;
  /** Epoch ms between which DynamoDB refuses all calls. */
  outage = { from: 0, to: 0 };
  readonly #isTraced: boolean;
  #runs = 0;
  #tokens = 0;

  constructor(seed: number, isTraced: boolean) {
    this.random = new Random(seed);
    // Some runs pass from one month to the next.
    const monthEnd = Date.parse('2026-12-01T00:00:00Z');
    this.startsAt = monthEnd - this.random.pick([5_000, 30_000, 24 * 60 * 60 * 1000]);
    this.scheduler = new Scheduler(this.startsAt, this.random);
    this.faults = new Faults(this.random);
    this.database = new MemoryDatabase({
      now: () => this.scheduler.now,
      lagMs: () => this.random.between(0, 1000),
      pageSizeItems: this.random.integer(2, 20),
    });
    this.#isTraced = isTraced;
  }

  /** Takes a text only if it is wanted: most runs are not traced. */
  note(actor: string, text: () => string): void {
    if (!this.#isTraced) return;
    this.trace.push({ at: this.scheduler.now - this.startsAt, actor, text: text() });
  }

  nextRun(name: string): string {
    this.#runs += 1;
    return `${name} ${this.#runs}`;
  }

  /** A token of a transaction. */
  nextToken(): string {
    this.#tokens += 1;
    return `token ${this.#tokens}`;
  }

  isInOutage(): boolean {
    const { now } = this.scheduler;
    return this.outage.from <= now && now < this.outage.to;
  }
}
