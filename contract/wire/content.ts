import * as z from 'zod/mini';
import {
  conditionLists,
  hasVisible,
  isWebUrl,
  languageTag,
  notWebUrl,
  readerLanguage,
  text,
  webUrl,
  wholeNumber,
} from './fields.ts';
import { lookupTag } from './languages.ts';
import { limits } from './limits.ts';
import { withAll } from './placeholders.ts';
import {
  type ConditionName,
  type ContentName,
  conditionFields,
  contentFields,
  defaultOf,
  type NamesWith,
  type ValueFacts,
  type ValueOf,
} from './send-fields.ts';

type Rows = Readonly<Record<string, ValueFacts>>;

type ShapeOf<Of> = {
  [Name in keyof Of]: Of[Name] extends { readonly isRequired: true }
    ? SchemaOf<Of[Name]>
    : z.ZodMiniOptional<SchemaOf<Of[Name]>>;
};

type SchemaOf<Row> = Row extends { readonly kind: 'list'; readonly members: infer Members }
  ? z.ZodMiniArray<z.ZodMiniObject<ShapeOf<Members>, z.core.$strict>>
  : z.ZodMiniType<ValueOf<Row>, ValueOf<Row>>;

/** The schema of each row. */
export function shapeOf<const Of extends Rows>(rows: Of): ShapeOf<Of> {
  const schemas = Object.entries(rows).map(([name, row]) => {
    const schema = schemaOf(name, row);
    return [name, row.isRequired ? schema : z.optional(schema)];
  });
  return Object.fromEntries(schemas) as ShapeOf<Of>;
}

function schemaOf(name: string, row: ValueFacts): z.ZodMiniType {
  switch (row.kind) {
    case 'text':
      if (row.format === 'languageTag') return languageTag(row.max);
      return row.isVisible ? text(row.min, row.max).check(hasVisible) : text(row.min, row.max);
    case 'url':
      return row.placeholders === 'filled' ? webUrlTemplate : webUrl;
    case 'number':
      return wholeNumber(row.min, row.max, row.unit && ` of ${row.unit}`);
    case 'flag':
      return z.boolean({ error: 'must be true or false' });
    case 'choice':
      return z.enum(row.choices, { error: `must be ${alternatives(row.choices)}` });
    case 'time':
      return z.iso.datetime({
        offset: true,
        error: 'must be a date-time with its offset, such as "2026-11-21T19:00:00Z"',
      });
    case 'object':
      return jsonObject(row.maxBytes);
    case 'list':
      return list(name, row);
    case 'translations':
      return translations(row);
  }
}

/** A URL that may have placeholders, with spaces inside their braces. */
const webUrlTemplate = text(1, limits.urlLength).check(
  z.refine((value) => isWebUrl(withAll(value, '_')), notWebUrl),
);

function alternatives(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `"${choice}"`);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function jsonObject(maxBytes: number) {
  return z
    .record(z.string(), z.unknown(), { error: 'must be an object' })
    .check(
      z.refine(
        (value) => jsonBytes(value) <= maxBytes,
        `must have at most ${maxBytes} bytes as JSON`,
      ),
    );
}

/** Infinite for a value that is nested so deeply that it cannot be serialised. */
function jsonBytes(value: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function list(name: string, row: Extract<ValueFacts, { readonly kind: 'list' }>) {
  const { max, members, distinct } = row;
  const entry = z.strictObject(shapeOf(members), { error: 'must be an object' });
  return z.array(entry, { error: `must be an array of ${name}` }).check(
    z.maxLength(max, `must have at most ${max} ${name}`),
    z.refine(
      (entries: readonly Readonly<Record<string, unknown>>[]) =>
        new Set(entries.map((one) => one[distinct])).size === entries.length,
      `must differ from each other in "${distinct}"`,
    ),
  );
}

/** @returns with tags as `readerLanguage` writes them. */
function translations({ max, maxBytes, members }: Extract<ValueFacts, { kind: 'translations' }>) {
  const one = z.strictObject(shapeOf(members), { error: 'must be an object' });
  const given = z
    .record(z.string(), one, { error: 'must be an object with a translation for each language' })
    .check(
      z.refine((all) => Object.keys(all).length <= max, `must have at most ${max} languages`),
      z.refine((all) => jsonBytes(all) <= maxBytes, `must have at most ${maxBytes} bytes as JSON`),
    );
  const withTags = z.transform((all: z.infer<typeof given>, { issues }) => {
    const written = new Map<string, string>();
    const entries = Object.entries(all).map(([name, value]) => {
      const { data: tag, error } = readerLanguage.safeParse(name);
      const same = tag && written.get(lookupTag(tag));
      const message = same ? `is the same language as "${same}"` : error?.issues[0]?.message;
      if (tag) written.set(lookupTag(tag), name);
      if (message) issues.push({ code: 'custom', input: all, path: [name], message });
      return [tag, value];
    });
    return Object.fromEntries(entries);
  });
  return z.pipe(given, withTags);
}

export const contentShape = shapeOf(contentFields);

/** The part of the content that placeholders can change. */
export const templateSchema = z.object(
  Object.fromEntries(
    Object.entries(contentShape).filter(([name]) => isTemplate(contentFields[name as ContentName])),
  ),
);

function isTemplate(row: ValueFacts): boolean {
  if ('members' in row) return Object.values(row.members).some(isTemplate);
  return 'placeholders' in row && row.placeholders === 'filled';
}

/** Why a field cannot have an effect without the one that it requires. */
const requirements: Readonly<
  Record<NamesWith<typeof contentFields, { readonly requires: string }>, string>
> = {
  renotify: 'needs "tag", which names the notification to replace',
  worker: 'needs "url" when it is false: without a worker, browsers open absolute URLs only',
};

/** Combinations of fields that browsers refuse, or that could not have an effect. */
export const contentCombinations = Object.entries(requirements).map(([name, error]) => {
  const row = contentFields[name as keyof typeof requirements];
  return z.refine<Readonly<Record<string, unknown>>>(
    (content) =>
      content[row.requires] !== undefined || (content[name] ?? defaultOf(row)) === defaultOf(row),
    { error, path: [name] },
  );
});

/** Strict: code that does not know one of them refuses to deliver. */
export const conditionsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(conditionFields).map(([name, row]) => [
      name,
      z.optional(row.kind === 'lines' ? conditionLists[row.of] : schemaOf(name, row)),
    ]),
  ) as {
    [Name in ConditionName]: z.ZodMiniOptional<
      z.ZodMiniType<
        ValueOf<(typeof conditionFields)[Name]>,
        ValueOf<(typeof conditionFields)[Name]>
      >
    >;
  },
);
export type Conditions = z.infer<typeof conditionsSchema>;

/** The conditions among the fields of a request. */
export function conditionsOf(request: Conditions): Conditions {
  const names = Object.keys(conditionFields) as ConditionName[];
  const given = names.filter((name) => request[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, request[name]]));
}

export function hasConditions(conditions: Conditions): boolean {
  return Object.keys(conditions).length > 0;
}
