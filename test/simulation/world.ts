import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
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
  /** Epoch ms at which its bytes were written. */
  readonly startedAt: number;
  isAccepted: boolean;
  /** Whether the response arrives in time. Otherwise nobody knows whether it was accepted. */
  isHeard: boolean;
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

/** One more or one less of what a counter counts. */
export interface Change {
  /** Epoch ms. */
  readonly at: number;
  readonly by: 1 | -1;
}

/** The limits of the project, from a time on: epoch ms. */
interface Limits {
  readonly at: number;
  readonly subscriberCap: number | null;
  readonly monthlySendCap: number | null;
}

/** What Lambda has made of one slice. */
export interface SliceFate {
  readonly slice: Slice;
  /** Invocations that it has accepted, and those of them that it has not lost. */
  accepted: number;
  events: number;
  /** Epoch ms at which Lambda's API has refused or lost one last. */
  refusedAt: number;
  /** Attempts whose function died, or had no connection to the database to its end. */
  deaths: number;
  /** Whether an event was dropped because it was too old. */
  isTooOld: boolean;
}

/** Epoch ms between which DynamoDB refuses all calls, or those for one table, or only reads of it. */
interface Outage {
  readonly from: number;
  readonly to: number;
  readonly table?: string;
  readonly isOfReads?: boolean;
}

/** Epoch ms: runs begin shortly before. */
export const monthEnd = Date.parse('2026-12-01T00:00:00Z');

/** Most by which the index is behind. */
export const slowIndexMs = 10_000;

/** What all actors of a run share: time, chance, the database and a record of what happened. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: MemoryDatabase;
  readonly attempts: PushAttempt[] = [];
  /** Pushes of each notification that have taken from the pace, also those without a connection. */
  readonly started = new Map<string, number>();
  /** Epoch ms of the calls to the database that have begun, by invocation and kind. */
  readonly calls = new Map<string, number[]>();
  /** Functions that Lambda ended. */
  readonly timeOuts: string[] = [];
  /** What Lambda has made of each slice. */
  readonly fates = new Map<string, SliceFate>();
  /** Requests of which a function died, or could not store what it had done last. */
  readonly unheard = new Set<string>();
  /** Attempts of Lambda that failed although their function had time left. */
  readonly wasted: string[] = [];
  readonly trace: TraceLine[] = [];
  readonly startsAt: number;
  /** Of a later project with the same id. */
  successorRef = 'next' as ProjectRef;
  outages: readonly Outage[] = [];
  /** The invocation whose call the database executes. */
  caller: string | undefined;
  /** The limits of the project from each time on. */
  readonly limits: Limits[] = [];
  /** Epoch ms at which the operator began to remove the project. */
  removedAt: number | undefined;
  /** The notifications that have begun or were cancelled, with the epoch ms at which they were sent. */
  readonly sends: (Change & { readonly id: string; readonly sentAt: number })[] = [];
  /** Functions that used a project again after they had found it removed. */
  readonly revivals: string[] = [];
  /** By the path of the endpoint. */
  readonly registrations = new Map<string, Registration[]>();
  readonly #pathOf = new Map<string, string>();
  readonly #isTraced: boolean;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  readonly #runs = new Map<string, number>();
  readonly #delays = new Map<string, number>();
  #tokens = 0;

  constructor(seed: number, isTraced: boolean) {
    this.#seed = seed;
    // Some runs pass from one month to the next.
    this.startsAt = monthEnd - this.stream('start').pick([5_000, 30_000, 24 * 60 * 60 * 1000]);
    this.scheduler = new Scheduler(this.startsAt, this.stream('events of the same time'));
    this.faults = new Faults((name) => this.stream(`fault: ${name}`));
    this.database = new MemoryDatabase({
      now: () => this.scheduler.now,
      lagMs: (isIndex) =>
        isIndex && this.faults.occurs('slow index')
          ? this.stream('lag').between(1000, slowIndexMs)
          : this.stream('lag').between(0, 1000),
      pageSizeItems: this.stream('page size').integer(2, 20),
      isUnprocessed: () => this.faults.occurs('unprocessed keys'),
      onChange: (table, key, item) => {
        if (table === tables.subscriptions) this.#registered(key, item);
        else if (table === tables.projects) this.#changed(item);
        else if (table === tables.notifications) this.#sent(item);
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

  /** Ms that faults have taken of the time of a request and its functions, at most. */
  delayOf(requestId: string): number {
    return this.#delays.get(requestId) ?? 0;
  }

  delay(requestId: string, ms: number): void {
    this.#delays.set(requestId, this.delayOf(requestId) + ms);
  }

  fateOf(slice: Slice): SliceFate {
    const key = `${slice.notificationId}/${slice.slice}`;
    let fate = this.fates.get(key);
    if (fate === undefined) {
      fate = { slice, accepted: 0, events: 0, refusedAt: 0, deaths: 0, isTooOld: false };
      this.fates.set(key, fate);
    }
    return fate;
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

  #changed(item: Record<string, unknown> | undefined): void {
    if (this.removedAt !== undefined) return;
    const { now: at } = this.scheduler;
    if (item === undefined || 'removed' in item) this.removedAt = at;
    else this.limits.push({ at, ...(item.settings as Omit<Limits, 'at'>) });
  }

  #sent(item: Record<string, unknown> | undefined): void {
    if (item === undefined || item.projectRef === this.successorRef) return;
    const id = item.notificationId as string;
    const begun = this.sends.find((one) => one.id === id);
    const { now: at } = this.scheduler;
    if (item.content !== undefined) {
      this.sends.push({ id, at, by: 1, sentAt: Date.parse(item.sentAt as string) });
    } else if (begun !== undefined) {
      this.sends.push({ ...begun, at, by: -1 });
    }
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
