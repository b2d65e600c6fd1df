import * as z from 'zod/mini';
import type { Issue } from './errors.ts';
import {
  canonicalTag,
  channelPattern,
  hasVisibleCharacter,
  idempotencyKeyPattern,
  projectIdPattern,
} from './formats.ts';
import { limits } from './limits.ts';

/** The message for a value of the wrong type, or for a missing one. */
export const wrong =
  (message: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : message;

/** The message of a value that must be text. */
export const wrongText =
  (rule: string) =>
  ({ input }: { input?: unknown }) =>
    typeof input === 'number'
      ? `${rule}, not a number: write it in quotes, "${input}"`
      : wrong(rule)({ input });

/** The message for a text that breaks a rule: of one that is too long, also its length. */
const wrongLength =
  (rule: string, max: number) =>
  ({ input }: { input?: unknown }) => {
    const { length } = [...String(input)];
    return length > max ? `${rule}, and has ${length}` : rule;
  };

/** Text of `min` to `max` characters without lone surrogates, which UTF-8 cannot encode. */
export function text(min: number, max: number) {
  const rule = `must be text of ${min === 0 ? 'at most' : `${min} to`} ${max} characters`;
  return z.string({ error: wrongText(rule) }).check(
    z.minLength(min, rule),
    z.maxLength(max, { error: wrongLength(rule, max) }),
    z.refine((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );
}

export const hasVisible = z.refine<string>(
  (value) => value === '' || hasVisibleCharacter(value),
  'must have a visible character',
);

export const notWebUrl = 'must be an absolute http or https URL';

export function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value);
}

export const webUrl = text(1, limits.urlLength).check(z.refine(isWebUrl, notWebUrl));

export const userId = text(1, limits.userIdLength);

/** @param of unit, such as ` of seconds`. */
export function wholeNumber(min: number, max: number, of = '') {
  const message = `must be a whole number${of} from ${min} to ${max}`;
  return z.int(message).check(z.gte(min, message), z.lte(max, message));
}

const languageTagRule = 'must be a language tag such as "en" or "pt-BR"';

/** RFC 5646 §2.1: subtags of letters and digits. Which ones are registered is not checked. */
export function languageTag(max: number = limits.languageTagLength) {
  return z
    .string({ error: wrongText(languageTagRule) })
    .check(
      z.maxLength(max, { error: wrongLength(`must have at most ${max} characters`, max) }),
      z.regex(/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/, languageTagRule),
    );
}

/** A language by which readers are told apart, as {@link canonicalTag} writes it. */
export const readerLanguage = z.pipe(
  z.string({ error: wrongText(languageTagRule) }),
  z.transform((given: string, context) => {
    const max = limits.languageTagLength;
    const tag = given.length > max ? undefined : canonicalTag(given);
    if (tag !== undefined && tag.length <= max) return tag;
    const message =
      given.length > max
        ? wrongLength(`must have at most ${max} characters`, max)({ input: given })
        : languageTagRule;
    context.issues.push({ code: 'custom', message, input: given });
    return z.NEVER;
  }),
);

const channelRule = `must be 1 to ${limits.channelNameLength} lowercase letters, digits or hyphens`;
const channel = z
  .string({ error: wrongText(channelRule) })
  .check(z.regex(channelPattern, { error: wrongLength(channelRule, limits.channelNameLength) }));

/** Names of channels. A name that is given twice counts once. @param min how many there are at least. */
function channels(min: 0 | 1) {
  return distinct(channel, { min, max: limits.channels, one: 'channel' });
}

/** The lists of conditions, by what they are of. */
export const conditionLists = {
  channel: channels(1),
  language: distinct(readerLanguage, { min: 1, max: limits.translations, one: 'language' }),
};

/** A list in which what is given twice counts once. @param one what an entry is called. */
function distinct(
  entry: z.ZodMiniType<string, string>,
  { min, max, one }: { readonly min: 0 | 1; readonly max: number; readonly one: string },
) {
  return z.pipe(
    z.array(entry, { error: `must be an array of ${one}s` }).check(
      z.minLength(min, `must name at least one ${one}; leave the field out for all subscriptions`),
      z.refine((names) => new Set(names).size <= max, `must name at most ${max} ${one}s`),
    ),
    z.transform((names): readonly string[] => [...new Set(names)]),
  );
}

/**
 * What a registration says of its visitor: a row for each member. It travels as one value, `choice`, from the page to
 * the stored subscription.
 */
export const choiceFields = {
  /** Whose browser it is. Null: nobody's. */
  userId: { schema: z.nullable(userId), isChosen: true, samples: ['ada', 'grace'] },
  /** Names of what to receive. */
  channels: { schema: channels(0), isChosen: true, samples: [['news'], ['news', 'sales']] },
  /** The language that the visitor reads. Null: not known. */
  locale: {
    schema: z.nullable(readerLanguage),
    isChosen: false,
    ofDevice: z.string(),
    samples: ['de-CH', 'pt-BR'],
  },
  /** The site's name for the text that the visitor agreed to. */
  consent: {
    schema: text(1, limits.consentLength),
    isChosen: false,
    isConsent: true,
    samples: ['v3', 'v4'],
  },
} as const satisfies Readonly<Record<string, ChoiceField>>;

interface ChoiceField {
  /** Of the member in a request. Nothing is stored of null and of an empty list. */
  readonly schema: z.ZodMiniType;
  /**
   * Whether the visitor chooses it: a registration without it clears it, and one with it ends an import. Any other
   * member is carried along: a registration without it keeps what is stored.
   */
  readonly isChosen: boolean;
  /** Whether only a visitor who subscribes gives it: a renewal keeps what is stored. */
  readonly isConsent?: true;
  /** Its schema where the devices of a user are read. Absent: they do not have it. */
  readonly ofDevice?: z.ZodMiniType;
  /** Two values that differ, as they are stored. */
  readonly samples: readonly [unknown, unknown];
}

type Rows = typeof choiceFields;
export type ChoiceName = keyof Rows;

/** A choice, as a request states it. */
export type StatedChoice = {
  readonly [Name in ChoiceName]?: z.infer<Rows[Name]['schema']> | undefined;
};

/** A choice, as it is stored and exported. */
export type Choice = {
  readonly [Name in ChoiceName]?: NonNullable<StatedChoice[Name]> | undefined;
};

export const choiceNames = Object.keys(choiceFields) as readonly ChoiceName[];

/** The members that a device has where it is read. */
export type DeviceMember = {
  [Name in ChoiceName]: Rows[Name] extends { readonly ofDevice: unknown } ? Name : never;
}[ChoiceName];

export const deviceMembers = choiceNames.filter(
  (name): name is DeviceMember => 'ofDevice' in choiceFields[name],
);

/** The choice among the fields of a request. */
export function choiceIn(request: StatedChoice): StatedChoice {
  return Object.fromEntries(choiceNames.map((name) => [name, request[name]]));
}

/** What a renewal may change of a choice. */
export function renewable(choice: StatedChoice): StatedChoice {
  const names = choiceNames.filter((name) => !('isConsent' in choiceFields[name]));
  return Object.fromEntries(names.map((name) => [name, choice[name]]));
}

/** Whether a visitor has chosen anything. */
export function hasChosen(choice: StatedChoice): boolean {
  return choiceNames.some((name) => choiceFields[name].isChosen && choice[name] !== undefined);
}

export function object<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.object(shape, { error: wrong('must be an object') });
}

