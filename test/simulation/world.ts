import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { Choice } from '../../contract/wire/fields.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { choiceOf } from '../../lambdas/store/items.ts';
import { type Item, MemoryDatabase, tables } from './database/memory-database.ts';
import { Faults } from './faults.ts';
import { Random } from './time/random.ts';
import { Scheduler } from './time/scheduler.ts';

export interface TraceLine {
  /** Ms since the start. */
  readonly at: number;
  readonly actor: string;
  readonly text: string;
}

/** One attempt of a push: its bytes have left a function, so that the push service may have accepted it. */
export interface PushAttempt {
  readonly notificationId: string;
  /** What the browser shows. */
  readonly title: string;
  readonly path: string;
  readonly origin: string;
  /** The invocation. */
  readonly run: string;
  readonly requestId: string;
  /** Epoch ms at which its bytes were written. */
  readonly startedAt: number;
  readonly slice: number;
  /** What was stored of its slice then. */
  readonly stored: SliceVersion | undefined;
  isAccepted: boolean;
  /** Epoch ms at which the function had a response; undefined if it never had. */
  heardAt?: number;
  /** The status of the push service, whether or not the function had it. */
  status?: number;
  /** Whether it may have another attempt: a status refused it, or a connection closed that had been used before. */
  mayBeRepeated: boolean;
  /** Whether the key pair was not that of the subscription. */
  isMismatch: boolean;
}

/** A version of the item of a slice. */
export interface SliceVersion {
  /** Epoch ms at which it was stored, and at which the call for it was made. */
  readonly at: number;
  readonly calledAt: number;
  /** The invocation that has written it, and the one that has the lease: a stop leaves that. */
  readonly by: string | undefined;
  readonly holder: string | undefined;
  readonly item: Item;
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
  readonly choice: Choice;
  /** Number of its VAPID pair. */
  readonly pair: number;
  /** Epoch ms. */
  readonly createdAt: number;
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
  /** Why it has given up events. `failed`: each attempt has ended with an error by itself. */
  readonly givenUp: ('too old' | 'an attempt died or lost the database' | 'failed')[];
}

/** Epoch ms between which DynamoDB refuses all calls, or those for one table, or only reads of it. */
interface Outage {
  readonly from: number;
  readonly to: number;
  readonly table?: string;
  readonly isOfReads?: boolean;
}

/** A span of time, in epoch ms. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How one invocation of send or deliver has ended. */
export interface EndedRun extends Span {
  readonly requestId: string;
  /** Why it died, if it did. */
  readonly death: string | undefined;
  readonly sliceWrites: readonly EndedWrite[];
  /** The messages of the lines that it has logged. */
  readonly logs: ReadonlySet<string>;
  /** Whether a fault was the end of its last call to the database. */
  readonly isWithoutDatabase: boolean;
  /** When it stood still, so that another one may have taken what it had. */
  readonly pause: Span | undefined;
}

/** A call to write a slice, and how it ended. */
export interface EndedWrite {
  /** Of the slice. */
  readonly id: string;
  /** Epoch ms. */
  readonly calledAt: number;
  /** By a fault: it is not known whether it is stored. */
  readonly isLost: boolean;
}

/** Epoch ms: runs begin shortly before. */
export const monthEnd = Date.parse('2026-12-01T00:00:00Z');

/** Most by which the index is behind. */
export const slowIndexMs = 10_000;

/** Who is disturbed by what is wrong with a push service as a whole. */
export const everyone: unique symbol = Symbol('everyone');

