import { parseJson } from '../../contract/text/text.ts';
import { readerLanguage } from '../../contract/wire/fields.ts';
import { CommandError } from '../errors.ts';
import type { ListRow } from './list-file.ts';

/** What a subscription can take from the columns of a list. */
type Field =
  | 'endpoint'
  | 'p256dh'
  | 'auth'
  | 'userId'
  | 'channels'
  | 'tags'
  | 'locale'
  | 'applicationServerKey'
  | 'createdAt'
  | 'updatedAt';

/** Why a row is left out that is not invalid. */
export const skipReasons = {
  notWebPush: 'not web push: a token, an address or a number',
  notSubscribed: 'not subscribed',
  noKeys: "without the browser's keys",
  otherKey: 'made under another application server key',
} as const;
export type SkipReason = keyof typeof skipReasons;

type Cell = (column: string) => string | undefined;

/** A kind of list. Its columns are found whatever their case, spaces, hyphens and underscores. */
interface ListSource {
  readonly name: string;
  /** Columns by which it is recognised: one of each entry. */
  readonly knownBy: readonly (string | readonly string[])[];
  /** Where a field is: the first of these columns that the list has. */
  readonly fields: { readonly [Name in Field]?: string | readonly string[] };
  readonly skip?: (cell: Cell) => SkipReason | undefined;
  /** The columns that {@link skip} reads. */
  readonly judgedBy?: readonly string[];
  /** The one of them that says who has opted out: not every export has it. */
  readonly optOuts?: string;
  /** User ids that stand for nobody. */
  readonly nobody?: readonly string[];
  /** The column that says what a user id belongs to: ids of different kinds are not of the same people. */
  readonly kindOfUser?: string;
  /** How to get a list that has the browser's keys. */
  readonly advice?: string;
}

const isTrue = (text = '') => /^(1|t|true|yes)$/i.test(text);
const isFalse = (text = '') => /^(0|f|false|no)$/i.test(text);

const p256dhColumns = ['p256dh', 'keys_p256dh', 'key_p256dh', 'p256dh_key', 'public_key'];
const authColumns = ['auth', 'keys_auth', 'key_auth', 'auth_key', 'auth_token', 'auth_secret'];