/** Ids in a path. */
export const projectIdSchema = z.string().check(z.regex(projectIdPattern));
export const notificationIdSchema = z.uuid();

const idempotencyKeyRule = `must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters without spaces`;

/** Header of send: the caller's name for one request and its repetitions. */
export const idempotencyKeySchema = z.optional(
  z.string().check(
    z.regex(idempotencyKeyPattern, {
      error: wrongLength(idempotencyKeyRule, limits.idempotencyKeyLength),
    }),
  ),
);

/** A count of things that may be 0. */
export const count = z.int().check(z.nonnegative());

/** Unknown fields that one response names: a body may have thousands. */
const namedFields = 10;
/** Characters of an unknown field's name that a response repeats. */
const nameLength = 64;

/**
 * Lists what a schema refused, field by field. Each unknown field is a separate issue, with the
 * field that was probably meant.
 * @param whole what the schema describes, in words.
 */
export function issuesOf(
  error: z.core.$ZodError,
  schema: z.ZodMiniType,
  whole = 'this request',
): readonly Issue[] {
  const issues = error.issues
    .slice(0, limits.issues)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .slice(0, namedFields)
            .map((name) => unknownField(issue.path, name, fieldsAt(schema, issue.path), whole))
        : { path: pathText(issue.path), message: issue.message },
    );
  return issues.slice(0, limits.issues);
}

