import { createECDH } from 'node:crypto';
import { createBrowserKeys, decrypt } from '../../admin/browser.ts';
import type { PushMessage } from '../../contract/wire/message.ts';
import { pushTimeoutMs } from '../../lambdas/push/pushing/pusher.ts';
import { SimulatedConnection } from './connections.ts';
import type { Fault } from './faults.ts';
import type { Invocation } from './invocation.ts';
import type { Random } from './time/random.ts';
import { everyone, type PushAttempt, type Span, type World } from './world.ts';

export const extraOrigin = 'https://push.example';

/** Of the push services: three known by name, one by another host, and an extra origin. */
export const origins = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://web.push.apple.com',
  'https://other.push.apple.com',
  extraOrigin,
] as const;

/** The key pairs of the project by their numbers. Nothing in a simulation depends on the bytes of keys. */
export const vapidPairs = Array.from({ length: 3 }, () => {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('base64url');
  return { publicKey, privateKey: ecdh.getPrivateKey('base64url') };
});

/** One key pair serves all browsers. */
const browserKeys = createBrowserKeys();
export const storedKeys = {
  p256dh: Uint8Array.from(browserKeys.publicKey),
  auth: Uint8Array.from(browserKeys.authSecret),
};

/** Longer than until the next attempt of a push after one without connection or with a transient error. */
const retryMs = 4000;

/** What a push service knows of a subscription. */
export interface KnownSubscription {
  readonly isGone: boolean;
  /** Number of the pair that it was made with. */
  readonly vapidPairNumber: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
  readonly text?: string;
}

/** What is wrong with a push service as a whole. */
interface Condition {
  readonly down?: Span & { readonly how: 'refuses' | 'is silent' | 'closes' | 'responds with 503' };
  readonly suspended?: Span & { readonly retryAfterSeconds: number | undefined };
  /** One push is accepted every so many ms. @param retryAfter until the next one, or a minute. */
  readonly throttle?: { readonly everyMs: number; readonly retryAfter: 'next' | 'minute' | 'none' };
  readonly isSlow: boolean;
}

/** All push services, as functions see them. */
export class PushServices {
  readonly #world: World;
  readonly #subscriptions: ReadonlyMap<string, KnownSubscription>;
  readonly #services = new Map<string, PushService>();

  constructor(world: World, subscriptions: ReadonlyMap<string, KnownSubscription>) {
    this.#world = world;
    this.#subscriptions = subscriptions;
  }

  /** Opens a connection. */
  connect(running: () => Invocation, { origin }: URL) {
    let service = this.#services.get(origin);
    if (service === undefined) {
      service = new PushService(this.#world, origin, this.#subscriptions);
      this.#services.set(origin, service);
    }
    return service.connect(running).asSocket();
  }
}

class PushService {
  readonly #world: World;
  readonly #origin: string;
  readonly #subscriptions: ReadonlyMap<string, KnownSubscription>;
  readonly #condition: Condition;
  /** Epoch ms from which on it accepts the next push. */
  #acceptsAt = 0;

