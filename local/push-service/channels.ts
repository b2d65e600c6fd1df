import { EventEmitter, once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../../contract/text/text.ts';

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
  /** Also those that are gone, until a restart. */
  readonly #entries = new Map<string, Entry>();
  readonly #gone: Set<string>;
  /** Emits the id of a channel that gets another behaviour. */
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #live = 0;

  /** @param log keeps the channels. Default: in memory. */
  constructor(private readonly log?: SubscriptionLog) {
    this.#gone = new Set(log?.ended);
  }

  add(channel: Channel): void {
    this.restore(channel);
    this.log?.add(channel.toStored());
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
    this.log?.end(id);
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

/** The members of a behaviour that exclude each other. */
const exclusiveMembers = ['status', 'reset', 'stall', 'gone'] as const;

/**
 * What the push service does with the next valid pushes to a browser. Default, and `{}`: it accepts
 * them.
 */
export const behaviourSchema = z
  .strictObject({
    /** Responds with this status and does not deliver the message. */
    status: z.int().min(200).max(599).optional(),
    /** Headers of that response. */
    headers: z
      .record(z.string(), z.string())
      .refine(areHeaders, 'must be valid HTTP headers')
      .optional(),
    /** Body of that response. */
    body: z.string().optional(),
    /** Closes the connection without a response. */
    reset: z.literal(true).optional(),
    /** Does not respond until another behaviour is set, which then applies. */
    stall: z.literal(true).optional(),
    /** Ends the subscription: responds 410 to this and all later pushes. */
    gone: z.literal(true).optional(),
    /** Milliseconds before any of the above, or before the message is accepted. */
    delayMs: z.number().nonnegative().optional(),
    /** How many pushes the behaviour applies to. Default: all. */
    times: z.int().positive().optional(),
  })
  .refine(
    (behaviour) => exclusiveMembers.filter((name) => behaviour[name] !== undefined).length <= 1,
    `only one of ${exclusiveMembers.join(', ')} is allowed`,
  )
  .refine(
    ({ status, headers, body }) => status !== undefined || (headers ?? body) === undefined,
    'headers and body require a status',
  );

export type Behaviour = Readonly<z.infer<typeof behaviourSchema>>;

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

const base = { id: z.string(), applicationServerKey: z.string().optional() };
const simulatedSchema = z.object({ ...base, privateKey: z.string(), authSecret: z.string() });
const realSchema = z.object({ ...base, uaid: z.string() });
const lineSchema = z.union([
  simulatedSchema,
  realSchema,
  z.object({ id: z.string(), gone: z.literal(true) }),
]);

/** A subscription of a simulated browser. Keys are base64url. */
export type SimulatedSubscription = Readonly<z.infer<typeof simulatedSchema>>;
/** A subscription of a real browser, which has the keys itself. */
export type RealSubscription = Readonly<z.infer<typeof realSchema>>;
export type StoredSubscription = SimulatedSubscription | RealSubscription;

type Line = z.infer<typeof lineSchema>;

/**
 * The subscriptions of a push service, kept in a file: a line of JSON for each that was added or has ended.
 * A line is written before its caller continues, so that nothing is lost if this process is killed.
 */
export class SubscriptionLog {
  readonly subscriptions: readonly StoredSubscription[];
  /** Ids of the subscriptions that have ended. */
  readonly ended: readonly string[];

  /** Reads the file, if it exists. A line that cannot be read is dropped. */
  constructor(private readonly file: string) {
    const last = new Map(readLines(file).map((line) => [line.id, line]));
    const lines = [...last.values()];
    this.subscriptions = lines.flatMap((line) => ('gone' in line ? [] : line));
    this.ended = lines.flatMap((line) => ('gone' in line ? line.id : []));
    // Removes the half line that an interrupted write leaves.
    writeFileSync(`${file}.new`, lines.map(textOf).join(''), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  add(subscription: StoredSubscription): void {
    appendFileSync(this.file, textOf(subscription));
  }

  end(id: string): void {
    appendFileSync(this.file, textOf({ id, gone: true }));
  }
}

function readLines(file: string): readonly Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => lineSchema.safeParse(parseJson(text)).data ?? []);
}

const textOf = (line: Line) => `${JSON.stringify(line)}\n`;