/** The first one that fits is taken. */
const sources: readonly ListSource[] = [
  {
    name: 'OneSignal',
    knownBy: ['identifier', 'device_type'],
    judgedBy: ['device_type', 'invalid_identifier', 'notification_types'],
    optOuts: 'notification_types',
    fields: {
      endpoint: 'identifier',
      p256dh: 'web_p256',
      auth: 'web_auth',
      userId: 'external_user_id',
      tags: 'tags',
      locale: 'language',
      createdAt: 'created_at',
      updatedAt: 'last_active',
    },
    skip(cell) {
      // Chrome and its relatives, Firefox, Safari since 16.4.
      if (!['5', '8', '17'].includes(cell('device_type') ?? '')) return 'notWebPush';
      const hasOptedOut = Number(cell('notification_types') ?? 1) <= 0;
      if (hasOptedOut || isTrue(cell('invalid_identifier'))) return 'notSubscribed';
      // All customers of OneSignal share the key of Firefox. Endpoints with v1 have no key.
      return /mozilla\.com\/wpush\/v2\//.test(cell('identifier') ?? '') ? 'otherKey' : undefined;
    },
    advice:
      'Export again, with the extra_fields web_auth, web_p256, external_user_id and notification_types.',
  },
  {
    name: 'Perfecty',
    knownBy: ['endpoint', 'key_p256dh', ['wp_user_id', 'uuid']],
    judgedBy: ['is_active', 'disabled'],
    fields: {
      endpoint: 'endpoint',
      p256dh: 'key_p256dh',
      auth: 'key_auth',
      userId: 'wp_user_id',
      createdAt: 'created_at',
    },
    skip: (cell) =>
      isFalse(cell('is_active')) || isTrue(cell('disabled')) ? 'notSubscribed' : undefined,
    nobody: ['0'],
  },
  {
    name: 'Laravel',
    knownBy: ['endpoint', 'subscribable_id'],
    fields: {
      endpoint: 'endpoint',
      p256dh: 'public_key',
      auth: 'auth_token',
      userId: 'subscribable_id',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
    kindOfUser: 'subscribable_type',
  },
  {
    // Pushpad, django-webpush, the web-push libraries and most tables have these columns.
    name: 'subscriptions',
    knownBy: ['endpoint', p256dhColumns, authColumns],
    fields: {
      endpoint: 'endpoint',
      p256dh: p256dhColumns,
      auth: authColumns,
      userId: ['user_id', 'uid', 'external_user_id', 'user'],
      channels: 'channels',
      tags: 'tags',
      locale: ['locale', 'language'],
      applicationServerKey: ['application_server_key', 'vapid_public_key'],
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  { name: 'Amazon Pinpoint', knownBy: ['ChannelType', 'Address'], fields: { endpoint: 'Address' } },
  {
    name: 'Firebase',
    knownBy: [['token', 'fcm_token', 'registration_token', 'device_token']],
    fields: {},
  },
];

/** Objects whose members are read as columns of the row, also where a cell has their JSON. */
const wrappers = new Set(['subscription', 'pushsubscription', 'keys', 'fields']);

const plainNames = new Map<string, string>();

/** `subscription.keys.p256dh` and `P256DH` name one column, as `userId` and `user_id` do. */
function plainName(column: string): string {
  let plain = plainNames.get(column);
  if (plain === undefined) {
    const steps = column.split('.').map((step) => step.toLowerCase().replace(/[^a-z0-9]/g, ''));
    plain = steps.filter((step, at) => at === steps.length - 1 || !wrappers.has(step)).join('');
    plainNames.set(column, plain);
  }
  return plain;
}

/** The columns of a row, under their plain names. */
type Cells = Map<string, { readonly column: string; readonly value: unknown }>;

function addCells(cells: Cells, row: object): Cells {
  for (const [column, value] of Object.entries(row)) {
    const name = plainName(column);
    const wrapped = wrappers.has(name) ? objectIn(value) : undefined;
    if (wrapped !== undefined) addCells(cells, wrapped);
    else if (!cells.has(name)) cells.set(name, { column, value });
  }
  return cells;
}

/** An object, or the one whose JSON a text is. */
function objectIn(value: unknown): object | undefined {
  if (typeof value === 'object' && value !== null) return value;
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return undefined;
  return parseJson(value) as object | undefined;
}

/** A row as a line of Carillon's own, or why it is left out. */
export type ReadRow =
  | { readonly line: Readonly<Record<string, unknown>> }
  | { readonly skipped: SkipReason }
  | { readonly mistake: string };

/** What is known of rows with the same columns. */
interface Shape {
  readonly names: string;
  readonly source: ListSource;
  /** Where the fields are, by plain name. */
  readonly fields: ReadonlyMap<Field, string>;
}

/** Finds the fields of subscriptions in the columns of a list that other services and libraries write. */
export class ListColumns {
  /** The kind of list. */
  source: string | undefined;
  /** The columns that were taken, by field. */
  readonly taken: Partial<Record<Field, string>> = {};
  /** Those that nothing was read from. */
  readonly unused = new Set<string>();
  /** What the operator must know of a list without a column. */
  warning: string | undefined;
  readonly #channelsFromTags: ReadonlySet<string> | undefined;
  #shape: Shape | undefined;
  #kindOfUser: string | undefined;

  /**
   * @param channelsFromTags tags that become channels.
   * @param header the columns of CSV.
   * @throws {CommandError} if no list is known with these columns.
   */
  constructor(channelsFromTags: readonly string[] | undefined, header?: readonly string[]) {
    this.#channelsFromTags = channelsFromTags && new Set(channelsFromTags);
    // A wrapper has columns of its own in each row.
    if (header === undefined || header.some((column) => wrappers.has(plainName(column)))) return;
    const row = Object.fromEntries(header.map((column) => [column, undefined]));
    const shape = this.#shapeOf(addCells(new Map(), row));
    if (shape === undefined) throw unknownColumns(header);
    const { source, fields } = shape;
    const needed = ['p256dh', 'auth', ...(channelsFromTags ? ['tags'] : [])] as Field[];
    const missing = needed.filter((field) => source.fields[field] && !fields.has(field));
    if (missing.length > 0) {
      const { name, advice = '' } = source;
      const message = `This list of ${name} has no column of ${missing.join(' and ')}. ${advice}`;
      throw new CommandError('missing_columns', message.trimEnd());
    }
    for (const name of [...fields.values()]) {
      if (header.filter((column) => plainName(column) === name).length < 2) continue;
      const message = `The header has the column ${name} twice. Remove one of them.`;
      throw new CommandError('ambiguous_columns', message);
    }
  }

  /** @returns undefined if no list is known with the columns of the row. */
  read(row: object): ReadRow | undefined {
    const cells = addCells(new Map(), row);
    const shape = this.#shapeOf(cells);
    if (shape === undefined) return undefined;
    const { source, fields } = shape;
    const fieldOf = (field: Field) => cells.get(fields.get(field) ?? '')?.value;
    const skipped = source.skip?.((column) => textOf(cells.get(plainName(column))?.value));
    if (skipped !== undefined) return { skipped };
    const [endpoint, p256dh, auth] = (['endpoint', 'p256dh', 'auth'] as const).map((field) =>
      textOf(fieldOf(field)),
    );
    if (!/^https?:/i.test(endpoint ?? '')) return { skipped: 'notWebPush' };
    if (p256dh === undefined || auth === undefined) return { skipped: 'noKeys' };
    const user = fieldOf('userId') ?? '';
    if (typeof user !== 'string' && !Number.isSafeInteger(user)) {
      return { mistake: `${this.taken.userId} must be text, or a whole number that is exact` };
    }
    const userId = source.nobody?.includes(String(user)) ? undefined : textOf(user);
    const kind = source.kindOfUser && textOf(cells.get(plainName(source.kindOfUser))?.value);
    if (userId !== undefined) this.#kindOfUser ??= kind;
    if (userId !== undefined && kind !== this.#kindOfUser) {
      const rule = `must be ${this.#kindOfUser} as before, because ids of others may be the same`;
      return { mistake: `${source.kindOfUser} ${rule}` };
    }
    const line = {
      endpoint,
      keys: { p256dh, auth },
      userId,
      channels: this.#channelsFromTags
        ? channelsIn(fieldOf('tags'), this.#channelsFromTags)
        : channelsOf(fieldOf('channels')),
      locale: localeOf(textOf(fieldOf('locale'))),
      applicationServerKey: textOf(fieldOf('applicationServerKey')),
      createdAt: timeOf(textOf(fieldOf('createdAt'))),
      updatedAt: timeOf(textOf(fieldOf('updatedAt'))),
    };
    return { line };
  }

  #shapeOf(cells: Cells): Shape | undefined {
    const names = [...cells.keys()].join();
    if (this.#shape?.names === names) return this.#shape;
    const source = sources.find(({ knownBy }) =>
      knownBy.every((columns) => [columns].flat().some((column) => cells.has(plainName(column)))),
    );
    if (source === undefined) return undefined;
    const fields = new Map<Field, string>();
    const unwanted = this.#channelsFromTags ? 'channels' : 'tags';
    for (const [field, columns] of Object.entries(source.fields)) {
      if (field === unwanted) continue;
      const name = [columns]
        .flat()
        .map(plainName)
        .find((column) => cells.has(column));
      if (name === undefined) continue;
      fields.set(field as Field, name);
      this.taken[field as Field] = cells.get(name)!.column;
    }
    this.source ??= source.name;
    const { name, judgedBy = [], kindOfUser = '', optOuts, advice } = source;
    const used = new Set([...fields.values(), ...[...judgedBy, kindOfUser].map(plainName)]);
    if (optOuts !== undefined && !cells.has(plainName(optOuts))) {
      this.warning = `this list of ${name} has no column ${optOuts}: who has opted out there is imported too. ${advice}`;
    }
    for (const [name, { column }] of cells) if (!used.has(name)) this.unused.add(column);
    this.#shape = { names, source, fields };
    return this.#shape;
  }
}

/** The text of a cell; undefined if it has no value. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The tag of a language as databases write it, such as `pt_BR`. Whoever has none that can be read is imported without. */
function localeOf(text: string | undefined): string | undefined {
  const { data } = readerLanguage.safeParse(text?.replaceAll('_', '-'));
  return data;
}

/** Channels as an array, or as a text in which anything else than their characters is between them. */
function channelsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  return textOf(value)
    ?.split(/[\s,;|"[\]{}]+/)
    .filter((name) => name !== '');
}

/**
 * The wanted ones among the tags, which are an array, a text with commas, or an object with values. A tag whose value is
 * empty, `0` or `false` says no.
 */
function channelsIn(value: unknown, wanted: ReadonlySet<string>): string[] | undefined {
  const tags = objectIn(value) ?? textOf(value)?.split(',');
  if (tags === undefined) return undefined;
  const names = Array.isArray(tags)
    ? tags
    : Object.entries(tags).flatMap(([name, set]) =>
        /^(0|false)?$/i.test(String(set)) ? [] : [name],
      );
  return names.map((name) => String(name).trim().toLowerCase()).filter((name) => wanted.has(name));
}

/** ISO 8601 of a time as databases write it: Unix time, or a date and a time, in UTC unless it has another zone. */
function timeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, date, time, zone = '+00', minutes = '00'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|UTC|([+-]\d\d):?(\d\d)?)?$/.exec(
      text,
    ) ?? [];
  const unixTime = /^\d{10}(\.\d+)?$/.test(text)
    ? 1000 * Number(text)
    : /^\d{13}$/.test(text)
      ? Number(text)
      : Number.NaN;
  const epochMs = date === undefined ? unixTime : Date.parse(`${date}T${time}${zone}:${minutes}`);
  return Number.isNaN(epochMs) ? undefined : new Date(epochMs).toISOString();
}

function unknownColumns(header: readonly string[]): CommandError {
  const known = sources.map(({ name, knownBy }) => {
    const columns = knownBy.map((names) => [names].flat().join(' or '));
    return `${name} (${columns.join(', ')})`;
  });
  return new CommandError(
    'unknown_columns',
    `No list is known with the columns ${header.join(', ')}. The first line must name the columns. Known are: ${known.join('; ')}.`,
  );
}

/**
 * The rows of a list, where those of a dump of django-webpush become one: it has subscriptions, their users and their
 * groups apart, in any order. So they are kept in memory until the end.
 */
export async function* joinedRows(rows: AsyncIterable<ListRow>): AsyncGenerator<ListRow> {
  const subscriptions = new Map<unknown, ListRow>();
  const groupNames = new Map<unknown, unknown>();
  const users = new Map<unknown, unknown>();
  const groups = new Map<unknown, unknown[]>();
  for await (const row of rows) {
    const value = 'value' in row ? row.value : undefined;
    const { model, pk, fields = {} } = (value ?? {}) as Dumped;
    if (model === 'webpush.subscriptioninfo') subscriptions.set(pk, row);
    else if (model === 'webpush.group') groupNames.set(pk, fields.name);
    else if (model === 'webpush.pushinformation') {
      const { subscription, user, group } = fields;
      // A natural key is an array. Of several users of a browser, the last one has signed in last.
      if (user) users.set(subscription, [user].flat()[0]);
      groups.set(subscription, [...(groups.get(subscription) ?? []), group]);
    } else {
      yield row;
    }
  }
  for (const [pk, row] of subscriptions) {
    const tags = groups.get(pk)?.map((group) => groupNames.get(group) ?? group);
    yield { ...row, value: { ...(row as { value: object }).value, user: users.get(pk), tags } };
  }
}

interface Dumped {
  readonly model?: unknown;
  readonly pk?: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
}