  constructor(world: World, origin: string, subscriptions: ReadonlyMap<string, KnownSubscription>) {
    this.#world = world;
    this.#origin = origin;
    this.#subscriptions = subscriptions;
    this.#condition = someCondition(world, world.stream(`condition of ${origin}`));
    const { down, suspended, throttle, isSlow } = this.#condition;
    const always = throttle !== undefined || isSlow ? { from: 0, to: Infinity } : undefined;
    const spans = [down, suspended, always].filter((span) => span !== undefined);
    for (const span of spans) world.disturb(everyone, span);
    if (spans.length > 0) world.foundSlow(everyone, origin);
    world.note(origin, () => JSON.stringify(this.#condition));
  }

  connect(running: () => Invocation): SimulatedConnection {
    const { faults, now } = this.#world;
    const run = running();
    const { random } = run;
    const { down } = this.#condition;
    const how = isWithin(down, now) ? down!.how : undefined;
    const isRefused = how === 'refuses' || faults.occurs('push not sent');
    const isSlow = faults.occurs('slow connection');
    const opensAfterMs = isSlow ? random.between(500, 9000) : random.latency(1, 30);
    const isSilent = how === 'is silent';
    if (isSilent) this.#delay(run, pushTimeoutMs);
    else if (how !== undefined || isRefused || isSlow) this.#delay(run, retryMs + opensAfterMs);
    if (how !== undefined) run.note(() => `${this.#origin} ${how}`);
    const onRequest = (request: Buffer, connection: SimulatedConnection, by: Invocation) =>
      this.#take(request, connection, by);
    return new SimulatedConnection(running, {
      opensAfterMs: isSilent ? undefined : opensAfterMs,
      isRefused,
      onRequest,
    });
  }

  /** A push arrives: all of its bytes, or what becomes of them. */
  #take(request: Buffer, connection: SimulatedConnection, run: Invocation): void {
    const { faults, scheduler, attempts } = this.#world;
    const { random } = run;
    const { path, key, message } = readPush(request);
    const what = () => `push ${path}`;
    const picked = this.#world.isPicked(`${run.kind}: push`, true)
      ? random.pick<Fault>(['crash before a call', 'crash after a call', ...lostResponses])
      : undefined;
    const occurs = (fault: Fault) => fault === picked || faults.occurs(fault);
    if (occurs('crash before a call')) {
      run.die(`before ${what()}`);
      return;
    }
    const attempt = this.#attemptOf(path, message, run);
    attempts.push(attempt);
    const { isReused } = connection;
    /** The connection breaks without a byte of a response. */
    const broken = () => {
      attempt.mayBeRepeated = isReused;
    };
    if (occurs('push written in part')) {
      run.note(() => `written in part: ${path}`);
      connection.writableLength = 1;
      attempt.mayBeRepeated = true;
      const closesAfterMs = random.chance(0.5) ? random.latency(10, 5000) : undefined;
      this.#delay(run, closesAfterMs === undefined ? pushTimeoutMs : retryMs + closesAfterMs);
      if (closesAfterMs !== undefined) connection.closes(closesAfterMs, 'ECONNRESET');
      return;
    }
    const { down } = this.#condition;
    const isDown = isWithin(down, scheduler.now) && down!.how === 'closes';
    if (isDown || (isReused && faults.occurs('reused connection closed'))) {
      run.note(() => `connection closed: ${path}`);
      this.#delay(run, retryMs);
      // It may even have read the push.
      attempt.isAccepted = !isDown && random.chance(0.2);
      const code = random.pick([undefined, 'ECONNRESET', 'EPIPE']);
      connection.closes(random.latency(1, 1000), code, broken);
      return;
    }
    const isSlow = this.#condition.isSlow || faults.occurs('slow push');
    const tookMs = isSlow ? random.between(1000, 15_000) : random.latency(30);
    if (tookMs > 500) this.#delay(run, tookMs);
    scheduler.after(tookMs / 2, () => {
      const answer = this.#answer(path, key, run);
      const { status } = answer;
      attempt.status = status;
      attempt.isAccepted = status === 201;
      if (isRefusal(status)) this.#delay(run, retryMs + 1000 * (answer.retryAfterSeconds ?? 0));
      if (occurs('crash after a call')) run.die(`after ${what()}`);
      const loss = lostResponses.find((fault) => occurs(fault));
      run.note(() => `push ${path}: ${status}${loss === undefined ? '' : `, ${loss}`}`);
      if (loss !== undefined)
        this.#delay(run, loss === 'push without response' ? pushTimeoutMs : retryMs);
      this.#respond(connection, tookMs / 2, answer, loss, run, broken, () => {
        attempt.heardAt = this.#world.now;
        attempt.isMismatch = status === 401;
        attempt.mayBeRepeated = isRefusal(status);
      });
    });
  }

