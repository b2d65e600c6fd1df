import { contentFields, type ObjectOf, type ValueFacts } from './send-fields.ts';

/** Texts of one recipient, by the names of the placeholders that they replace. */
export type Values = Readonly<Record<string, string>>;

/** What differs between recipients: lists in the order of their user ids. */
export interface Personal {
  /** The texts of each, if the content has placeholders. */
  readonly values?: readonly Values[] | undefined;
  /** The number on the icon of each one's app, if a recipient has its own. Null: that of the content. */
  readonly appBadges?: readonly (number | null)[] | undefined;
}

/** The content of a notification, whose texts may have placeholders. */
export type Template = ObjectOf<typeof contentFields>;

/** A text of a template. */
export interface TemplateText {
  /** Such as `['actions', 0, 'url']`. */
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly isUrl: boolean;
}

type Rows = Readonly<Record<string, ValueFacts>>;
type Members = Readonly<Record<string, unknown>>;

/** `{{name}}`, with spaces inside the braces if the sender likes. */
const placeholder = /\{\{ *(\w{1,32}) *\}\}/g;

/** The content as the recipient with these values gets it. A value is not rendered again. */
export function rendered<Content extends Template>(content: Content, values: Values): Content {
  return renderedMembers(contentFields, content, values) as Content;
}

/** The content as one of the recipients gets it. */
export function personalContent<Content extends Template>(
  content: Content,
  { values, appBadges }: Personal,
  index: number,
): Content {
  const own = values === undefined ? content : rendered(content, values[index]!);
  return { ...own, appBadge: appBadges?.[index] ?? content.appBadge };
}

function renderedMembers(rows: Rows, members: Members, values: Values): Members {
  const entries = Object.entries(members).map(([name, value]) => [
    name,
    value === undefined ? undefined : renderedValue(rows[name], value, values),
  ]);
  return Object.fromEntries(entries);
}

function renderedValue(row: ValueFacts | undefined, value: unknown, values: Values): unknown {
  if (row?.kind === 'list') {
    const entries = value as readonly Members[];
    return entries.map((entry) => renderedMembers(row.members, entry, values));
  }
  if (row?.kind === 'translations') {
    const entries = Object.entries(value as Readonly<Record<string, Members>>);
    return Object.fromEntries(
      entries.map(([tag, entry]) => [tag, renderedMembers(row.members, entry, values)]),
    );
  }
  if (row === undefined || !('placeholders' in row) || row.placeholders !== 'filled') return value;
  return row.kind === 'url' ? filledUrl(value as string, values) : filled(value as string, values);
}

/** A text with its values. A placeholder without a value stays as it is written. */
function filled(template: string, values: Values, encode = (value: string) => value): string {
  return template.replace(placeholder, (written, name: string) =>
    Object.hasOwn(values, name) ? encode(values[name]!) : written,
  );
}

/** Fills in a URL: values are percent-encoded. */
export function filledUrl(template: string, values: Values): string {
  return filled(template, values, encodeURIComponent);
}

/** A text in which each placeholder is replaced by the same text. */
export function withAll(template: string, text: string): string {
  return template.replace(placeholder, () => text);
}

/** The texts of a content in which placeholders are filled, or those in which they are refused. */
export function textsOf(
  content: Template,
  placeholders: 'filled' | 'refused' = 'filled',
): readonly TemplateText[] {
  return [...textsIn(contentFields, content, placeholders, [])];
}

function* textsIn(
  rows: Rows,
  members: Members,
  placeholders: 'filled' | 'refused',
  at: TemplateText['path'],
): Iterable<TemplateText> {
  for (const [name, row] of Object.entries(rows)) {
    const value = members[name];
    const path = [...at, name];
    if (value === undefined) continue;
    if ('members' in row) {
      for (const [step, entry] of Object.entries(value as Readonly<Record<string, Members>>)) {
        const at = row.kind === 'list' ? Number(step) : step;
        yield* textsIn(row.members, entry, placeholders, [...path, at]);
      }
    } else if ('placeholders' in row && row.placeholders === placeholders) {
      yield { path, text: value as string, isUrl: row.kind === 'url' };
    }
  }
}

/** The names of a template's placeholders, in the order of their first use. */
export function namesIn(template: Template): readonly string[] {
  const names = textsOf(template).flatMap(({ text }) =>
    Array.from(text.matchAll(placeholder), ([, name]) => name!),
  );
  return [...new Set(names)];
}

/** A text's first placeholder, as it is written. */
export function placeholderIn(text: string): string | undefined {
  return text.match(placeholder)?.[0];
}

/** Whether a text has double braces that are no placeholder, such as `{{first-name}}` or `{{name`. */
export function hasMalformed(text: string): boolean {
  return /\{\{(?! *\w{1,32} *\}\})/.test(text);
}
