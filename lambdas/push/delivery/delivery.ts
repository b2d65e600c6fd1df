import type { Audience, Recipient } from '../../../contract/audience.ts';
import { limits } from '../../../contract/limits.ts';
import type { VapidKeys } from '../../../contract/project.ts';
import { readEndpoint } from '../../../contract/push-services.ts';
import type { DeliveryCounts } from '../../../contract/schemas.ts';
import { type Encrypt, encryption } from '../crypto/encryption.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import type { PushRequest, Transport } from '../transport/transport.ts';
import { type LaneBounds, Lanes } from './lanes.ts';
import { type FailureReason, type Outcome, outcomeOf } from './outcome.ts';

export interface Broadcast {
  readonly message: Buffer;
  readonly vapid: VapidKeys;
  readonly audience: Audience;
  /** Epoch ms after which no push starts. */
  readonly lastPushAt: number;
  /** Epoch ms by which the delivery ends, finished or not. */
  readonly endAt: number;
  /** Deletes subscriptions that their push service reported as gone. */
  readonly remove: (endpointHashes: readonly string[], signal: AbortSignal) => Promise<void>;
}

export interface DeliveryReport extends DeliveryCounts {
  /** At least this many subscribers were not attempted. */
  readonly unreached: number;
  /** Failures by their reason, adding up to `failed`. */
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>;
  /** Why the audience could not be read to its end, if so. */
  readonly interruption?: unknown;
}

export type FailureKind =
  | FailureReason
  /** The stored endpoint's push service is no longer accepted, or its keys are invalid. */
  | 'unsendable'
  /** The subscription is gone, but could not be deleted in time. */
  | 'not_removed';

export interface DeliverySettings {
  readonly transport: Transport;
  readonly sign: VapidSigner;
  readonly clock: () => Date;
  /** Milliseconds for which the process has been idle so far. */
  readonly idleTime: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** A signal that is aborted after this many ms. */
  readonly abortAfter: (ms: number) => AbortSignal;
  /** From 0 to below 1; spreads retries. */
  readonly random: () => number;
  /** Origins accepted besides those of the known push services. */
  readonly extraOrigins: readonly string[];
  /** Pushes at once. */
  readonly inFlight: LaneBounds;
  /** Seconds for which a push service keeps the message for an offline browser. */
  readonly ttl: number;
}

/**
 * What a function has in flight at once: over all push services, and to one of them. Each has a
 * connection, and 512 are the most a function shall have. With pushes that take 60 to 90 ms, 360
 * keep one processor busy.
 */
export const inFlight: LaneBounds = { overall: 480, perLane: 360, atFirst: 32, atLeast: 4 };
/** Subscriptions in hand, in flight or waiting for it, of all and of one push service. */
const inHand = { overall: 4000, perLane: 640 };
/** The reading goes on when so many pushes have ended, not after each, or after so many ms. */
const readingStep = { pushes: 32, wait: 50 };

/** Milliseconds a push may take, where the end of the delivery allows it. */
const pushTimeoutMs = 10_000;
/** Milliseconds past the last push for which subscribers left out are still counted. */
const countingTimeMs = 2_500;

const attempts = 3;
/** Milliseconds before the second attempt, doubled before the third. Half of it is random. */
const backoffMs = 500;

/**
 * A push service holds the others up when the reading of the audience has waited for it this long
 * (ms), and for this share of the time, while they had nothing to send and the processor nothing
 * to do.
 */
const patience = { least: 150, share: 0.1 };
/** Push services that may get a reading of their own: each holds two pages in memory. */
const readingsApart = 3;

/** Pushes a message to an audience in time, and tells what became of it. */
export type Deliver = (broadcast: Broadcast) => Promise<DeliveryReport>;

export function delivery(settings: DeliverySettings): Deliver {
  return (broadcast) => new Delivery(settings, broadcast).run();
}

/** What is known of one push service in one broadcast. */
interface Service {
  readonly origin: string;
  /** Of every push to it; undefined where it is not admitted. */
  readonly headers: PushRequest['headers'] | undefined;
  /** Its subscriptions in hand. */
  held: number;
  /** For how long (ms) the others' reading has waited for it in vain. */
  waited: number;
  /** Whether the last push to it succeeded, or failed for a reason of its subscription. */
  isHealthy: boolean;
  /** Whether its subscriptions have a reading of their own, so that it holds up no other's. */
  isApart: boolean;
}

interface Push {
  readonly service: Service;
  readonly recipient: Recipient;
  readonly attempt: number;
  /** Why the attempt before failed. */
  readonly lastFailure?: FailureReason;
  /** Undefined until it is encrypted, and where that is impossible. */
  body?: Buffer;
}