  /** A fault takes this much of the time of a request, at most, and its function finds this push service slow. */
  #delay(run: Invocation, ms: number): void {
    run.disturb(ms);
    this.#world.foundSlow(run.name, this.#origin);
  }

  /**
   * @param onBroken is called when the connection breaks without a byte.
   * @param onHeard is called when the function has the status.
   */
  #respond(
    connection: SimulatedConnection,
    inMs: number,
    { status, retryAfterSeconds, text = '' }: Answer,
    loss: (typeof lostResponses)[number] | undefined,
    { random }: Invocation,
    onBroken: () => void,
    onHeard: () => void,
  ): void {
    const isClosed = random.chance(0.1);
    const lines = [
      `HTTP/1.1 ${status} Some text`,
      ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
      ...(isClosed ? ['Connection: close'] : []),
    ];
    const head = [...lines, `Content-Length: ${text.length}`, '', ''].join('\r\n');
    switch (loss) {
      case 'push without response':
        return;
      case 'reset after acceptance':
        connection.closes(inMs, random.pick([undefined, 'ECONNRESET']), onBroken);
        return;
      case 'malformed response':
        connection.responds(inMs, random.pick(['HTTP/1.0 201 Created\r\n\r\n', '\0\r\n\r\n']));
        return;
      case 'response cut off': {
        const cut = random.integer(1, head.length - 3);
        connection.responds(inMs, head.slice(0, cut));
        connection.closes(inMs + random.latency(1, 100));
        return;
      }
      default: {
        // In one or two pieces; the status is final with the end of the headers.
        const cut = random.chance(0.2) ? random.integer(1, head.length - 1) : 0;
        if (cut > 0) connection.responds(inMs, head.slice(0, cut));
        const later = inMs + (cut > 0 ? random.latency(1, 100) : 0);
        connection.responds(later, head.slice(cut) + text, onHeard);
        if (isClosed) connection.closes(later + random.latency(1, 100));
      }
    }
  }

  #attemptOf(path: string, { title, data }: Shown, run: Invocation): PushAttempt {
    const { notifications, slices, now } = this.#world;
    const tally = Number(new URL(data.events!).searchParams.get('tally'));
    const { countersPerSlice } = notifications.get(data.id) as { countersPerSlice?: number };
    const slice = Math.floor(tally / (countersPerSlice ?? 1));
    return {
      notificationId: data.id,
      slice,
      title,
      path,
      origin: this.#origin,
      run: run.name,
      requestId: run.requestId,
      startedAt: now,
      stored: slices.get(`${data.id}/${slice}`)?.at(-1),
      isAccepted: false,
      isMismatch: false,
      mayBeRepeated: false,
    };
  }

  #answer(path: string, key: string, { random }: Invocation): Answer {
    const { faults, now } = this.#world;
    const { down, suspended, throttle } = this.#condition;
    if (isWithin(down, now)) return { status: 503 };
    if (isWithin(suspended, now)) return { status: 429, ...suspended };
    if (throttle !== undefined && now < this.#acceptsAt) {
      const seconds = Math.ceil((this.#acceptsAt - now) / 1000);
      const retryAfterSeconds = { next: seconds, minute: 60, none: undefined }[throttle.retryAfter];
      return { status: 429, retryAfterSeconds };
    }
    if (faults.occurs('push throttled')) return { status: random.pick([429, 406]) };
    if (faults.occurs('push throttled with Retry-After')) {
      return { status: 429, retryAfterSeconds: random.pick([1, 5, 60]) };
    }
    if (faults.occurs('push refused with an error')) {
      return { status: random.pick([500, 503, 403, 400]) };
    }
    const { isGone, vapidPairNumber } = this.#subscriptions.get(path)!;
    if (isGone) return { status: random.pick([404, 410]) };
    if (key !== vapidPairs[vapidPairNumber]!.publicKey) {
      return { status: 401, text: 'VAPID public key mismatch' };
    }
    if (throttle !== undefined) this.#acceptsAt = now + throttle.everyMs;
    return { status: 201 };
  }
}

/** What may become of a response. */
const lostResponses = [
  'push without response',
  'reset after acceptance',
  'malformed response',
  'response cut off',
] as const satisfies readonly Fault[];

/** Whether a status says that the push was not accepted, and that it may be sent again. */
function isRefusal(status: number): boolean {
  return [401, 406, 408, 425, 429].includes(status) || status >= 500;
}

function someCondition({ faults, startsAt }: World, random: Random): Condition {
  const span = (): Span => {
    const from = startsAt + random.pick([0, random.between(0, 60_000)]);
    return { from, to: from + random.pick([random.latency(2000, 60_000), 600_000, Infinity]) };
  };
  const hows = ['refuses', 'is silent', 'closes', 'responds with 503'] as const;
  return {
    ...(faults.occurs('push service down') && { down: { ...span(), how: random.pick(hows) } }),
    ...(faults.occurs('push service suspended') && {
      suspended: { ...span(), retryAfterSeconds: random.pick([undefined, 1, 10, 60]) },
    }),
    ...(faults.occurs('push service throttles') && {
      throttle: {
        everyMs: random.pick([1000, 5000, 30_000, 120_000]),
        retryAfter: random.pick(['next', 'minute', 'none'] as const),
      },
    }),
    isSlow: faults.occurs('slow push service'),
  };
}

function isWithin(span: Span | undefined, now: number): boolean {
  return span !== undefined && span.from <= now && now < span.to;
}

type Shown = PushMessage['notification'];

/** What a push service and a browser read of a push. */
function readPush(request: Buffer): {
  readonly path: string;
  readonly key: string;
  readonly message: Shown;
} {
  const headEnd = request.indexOf('\r\n\r\n');
  const head = request.toString('latin1', 0, headEnd);
  const [, path, key] = /^POST (\S+) .*, k=(\S+)/s.exec(head)!;
  const message: PushMessage = JSON.parse(
    decrypt(request.subarray(headEnd + 4), browserKeys).toString(),
  );
  return { path: path!, key: key!, message: message.notification };
}