/** What all actors of a run share: time, chance, the database and a record of what happened. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: MemoryDatabase;
  readonly attempts: PushAttempt[] = [];
  /** The versions of each item of a slice, by its id. */
  readonly slices = new Map<string, SliceVersion[]>();
  /** The invocations of send and deliver that have ended, by name. */
  readonly ended = new Map<string, EndedRun>();
  /** Epoch ms of the calls to the database that have begun, by invocation and kind. */
  readonly calls = new Map<string, number[]>();
  /** Functions that Lambda ended. */
  readonly timeOuts: string[] = [];
  /** The invocations that have an entry in the audit. */
  readonly audited = new Set<string>();
  /** What Lambda has made of each slice. */
  readonly fates = new Map<string, SliceFate>();
  /** The notifications that Lambda was asked to deliver, whatever it responded. */
  readonly startedIds = new Set<string>();
  /** Attempts of Lambda that failed although their function had time left. */
  readonly wasted: string[] = [];
  readonly trace: TraceLine[] = [];
  readonly startsAt: number;
  /** Of a later project with the same id. */
  successorRef = 'next' as ProjectRef;
  outages: readonly Outage[] = [];
  /** Whose call the database executes: an invocation, the request that it works for, and when it called. */
  caller:
    | { readonly run: string; readonly requestId: string; readonly calledAt: number }
    | undefined;
  /** The limits of the project from each time on. */
  readonly limits: Limits[] = [];
  /** Epoch ms at which the operator began to remove the project. */
  removedAt: number | undefined;
  /** Epoch ms at which the member's key was revoked. */
  revokedAt: number | undefined;
  /** The request that made each notification, by its id. */
  readonly requestOf = new Map<string, string>();
  /** The notifications that have begun, by id, as they were stored. */
  readonly notifications = new Map<string, Item>();
  /** When each of them has begun or was cancelled, with the epoch ms at which it was sent. */
  readonly sends: (Change & { readonly id: string; readonly sentAt: number })[] = [];
  /** By the path of the endpoint. */
  readonly registrations = new Map<string, Registration[]>();
  readonly #pathOf = new Map<string, string>();
  readonly #isTraced: boolean;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  readonly #runs = new Map<string, number>();
  readonly #disturbed = new Map<string | typeof everyone, Span[]>();
  readonly #slowOrigins = new Map<string | typeof everyone, Set<string>>();
  readonly #picked: PickedCall;
  #tokens = 0;

  constructor(seed: number, isTraced: boolean) {
    this.#seed = seed;
    // Some runs pass from one month to the next.
    this.startsAt = monthEnd - this.stream('start').pick([5_000, 30_000, 24 * 60 * 60 * 1000]);
    this.scheduler = new Scheduler(this.startsAt, this.stream('events of the same time'));
    this.faults = new Faults((name) => this.stream(`fault: ${name}`));
    this.#picked = new PickedCall(this.stream('picked call'));
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
        else if (table === tables.deliveries) this.#written(item);
        else if (table === tables.audit) this.audited.add(this.caller!.run);
      },
    });
    this.#isTraced = isTraced;
  }

  get now(): number {
    return this.scheduler.now;
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
    this.trace.push({ at: this.now - this.startsAt, actor, text: text() });
  }

  /**
   * Whether this is the one call of the run that is picked to fail.
   * @param isOfDelivery whether it begins, claims, stores, pushes or starts something: these are picked more often.
   */
  isPicked(kind: string, isOfDelivery: boolean): boolean {
    return this.#picked.isNext(kind, isOfDelivery) && this.faults.occurs('one call fails');
  }

  /** A fault takes this span at most of the time of a request and its functions, or of all of them. */
  disturb(requestId: string | typeof everyone, span: Span): void {
    const spans = this.#disturbed.get(requestId) ?? [];
    spans.push(span);
    this.#disturbed.set(requestId, spans);
  }

  /** @param run whose pushes an origin has delayed; or everyone's. */
  foundSlow(run: string | typeof everyone, origin: string): void {
    const origins = this.#slowOrigins.get(run) ?? new Set();
    origins.add(origin);
    this.#slowOrigins.set(run, origins);
  }

  /** The origins that have delayed a push of a run. */
  slowOriginsOf(run: string): readonly string[] {
    const origins = (by: string | typeof everyone) => [...(this.#slowOrigins.get(by) ?? [])];
    return [...origins(run), ...origins(everyone)];
  }

  /** Ms of a span in which faults disturbed none of these requests, or everyone. */
  undisturbedMs(requestIds: readonly (string | typeof everyone)[], { from, to }: Span): number {
    const spans = requestIds.flatMap((id) => this.#disturbed.get(id) ?? []);
    let at = from;
    let sum = 0;
    for (const span of spans.toSorted((one, other) => one.from - other.from)) {
      sum += Math.max(0, Math.min(span.from, to) - at);
      at = Math.max(at, span.to);
    }
    return sum + Math.max(0, to - at);
  }

  fateOf(slice: Slice): SliceFate {
    const key = `${slice.notificationId}/${slice.slice}`;
    let fate = this.fates.get(key);
    if (fate === undefined) {
      fate = { slice, accepted: 0, events: 0, givenUp: [] };
      this.fates.set(key, fate);
    }
    return fate;
  }

  /** Records a call to the database. */
  called(call: string): void {
    const times = this.calls.get(call);
    if (times === undefined) this.calls.set(call, [this.now]);
    else times.push(this.now);
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
    return this.outages.some(
      ({ from, to, table, isOfReads = false }) =>
        from <= this.now &&
        this.now < to &&
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

  #changed(item: Item | undefined): void {
    if (this.removedAt !== undefined) return;
    const at = this.now;
    if (item === undefined || 'removed' in item) this.removedAt = at;
    else this.limits.push({ at, ...(item.settings as Omit<Limits, 'at'>) });
    const members = (item?.members ?? {}) as object;
    if (!('member' in members)) this.revokedAt ??= at;
  }

  #sent(item: Item | undefined): void {
    if (item === undefined || item.projectRef === this.successorRef) return;
    const id = item.notificationId as string;
    const begun = this.sends.find((one) => one.id === id);
    const at = this.now;
    if (item.content !== undefined) {
      this.notifications.set(id, item);
      this.requestOf.set(id, this.caller?.requestId ?? '');
      this.sends.push({ id, at, by: 1, sentAt: Date.parse(item.sentAt as string) });
    } else if (begun !== undefined) {
      this.sends.push({ ...begun, at, by: -1 });
    }
  }

  #written(item: Item | undefined): void {
    if (item === undefined || !('leasedBy' in item || 'stoppedAt' in item)) return;
    const id = item.id as string;
    const at = this.now;
    const versions = this.slices.get(id) ?? [];
    const before = versions.at(-1);
    const isSame = item.leasedBy === before?.item.leasedBy;
    const by = this.caller?.run;
    const holder = isSame ? before?.holder : by;
    versions.push({ at, calledAt: this.caller?.calledAt ?? at, by, holder, item });
    this.slices.set(id, versions);
  }

  #registered(key: Item, item: Item | undefined): void {
    if (String(key.projectPart).endsWith('#erased')) return;
    const hash = Buffer.from(key.endpointHash as Uint8Array).toString('hex');
    if (item !== undefined) this.#pathOf.set(hash, item.path as string);
    const path = this.#pathOf.get(hash)!;
    const history = this.registrations.get(path) ?? [];
    const [ref = ''] = String(key.projectPart).split('#');
    const choice = choiceOf(ref as ProjectRef, item ?? {});
    const stored = item && {
      user: choice.userId,
      choice,
      pair: (item.vapidPairNumber ?? 0) as number,
      createdAt: item.createdAt as number,
      updatedAt: item.updatedAt as number,
    };
    const registration = { at: this.now, stored, by: this.caller?.run };
    this.registrations.set(path, [...history, registration]);
  }
}

/**
 * Picks one call of a run: of a call of each kind, the first one decides by chance whether it is of this kind. So a rare
 * call, such as the one that claims, is picked as often as one that is made every two seconds.
 */
class PickedCall {
  readonly #random: Random;
  readonly #made = new Map<string, number>();
  #picked: { readonly kind: string; readonly number: number } | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  isNext(kind: string, isOfDelivery: boolean): boolean {
    const number = (this.#made.get(kind) ?? 0) + 1;
    this.#made.set(kind, number);
    if (
      number === 1 &&
      this.#picked === undefined &&
      this.#random.chance(isOfDelivery ? 0.2 : 0.03)
    ) {
      this.#picked = { kind, number: this.#random.pick([1, 1, 1, 2, 3, 5]) };
    }
    return this.#picked?.kind === kind && this.#picked.number === number;
  }
}