class Delivery {
  readonly #settings: DeliverySettings;
  readonly #broadcast: Broadcast;
  readonly #encrypt: Encrypt;
  readonly #services = new Map<string, Service>();
  readonly #lanes: Lanes<Push>;
  readonly #counts = { delivered: 0, removed: 0, failed: 0 };
  readonly #failures: Partial<Record<FailureKind, number>> = {};
  #unreached = 0;
  #held = 0;
  #gone: string[] = [];
  #removals: Promise<void> = Promise.resolve();
  /** Aborts at the end. */
  readonly #end: AbortSignal;
  readonly #begun: number;
  readonly #readings: Promise<void>[] = [];
  #interruption: { readonly interruption: unknown } | undefined;
  #wake: () => void = () => {};
  #tick: Promise<void> | undefined;
  #changed: Promise<void> | undefined;

  constructor(settings: DeliverySettings, broadcast: Broadcast) {
    this.#settings = settings;
    this.#broadcast = broadcast;
    this.#lanes = new Lanes(settings.inFlight, {
      prepare: (push) => this.#prepare(push),
      run: (push) => this.#run(push),
      now: () => this.#now(),
    });
    this.#encrypt = encryption(broadcast.message);
    this.#begun = this.#now();
    this.#end = settings.abortAfter(Math.max(0, broadcast.endAt - this.#begun));
  }

  async run(): Promise<DeliveryReport> {
    this.#startReading();
    // One reading may start others.
    for (const reading of this.#readings) await reading;
    while (this.#held > 0) await this.#change();
    this.#removeGone();
    await this.#removals;
    const { delivered, removed, failed } = this.#counts;
    return {
      attempted: delivered + removed + failed,
      ...this.#counts,
      unreached: this.#unreached,
      failures: this.#failures,
      ...this.#interruption,
    };
  }

  /** Reads the whole audience; or, apart from the others, one push service's from a hash on. */
  #startReading(apart?: Service, from?: string): void {
    const reading = this.#read(this.#pages(from), apart);
    this.#readings.push(
      reading.catch((error: unknown) => {
        // Those of the next page at least.
        this.#unreached += 1;
        if (!this.#end.aborted) this.#interruption ??= { interruption: error };
      }),
    );
  }

  async #read(pages: AsyncIterable<readonly Recipient[]>, apart?: Service): Promise<void> {
    for await (const page of pages) {
      for (const recipient of page) {
        const service = this.#serviceOf(recipient.endpoint);
        if (apart === undefined ? service.isApart : service !== apart) continue;
        if (this.#msLeft() <= 0) {
          this.#unreached += 1;
        } else if (service.headers === undefined) {
          this.#fail('unsendable');
        } else if (this.#hasRoom(service) || (await this.#room(service))) {
          service.held += 1;
          this.#held += 1;
          this.#lanes.enqueue(service.origin, { service, recipient, attempt: 1 });
        } else {
          service.isApart = true;
          this.#startReading(service, recipient.endpointHash);
        }
      }
      if (this.#msLeft() < -countingTimeMs) return;
    }
  }

  /** Pages until the end, even where a page never comes. */
  async *#pages(from?: string): AsyncGenerator<readonly Recipient[], void> {
    const signal = this.#end;
    const pages = this.#broadcast.audience.pages({ from, signal })[Symbol.asyncIterator]();
    for (;;) {
      const page = await untilAborted(pages.next(), signal);
      if (page.done) return;
      yield page.value;
    }
  }

  #serviceOf(endpoint: string): Service {
    const origin = originOf(endpoint);
    let service = this.#services.get(origin);
    if (service === undefined) {
      // Checked again: the accepted origins may have changed since this endpoint was stored.
      const admitted = isOrigin(readEndpoint(origin, this.#settings.extraOrigins), origin);
      const headers = admitted ? this.#headers(origin) : undefined;
      service = { origin, headers, held: 0, waited: 0, isHealthy: true, isApart: false };
      this.#services.set(origin, service);
    }
    return service;
  }

  #headers(origin: string): PushRequest['headers'] {
    const { sign, ttl } = this.#settings;
    return {
      Authorization: sign(this.#broadcast.vapid, origin),
      'Content-Encoding': 'aes128gcm',
      'Content-Type': 'application/octet-stream',
      TTL: String(ttl),
    };
  }

  #hasRoom(service: Service): boolean {
    return service.held < inHand.perLane && this.#held < inHand.overall;
  }

  /** Waits until one more can be taken in hand. @returns false where the others had better go on. */
  async #room(service: Service): Promise<boolean> {
    while (!this.#hasRoom(service)) {
      // What the processor does for a push service that is not well is done in vain too.
      const lost = service.isHealthy ? this.#settings.idleTime : () => this.#now();
      const before = lost();
      await this.#change();
      const inVain = !this.#lanes.isAnyWaitingBesides(service.origin);
      if (inVain) service.waited += lost() - before;
      if (this.#holdsUpOthers(service)) return false;
    }
    return true;
  }

  #holdsUpOthers(service: Service): boolean {
    if (!this.#broadcast.audience.ordered || service.isApart) return false;
    if (service.held < inHand.perLane || this.#readings.length > readingsApart) return false;
    const elapsed = this.#now() - this.#begun;
    if (service.waited < Math.max(patience.least, patience.share * elapsed)) return false;
    const others = [...this.#services.values()].filter((other) => other !== service);
    return others.some(({ headers, isApart }) => headers !== undefined && !isApart);
  }

  /** Resolves when some pushes have ended, or after a while in which none has. */
  #change(): Promise<void> {
    this.#tick ??= this.#settings.sleep(readingStep.wait).then(() => {
      this.#tick = undefined;
      this.#wake();
    });
    this.#changed ??= new Promise((resolve) => {
      this.#wake = () => {
        this.#changed = undefined;
        resolve();
      };
    });
    return this.#changed;
  }

  #prepare(push: Push): void {
    try {
      push.body ??= this.#encrypt(push.recipient);
    } catch {
      // Invalid keys: `body` stays undefined and the push counts as `unsendable`.
    }
  }

  /** @returns whether the push service is healthy, as far as this push shows. */
  async #run(push: Push): Promise<boolean> {
    const { service, recipient, attempt } = push;
    if (this.#msLeft() <= 0) {
      // Too late. A push that was attempted before has failed.
      if (attempt === 1) this.#unreached += 1;
      else this.#fail(push.lastFailure!);
      this.#settle(service);
      return true;
    }
    const outcome = await this.#outcome(push);
    const wait = outcome.kind === 'transient' ? this.#retryIn(outcome, attempt) : undefined;
    if (outcome.kind === 'transient' && wait !== undefined) {
      const again = { ...push, attempt: attempt + 1, lastFailure: outcome.reason };
      void this.#settings.sleep(wait).then(() => this.#lanes.enqueue(service.origin, again));
    } else {
      this.#count(outcome, recipient);
      this.#settle(service);
    }
    service.isHealthy = outcome.kind !== 'transient';
    return service.isHealthy;
  }

  async #outcome({ service, recipient, body }: Push): Promise<Settled> {
    if (body === undefined) return { kind: 'failed', reason: 'unsendable' };
    try {
      const response = await this.#settings.transport({
        origin: service.origin,
        path: recipient.endpoint.slice(service.origin.length),
        headers: service.headers!,
        body,
        timeoutMs: Math.min(pushTimeoutMs, this.#broadcast.endAt - this.#now()),
      });
      return outcomeOf(response, this.#settings.clock());
    } catch {
      return { kind: 'transient', reason: 'no_response' };
    }
  }

  /** Milliseconds until the next attempt, where one is left and begins in time. */
  #retryIn({ retryAfter = 0 }: { retryAfter?: number }, attempt: number): number | undefined {
    if (attempt === attempts) return undefined;
    const jittered = backoffMs * 2 ** (attempt - 1) * (0.5 + this.#settings.random() / 2);
    const wait = Math.max(retryAfter, jittered);
    return wait < this.#msLeft() ? wait : undefined;
  }

  #count(outcome: Settled, { endpointHash }: Recipient): void {
    switch (outcome.kind) {
      case 'delivered':
        this.#counts.delivered += 1;
        return;
      case 'gone':
        this.#gone.push(endpointHash);
        if (this.#gone.length === limits.removalBatch) this.#removeGone();
        return;
      default:
        this.#fail(outcome.reason);
    }
  }

  #fail(kind: FailureKind, number = 1): void {
    this.#counts.failed += number;
    this.#failures[kind] = (this.#failures[kind] ?? 0) + number;
  }

  /** Deletes batch by batch while pushes continue. Batches after the end are not deleted. */
  #removeGone(): void {
    const batch = this.#gone;
    if (batch.length === 0) return;
    this.#gone = [];
    this.#removals = this.#removals.then(async () => {
      try {
        this.#end.throwIfAborted();
        await untilAborted(this.#broadcast.remove(batch, this.#end), this.#end);
        this.#counts.removed += batch.length;
      } catch {
        this.#fail('not_removed', batch.length);
      }
    });
  }

  #settle(service: Service): void {
    service.held -= 1;
    this.#held -= 1;
    if (this.#held % readingStep.pushes === 0) this.#wake();
  }

  #msLeft(): number {
    return this.#broadcast.lastPushAt - this.#now();
  }

  #now(): number {
    return this.#settings.clock().getTime();
  }
}

type Settled = Outcome | { readonly kind: 'failed'; readonly reason: 'unsendable' };

/** @throws the signal's reason once it is aborted, even where the work goes on. */
async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * All of an endpoint before its path: of one in a URL's own spelling, as they are stored, its
 * origin.
 */
function originOf(endpoint: string): string {
  const end = endpoint.indexOf('/', 'https://'.length);
  return end === -1 ? endpoint : endpoint.slice(0, end);
}

// In another spelling a path that is added could change the host: "https://a.example" and "@b".
function isOrigin(read: ReturnType<typeof readEndpoint>, text: string): boolean {
  return read instanceof URL && read.origin === text;
}
