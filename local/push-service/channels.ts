import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Behaviour } from './behaviour.ts';
import type { StoredSubscription, SubscriptionLog } from './subscription-log.ts';

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
  /** What is kept of it across restarts. */
  toStored(): StoredSubscription;
}

interface Entry {
  readonly channel: Channel;
  behaviour: Behaviour;
  /** Pushes that the behaviour still applies to. */
  remaining: number;
}

/** All channels. The ids of those that are gone are kept, so that their endpoints respond 410 and not 404. */
export class Channels {
  readonly #log: SubscriptionLog | undefined;
  /** Also those that are gone, until a restart. */
  readonly #entries = new Map<string, Entry>();
  readonly #gone: Set<string>;
  /** Emits the id of a channel that gets another behaviour. */
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #live = 0;

  /** @param log keeps the channels. Default: in memory. */
  constructor(log?: SubscriptionLog) {
    this.#log = log;
    this.#gone = new Set(log?.ended);
  }

  add(channel: Channel): void {
    this.restore(channel);
    this.#log?.add(channel.toStored());
  }

  /** Adds a channel that the log has. */
  restore(channel: Channel): void {
    this.#entries.set(channel.id, { channel, behaviour: {}, remaining: 0 });
    this.#live++;
  }

  find(id: string): Channel | undefined {
    return this.#entries.get(id)?.channel;
  }

  *all(): Iterable<Channel> {
    for (const { channel } of this.#entries.values()) yield channel;
  }

  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  /** Makes the channel's endpoint respond 410 from now on. Idempotent. */
  remove(id: string): void {
    if (this.#gone.has(id)) return;
    this.#gone.add(id);
    this.#live--;
    this.#log?.end(id);
  }

  behave(id: string, behaviour: Behaviour): void {
    if (behaviour.gone) this.remove(id);
    const entry = this.#get(id);
    entry.behaviour = behaviour;
    entry.remaining = behaviour.times ?? Number.POSITIVE_INFINITY;
    this.#changes.emit(id);
  }

  /** Resolves when the channel gets another behaviour. */
  async changed(id: string, signal: AbortSignal): Promise<void> {
    await once(this.#changes, id, { signal });
  }

  /** Returns the behaviour for the next push and counts the push against its `times`. */
  nextBehaviour(id: string): Behaviour {
    const entry = this.#get(id);
    if (entry.remaining === 0) return {};
    entry.remaining--;
    return entry.behaviour;
  }

  counts(): { readonly live: number; readonly gone: number } {
    return { live: this.#live, gone: this.#gone.size };
  }

  #get(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`There is no channel ${id}.`);
    return entry;
  }
}
