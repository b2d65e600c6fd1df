import { type EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { type BrowserKeys, decrypt } from '../../admin/browser.ts';
import { parseJson } from '../../contract/text/text.ts';
import type { EventType } from '../../contract/wire/event.ts';
import type {
  Behaviour,
  Channel,
  Channels,
  PushedMessage,
  SimulatedSubscription,
} from './channels.ts';

/** A decrypted message, as in a browser's push event. */
export interface ReceivedMessage {
  /** The plaintext, decoded as UTF-8. */
  readonly text: string;
  /** Headers of the push: `ttl`, `urgency`, `topic`, `authorization`… */
  readonly headers: IncomingHttpHeaders;
}

/** The event of {@link PushServiceContext.arrivals} with the browser's id and the message's text. */
export const anyArrival = Symbol('arrival');

/** Shared by all simulated browsers of one push service. */
export interface PushServiceContext {
  readonly origin: string;
  readonly channels: Channels;
  /** Emits a browser's id, and {@link anyArrival}, when it has received a message. */
  readonly arrivals: EventEmitter;
  /** Aborts when the push service stops. */
  readonly stopped: AbortSignal;
}

/** A browser with one subscription. It decrypts and keeps its messages. */
export class SimulatedBrowser implements Channel {
  /** Oldest first. */
  readonly messages: ReceivedMessage[] = [];
  #nextIndex = 0;

  constructor(
    readonly id: string,
    readonly applicationServerKey: string | undefined,
    private readonly keys: BrowserKeys,
    private readonly context: PushServiceContext,
  ) {}

  get endpoint(): string {
    return `${this.context.origin}/push/${this.id}`;
  }

  /** The object that `PushSubscription.toJSON()` in a browser. */
  toJSON() {
    return {
      endpoint: this.endpoint,
      expirationTime: null,
      keys: {
        p256dh: this.keys.publicKey.toString('base64url'),
        auth: this.keys.authSecret.toString('base64url'),
      },
    };
  }

  toStored(): SimulatedSubscription {
    return {
      id: this.id,
      applicationServerKey: this.applicationServerKey,
      privateKey: this.keys.ecdh.getPrivateKey('base64url'),
      authSecret: this.keys.authSecret.toString('base64url'),
    };
  }

  deliver({ headers, body }: PushedMessage): void {
    const text = decrypt(body, this.keys).toString();
    this.messages.push({ text, headers });
    this.context.arrivals.emit(this.id);
    this.context.arrivals.emit(anyArrival, this.id, text);
  }

  /**
   * Returns the first message on the first call, the second one on the second call, and so on. Waits
   * until the message arrives.
   * @throws {AbortError} if the push service stops first.
   */
  async nextMessage(): Promise<ReceivedMessage> {
    const index = this.#nextIndex++;
    const { arrivals, stopped: signal } = this.context;
    while (this.messages.length <= index) await once(arrivals, this.id, { signal });
    return this.messages[index]!;
  }

  /** Ends the subscription: its endpoint responds 410 from now on. */
  unsubscribe(): void {
    this.context.channels.remove(this.id);
  }

  /** Sets how the endpoint treats the next pushes. `{}` accepts them again. */
  behave(behaviour: Behaviour): void {
    this.context.channels.behave(this.id, behaviour);
  }

  /**
   * Reports the last message as shown. @returns the service's response.
   * @throws {NothingToReportError} if the browser is not one of those that report it.
   */
  show(): Promise<Response> {
    return this.#report('shown');
  }

  /** Reports the last message as clicked. @returns the service's response. */
  click(): Promise<Response> {
    return this.#report('clicked');
  }

  async #report(type: EventType): Promise<Response> {
    const last = this.messages.at(-1);
    if (last === undefined)
      throw new NothingToReportError('The browser has not received any message.');
    return postBeacon(last.text, type);
  }
}

/** The part of a push message that a beacon needs. */
const reportableSchema = z.object({
  notification: z.object({
    data: z.object({
      carillon: z.literal(1),
      events: z.url({ protocol: /^https?$/ }),
      report: z.unknown().optional(),
    }),
  }),
});

export class NothingToReportError extends Error {
  override readonly name = 'NothingToReportError';
}

/**
 * Posts the beacon that a service worker posts after a notification was shown or clicked: text, for
 * which browsers send no preflight.
 * @param text the decrypted message.
 * @returns the service's response.
 * @throws {NothingToReportError} if a service worker would not post it.
 */
export function postBeacon(
  text: string,
  type: EventType,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { events, types } = reportedBy(text);
  if (!types.includes(type))
    throw new NothingToReportError(
      'The browser does not report that it showed the last message: other browsers are the sample.',
    );
  return fetch(events, { method: 'POST', headers, body: JSON.stringify({ type }) });
}

/**
 * The events that a service worker reports of a message.
 * @throws {NothingToReportError} if Carillon did not send it.
 */
export function reportedBy(text: string): { events: string; types: readonly EventType[] } {
  const { data: message } = reportableSchema.safeParse(parseJson(text));
  if (message === undefined)
    throw new NothingToReportError(
      'The last message has no events URL: events are off, or Carillon did not send it.',
    );
  const { events, report } = message.notification.data;
  return { events, types: report === 'clicked' ? ['clicked'] : ['shown', 'clicked'] };
}
