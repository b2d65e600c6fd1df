import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

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
  readonly #file: string;
  readonly subscriptions: readonly StoredSubscription[];
  /** Ids of the subscriptions that have ended. */
  readonly ended: readonly string[];

  /** Reads the file, if it exists. A line that cannot be read is dropped. */
  constructor(file: string) {
    this.#file = file;
    const last = new Map(readLines(file).map((line) => [line.id, line]));
    const lines = [...last.values()];
    this.subscriptions = lines.flatMap((line) => ('gone' in line ? [] : line));
    this.ended = lines.flatMap((line) => ('gone' in line ? line.id : []));
    // Removes the half line that an interrupted write leaves.
    writeFileSync(`${file}.new`, lines.map(textOf).join(''), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  add(subscription: StoredSubscription): void {
    appendFileSync(this.#file, textOf(subscription));
  }

  end(id: string): void {
    appendFileSync(this.#file, textOf({ id, gone: true }));
  }
}

function readLines(file: string): readonly Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => lineSchema.safeParse(parseJson(text)).data ?? []);
}

const textOf = (line: Line) => `${JSON.stringify(line)}\n`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