/** What is often written in a notification, by its letters, and what to do instead. */
const adviceByName = new Map([
  ['idempotencykey', 'it is a header, "Idempotency-Key"'],
  ['sendat', 'see "Later" in docs/sending.md'],
  ['message', 'did you mean "body"?'],
  ['text', 'did you mean "body"?'],
]);

function adviceOn(name: string, fields: readonly string[]): string {
  const known = adviceByName.get(name.toLowerCase().replace(/[^a-z]/g, ''));
  if (known !== undefined && fields.includes('body')) return known;
  const nearest = nearestName(name, fields);
  return nearest === undefined
    ? `the fields are ${fields.join(', ')}`
    : `did you mean "${nearest}"?`;
}

function unknownField(at: Path, name: string, fields: readonly string[], whole: string): Issue {
  const shortened = name.slice(0, nameLength);
  const object = at.length === 0 ? whole : 'this object';
  const advice = adviceOn(shortened, fields);
  const path = pathText([...at, shortened]);
  return { path, message: `is not a field of ${object}; ${advice}` };
}

type Path = readonly PropertyKey[];

/** `recipients[3].userId`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** Names of the fields of the object at this path. */
function fieldsAt(schema: z.core.$ZodType, path: Path): readonly string[] {
  const { innerType, in: input, element, valueType, shape = {} } = schema._zod.def as NestedSchemas;
  const wrapped = innerType ?? input;
  if (wrapped !== undefined) return fieldsAt(wrapped, path);
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(shape);
  return fieldsAt(element ?? valueType ?? shape[first as string]!, rest);
}

/** Where the definition of an optional schema, a pipe, an array, a record and an object has the schemas inside it. */
interface NestedSchemas {
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
}

/** The name a mistyped one was most likely meant to be, or undefined where none is near. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(typed.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= best.name.length / 3 ? best.name : undefined;
}

/** Insertions, deletions, replacements and swaps of neighbours from one text to the other (optimal string alignment). */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    const [previous = [], beforePrevious = []] = rows;
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2];
      const swapped = isSwap ? beforePrevious[column - 2]! + 1 : replaced;
      current.push(Math.min(replaced, swapped, previous[column]! + 1, current[column - 1]! + 1));
    }
    rows.unshift(current);
  }
  return rows[0]![to.length]!;
}

/** Base64 and base64url (RFC 4648 §4 and §5). Browsers decode it too, so it does not use Node's `Buffer`. */
const base64Pattern = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Decodes base64 or base64url, padded or not.
 * @returns undefined where the text is neither.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!base64Pattern.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Encodes as base64url without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The schema of bytes in base64 or base64url, padded or not. */
export function bytes(isRight: (decoded: Uint8Array) => boolean, message: string) {
  const decode = z.transform((value: string, context) => {
    const decoded = decodeBase64(value);
    if (decoded !== undefined && isRight(decoded)) return decoded;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
  return z.pipe(z.string({ error: wrong(message) }), decode);
}
