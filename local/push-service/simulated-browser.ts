import { type EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { EventType } from '../../contract/schemas.ts';
import type { Behaviour } from './behaviour.ts';
import type { BrowserKeys } from './browser-keys.ts';
import type { Channel, Channels, PushedMessage } from './channels.ts';
import { decrypt } from './decrypt.ts';
import { NothingToReportError, postBeacon } from './service-worker.ts';

/** A message as the browser's push event would carry it. */
export interface ReceivedMessage {
  /** The plaintext, read as UTF-8. */
  readonly text: string;
  /** Headers of the push: `ttl`, `urgency`, `topic`, `authorization`… */
  readonly headers: IncomingHttpHeaders;
}

/** What all browsers of one push service share. */
export interface PushServiceContext {
  readonly origin: string;
  readonly channels: Channels;
  /** Emits a browser's id when it has received a message. */
  readonly arrivals: EventEmitter;
  /** Aborts every wait when the push service stops. */
  readonly stopped: AbortSignal;
  /** Whether messages are decrypted and kept. */
  readonly decrypt: boolean;
}

interface BrowserOptions {
  readonly id: string;
  readonly keys: BrowserKeys;
  readonly applicationServerKey?: string | undefined;
}

/** A browser with one subscription: it decrypts what is pushed to it, and keeps it. */
export class SimulatedBrowser implements Channel {
  readonly id: string;
  readonly applicationServerKey: string | undefined;
  /** Oldest first. Stays empty where the push service was started not to decrypt. */
  readonly messages: ReceivedMessage[] = [];
  readonly #keys: BrowserKeys;
  readonly #surroundings: PushServiceContext;
  #taken = 0;

  constructor(
    { id, keys, applicationServerKey }: BrowserOptions,
    surroundings: PushServiceContext,
  ) {
    this.id = id;
    this.applicationServerKey = applicationServerKey;
    this.#keys = keys;
    this.#surroundings = surroundings;
  }

  get endpoint(): string {
    return `${this.#surroundings.origin}/push/${this.id}`;
  }

  /** What `PushSubscription.toJSON()` yields in a browser. */
  toJSON() {
    return {
      endpoint: this.endpoint,
      expirationTime: null,
      keys: {
        p256dh: this.#keys.publicKey.toString('base64url'),
        auth: this.#keys.authSecret.toString('base64url'),
      },
    };
  }

  deliver({ headers, body }: PushedMessage): void {
    if (!this.#surroundings.decrypt) return;
    this.messages.push({ text: decrypt(body, this.#keys).toString(), headers });
    this.#surroundings.arrivals.emit(this.id);
  }

  /**
   * The first call gives the first message, the second the second, and so on, whether it is here
   * already or still to come. Rejects with an `AbortError` when the push service stops.
   */
  async nextMessage(): Promise<ReceivedMessage> {
    const index = this.#taken++;
    const { arrivals, stopped: signal } = this.#surroundings;
    while (this.messages.length <= index) await once(arrivals, this.id, { signal });
    return this.messages[index]!;
  }

  /** Ends the subscription: its endpoint answers 410 from now on. */
  unsubscribe(): void {
    this.#surroundings.channels.remove(this.id);
  }

  /** Says what becomes of the next pushes; `{}` accepts them again. */
  behave(behaviour: Behaviour): void {
    this.#surroundings.channels.behave(this.id, behaviour);
  }

  /** Plays the service worker that has shown the last message. Answers what the service does. */
  show(): Promise<Response> {
    return this.#report('shown');
  }

  /** Plays the service worker whose notification, the last message, was clicked. */
  click(): Promise<Response> {
    return this.#report('clicked');
  }

  async #report(type: EventType): Promise<Response> {
    const last = this.messages.at(-1);
    if (last === undefined) throw new NothingToReportError('No message has been received.');
    return postBeacon(last.text, type);
  }
}
