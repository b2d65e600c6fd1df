import type { ProjectRef } from '../../contract/project.ts';
import { MemoryDatabase, tables } from './database/memory-database.ts';
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
  /** Whether the key pair was not that of the subscription. */
  isMismatch: boolean;
  /** Whether a retry is allowed after this attempt. */
  isTransient: boolean;
}

/** What was stored of a browser's subscription, from a time on. */
export interface Registration {
  /** Epoch ms. */
  readonly at: number;
  /** Undefined if there is no subscription. */
  readonly stored: StoredRegistration | undefined;
  /** The invocation that wrote it; undefined at the start. */
  readonly by: string | undefined;
}

export interface StoredRegistration {
  readonly user: string | undefined;
  readonly channels: readonly string[];
  /** Number of its VAPID pair. */
  readonly pair: number;
  /** Epoch ms. */
  readonly updatedAt: number;
}

/** Epoch ms between which DynamoDB refuses all calls, or those for one table, or only reads of it. */
interface Outage {
  readonly from: number;
  readonly to: number;
  readonly table?: string;
  readonly isOfReads?: boolean;
}

/** What all actors of a run share: time, chance, the database and a record of what happened. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: MemoryDatabase;
  readonly attempts: PushAttempt[] = [];
  /** Epoch ms of the calls to the database that have begun, by invocation and kind. */
  readonly calls = new Map<string, number[]>();
  /** Functions that Lambda ended. */
  readonly timeOuts: string[] = [];
  /** Requests of which an invocation was refused or lost. */
  readonly notInvoked = new Set<string>();
  readonly trace: TraceLine[] = [];
  readonly startsAt: number;
  /** Of a later project with the same id. */
  successorRef = 'next' as ProjectRef;
  outages: readonly Outage[] = [];
  /** The invocation whose call the database executes. */
  caller: string | undefined;
  /** By the path of the endpoint. */
  readonly registrations = new Map<string, Registration[]>();
  readonly #pathOf = new Map<string, string>();
  readonly #isTraced: boolean;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  readonly #runs = new Map<string, number>();
  #tokens = 0;

  constructor(seed: number, isTraced: boolean) {
    this.#seed = seed;
    // Some runs pass from one month to the next.
    const monthEnd = Date.parse('2026-12-01T00:00:00Z');
    this.startsAt = monthEnd - this.stream('start').pick([5_000, 30_000, 24 * 60 * 60 * 1000]);
    this.scheduler = new Scheduler(this.startsAt, this.stream('events of the same time'));
    this.faults = new Faults((name) => this.stream(`fault: ${name}`));
    this.database = new MemoryDatabase({
      now: () => this.scheduler.now,
      lagMs: () => this.stream('lag').between(0, 1000),
      pageSizeItems: this.stream('page size').integer(2, 20),
      isUnprocessed: () => this.faults.occurs('unprocessed keys'),
      onChange: (table, key, item) => {
        if (table === tables.subscriptions) this.#registered(key, item);
      },
    });
    this.#isTraced = isTraced;
  }

  /** The random numbers for one dimension of a run: what one draws changes no other. */
  stream(name: string): Random {
    let stream = this.#streams.get(name);
    if (stream === undefined) {
      stream = Random.of(this.#seed, name);
      this.#streams.set(name, stream);
    }
    return stream;
  }

  /** Takes a text only if it is wanted: most runs are not traced. */
  note(actor: string, text: () => string): void {
    if (!this.#isTraced) return;
    this.trace.push({ at: this.scheduler.now - this.startsAt, actor, text: text() });
  }

  /** Records a call to the database. */
  called(call: string): void {
    const times = this.calls.get(call) ?? [];
    times.push(this.scheduler.now);
    this.calls.set(call, times);
  }

  nextRun(name: string): string {
    const number = (this.#runs.get(name) ?? 0) + 1;
    this.#runs.set(name, number);
    return `${name} ${number}`;
  }

  /** A token of a transaction. */
  nextToken(): string {
    this.#tokens += 1;
    return `token ${this.#tokens}`;
  }

  /** Whether DynamoDB refuses calls for these tables now. */
  isInOutage(used: readonly string[], isRead: boolean): boolean {
    const { now } = this.scheduler;
    return this.outages.some(
      ({ from, to, table, isOfReads = false }) =>
        from <= now &&
        now < to &&
        (table === undefined || used.includes(table)) &&
        (isRead || !isOfReads),
    );
  }

  /** What was stored of a browser at some time in this span; the newest last. */
  registeredBetween(path: string, from: number, to: number): readonly Registration['stored'][] {
    const history = this.registrations.get(path) ?? [];
    const before = history.findLast(({ at }) => at <= from);
    const during = history.filter(({ at }) => from < at && at <= to);
    return [before, ...during].map((registration) => registration?.stored);
  }

  #registered(key: Record<string, unknown>, item: Record<string, unknown> | undefined): void {
    const hash = Buffer.from(key.endpointHash as Uint8Array).toString('hex');
    if (item !== undefined) this.#pathOf.set(hash, item.path as string);
    const path = this.#pathOf.get(hash)!;
    const history = this.registrations.get(path) ?? [];
    const user = (item?.projectUser as string | undefined)?.split('#')[1];
    const stored = item && {
      user,
      channels: (item.channels ?? []) as readonly string[],
      pair: (item.vapidPairNumber ?? 0) as number,
      updatedAt: item.updatedAt as number,
    };
    const registration = { at: this.scheduler.now, stored, by: this.caller };
    this.registrations.set(path, [...history, registration]);
  }
}
