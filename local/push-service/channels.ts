import type { IncomingHttpHeaders } from 'node:http';
import type { Behaviour } from './behaviour.ts';

/** An accepted push, still encrypted. */
export interface PushedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The receiver of the pushes to one endpoint: a simulated browser, or a connected real one. */
export interface Channel {
  /** The endpoint is `<origin>/push/<id>`. */
  readonly id: string;
  /** The only key that may send, normalised by `normalizeApplicationServerKey`. Undefined: any. */
  readonly applicationServerKey?: string | undefined;
  /** @throws {DecryptionError} if the channel can decrypt messages and this one fails. */
  deliver(message: PushedMessage): void;
}

interface Entry {
  readonly channel: Channel;
  gone: boolean;
  behaviour: Behaviour;
  /** Pushes that the behaviour still applies to. */
  remaining: number;
}

/** All channels. A channel that is gone is kept, so that its endpoint responds 410 and not 404. */
export class Channels {
  readonly #entries = new Map<string, Entry>();
  #gone = 0;

  add(channel: Channel): void {
    this.#entries.set(channel.id, { channel, gone: false, behaviour: {}, remaining: 0 });
  }

  find(id: string): Channel | undefined {
    return this.#entries.get(id)?.channel;
  }

  *all(): Iterable<Channel> {
    for (const { channel } of this.#entries.values()) yield channel;
  }

  isGone(id: string): boolean {
    return this.#get(id).gone;
  }

  /** Makes the channel's endpoint respond 410 from now on. Idempotent. */
  remove(id: string): void {
    const entry = this.#get(id);
    if (!entry.gone) this.#gone++;
    entry.gone = true;
  }

  behave(id: string, behaviour: Behaviour): void {
    if (behaviour.gone) this.remove(id);
    const entry = this.#get(id);
    entry.behaviour = behaviour;
    entry.remaining = behaviour.times ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the behaviour for the next push and counts the push against its `times`. */
  nextBehaviour(id: string): Behaviour {
    const entry = this.#get(id);
    if (entry.remaining === 0) return {};
    entry.remaining--;
    return entry.behaviour;
  }

  counts(): { readonly live: number; readonly gone: number } {
    return { live: this.#entries.size - this.#gone, gone: this.#gone };
  }

  #get(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`There is no channel ${id}.`);
    return entry;
  }
}
