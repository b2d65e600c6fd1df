import type { IncomingHttpHeaders } from 'node:http';
import type { Behaviour } from './behaviour.ts';

/** An accepted push, still encrypted. */
export interface PushedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Where the pushes to one endpoint go: a simulated browser, or a real one on a connection. */
export interface Channel {
  /** The endpoint is `<origin>/push/<id>`. */
  readonly id: string;
  /** The only key that may send, as `normalizeApplicationServerKey` spells it. */
  readonly applicationServerKey?: string | undefined;
  /** @throws {DecryptionError} if the channel can tell that its browser will not decrypt this. */
  deliver(message: PushedMessage): void;
}

interface Entry {
  readonly channel: Channel;
  gone: boolean;
  behaviour: Behaviour;
  /** Pushes that the behaviour still applies to. */
  remaining: number;
}

/** Every channel there has been. One that is gone stays known: it answers 410, not 404. */
export class Channels {
  readonly #entries = new Map<string, Entry>();
  #gone = 0;

  add(channel: Channel): void {
    this.#entries.set(channel.id, { channel, gone: false, behaviour: {}, remaining: 0 });
  }

  find(id: string): Channel | undefined {
    return this.#entries.get(id)?.channel;
  }

  isGone(id: string): boolean {
    return this.#get(id).gone;
  }

  /** From now on the channel's endpoint answers 410. Doing it twice is doing it once. */
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

  /** What to do with the next push; counts it against the behaviour's `times`. */
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
