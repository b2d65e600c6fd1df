import { countText } from '../../../contract/text/text.ts';
import { conditionsOf, hasConditions } from '../../../contract/wire/content.ts';
import type { Issue } from '../../../contract/wire/errors.ts';
import { issuesOf } from '../../../contract/wire/fields.ts';
import { hasVisibleCharacter } from '../../../contract/wire/formats.ts';
import {
  type NotificationContent,
  type NotificationResult,
  type SendRequest,
  sendSchema,
} from '../../../contract/wire/notification.ts';
import { namesIn as placeholdersIn } from '../../../contract/wire/placeholders.ts';
import {
  type AudienceField,
  contentFields,
  type FieldGroup,
  type FieldName,
  fieldGroups,
  sendFields,
} from '../../../contract/wire/send-fields.ts';
import { audienceText } from '../../../contract/wording/delivery-verdict.ts';
import { type FieldText, fieldTexts } from '../../../contract/wording/field-texts.ts';
import { timeText } from '../format.ts';
import { readTable, tableIssue } from './recipients.ts';

/** The form of a send: its fields as the contract has them, the request that it makes, and the form of one that was sent. */

/** A field of the form: what the contract's table says of it, and its texts. */
interface FormField extends FieldText {
  /** What the control is, and how the request has its value. */
  readonly kind: AudienceField['kind'];
  /** The most characters of a text. */
  readonly max?: number;
  readonly format?: string;
  /** Rows of a text with several lines. */
  readonly lines?: number;
  readonly unit?: string;
  readonly isRequired?: true;
  readonly default?: unknown;
}

type Named<Name extends string, Value> = Readonly<Record<Name, Value>>;

/** @param texts in the order of the form. */
function fieldsOf<Name extends string>(
  rows: Named<Name, Omit<FormField, keyof FieldText>>,
  texts: Named<Name, FieldText>,
) {
  const entries = Object.entries<FieldText>(texts);
  return Object.fromEntries(
    entries.map(([name, text]) => {
      const row = rows[name as Name];
      return [name, { ...row, ...text, ...(row.unit === 'seconds' && { choices: durations }) }];
    }),
  ) as Named<Name, FormField>;
}

/** The names of a group, in the order of the form. */
export function namesIn(group: FieldGroup): readonly FieldName[] {
  const names = Object.keys(sendFields) as FieldName[];
  return names.filter((name) => sendFields[name].group === group);
}

const fieldNames = fieldGroups.flatMap(namesIn);

/** Seconds that somebody chooses. What was sent by a program may have others. */
const durations = {
  0: 'Only if it is online',
  3600: '1 hour',
  21600: '6 hours',
  86400: '1 day',
  604800: '1 week',
};

/** Every field of send, in the order of the contract. Controls, parsing, refilling and labels follow from it. */
export const fields = fieldsOf(sendFields, fieldTexts);

/** The fields of one button. */
const buttonFields = fieldsOf(contentFields.actions.members, fieldTexts.actions.members);

/** Members of a translation that have a control. Others of one that was sent are kept. */
export const translatedNames = ['title', 'body', 'url'] as const;

/**
 * @param path of the contract: `title`, `userIds[3]`, `recipients[1].values.name`, `actions[0].title` or
 *   `translations.de.title`.
 */
export function fieldAt(path: string): FormField | undefined {
  const [name = '', , member] = path.split(/[.[]/);
  const isTranslated = translatedNames.some((one) => one === member);
  const [rows, key] =
    name === 'actions' && member !== undefined
      ? [buttonFields, member]
      : [fields, name === 'translations' && isTranslated ? member! : name];
  return new Map<string, FormField>(Object.entries(rows)).get(key);
}

/** Whether the field at a path is in one of the groups. */
export function isIn(path: string, groups: readonly FieldGroup[]): boolean {
  return groups.flatMap(namesIn).some((name) => name === path.split(/[.[]/)[0]);
}

/** By kind. Other fields have a text. */
interface Values {
  readonly flag: boolean;
  readonly list: readonly ButtonForm[];
  readonly translations: readonly TranslationForm[];
}
type ValueOf<Kind> = Kind extends keyof Values ? Values[Kind] : string;

/**
 * Values of the form. A field of the contract without a row in the table does not compile. What was entered for one
 * audience is kept while another one is chosen, and not sent.
 */
export type SendForm = {
  readonly [Name in keyof SendRequest]-?: ValueOf<(typeof sendFields)[Name]['kind']>;
} & {
  readonly to: AudienceChoice;
  /** For certain users: whether each gets a text, from a table. */
  readonly isPersonal: boolean;
  /** For certain users: whether the conditions are shown, and hold. */
  readonly isNarrowed: boolean;
};

export type AudienceChoice = 'everyone' | 'some' | 'users';

export type ButtonForm = Readonly<Record<keyof typeof buttonFields, string>>;

export const emptyButton: ButtonForm = { title: '', action: '', url: '', icon: '' };

/** A language, with what its readers get. */
export interface TranslationForm
  extends Readonly<Record<(typeof translatedNames)[number], string>> {
  readonly tag: string;
}

export const emptyTranslation: TranslationForm = { tag: '', title: '', body: '', url: '' };

export const emptySendForm = {
  ...Object.fromEntries(fieldNames.map((name) => [name, emptyValue(fields[name])])),
  to: 'everyone',
  isPersonal: false,
  isNarrowed: false,
} as unknown as SendForm;

function emptyValue({ kind, ...field }: FormField): boolean | string | readonly [] {
  if (kind === 'flag') return field.default === true;
  return kind === 'list' || kind === 'translations' ? [] : '';
}

/** The form before anything is typed. For the local stack it has an example; real subscribers never get one. */
export function firstForm(isLocal: boolean): SendForm {
  if (!isLocal) return emptySendForm;
  return {
    ...emptySendForm,
    title: 'The bells are ringing',
    body: 'All of them, and all at once.',
    // A click opens, or comes back to, this page.
    url: `${location.origin}/console`,
  };
}

interface Conversion {
  /** From the form. A text that is no such value becomes one that the schema refuses. */
  readonly read: (text: string) => unknown;
  /** Into the form. */
  readonly write: (value: never) => string | readonly TranslationForm[];
}

/** Kinds whose texts the request has as other values. */
const conversions: Readonly<Partial<Record<FormField['kind'], Conversion>>> = {
  number: { read: Number, write: String },
  time: { read: timestampOf, write: localTime },
  object: { read: jsonOf, write: (value) => JSON.stringify(value, null, 2) },
  translations: {
    read: String,
    write: (translations: NonNullable<NotificationContent['translations']>) =>
      Object.entries(translations).map(([tag, one]) => ({ ...emptyTranslation, ...one, tag })),
  },
  lines: { read: linesOf, write: (lines: readonly string[]) => lines.join('\n') },
  table: { read: (table) => readTable(table).recipients, write: () => '' },
};

/** The body of send that the form makes, and what the service would refuse of it. */
export function readSendForm(form: SendForm): {
  readonly notification: SendRequest;
  readonly issues: readonly Issue[];
} {
  const members = fieldNames.map((name) => [name, memberOf(form, name)] as const);
  const body = Object.fromEntries(members.filter(([, value]) => value !== undefined));
  const { error } = sendSchema.safeParse(body);
  const issues = error === undefined ? [] : issuesOf(error, sendSchema);
  const own = ownIssues(form, body);
  // They say it better than what follows from them.
  const others = issues.filter(({ path }) => !own.some((issue) => path.startsWith(issue.path)));
  return {
    notification: body as unknown as SendRequest,
    issues: [...others.map((issue) => withAdvice(issue, form)), ...own],
  };
}

/** What only the form refuses. */
function ownIssues(form: SendForm, body: object): readonly Issue[] {
  // Somebody who wants a part of the subscribers must not reach everyone.
  const isForAll = form.to === 'some' && !hasConditions(conditionsOf(body));
  const isPersonal = form.to === 'users' && form.isPersonal;
  const tags = form.translations.map(({ tag }) => tag.trim());
  const repeated = new Set(tags).size < tags.length && 'Write each language once';
  const found = {
    channels: isForAll && 'Choose a channel or a last visit',
    translations: tags.includes('') ? 'Enter each language' : repeated,
    recipients: isPersonal && tableIssue(form.recipients, placeholdersIn(body as SendRequest)),
  };
  return Object.entries(found).flatMap(([path, message]) => (message ? { path, message } : []));
}

/** Users that a text names. */
const namedUsers = 3;

/** To whom a request goes: `everyone`, `channels shop or offers, seen within 30 days`, `ada, grace and 3 more`. */
export function whomText(request: SendRequest): string {
  const ids = request.userIds ?? request.recipients?.map(({ userId }) => userId);
  const conditions = conditionsOf(request);
  if (ids === undefined) {
    return audienceText({ audience: hasConditions(conditions) ? conditions : 'everyone' });
  }
  const distinct = [...new Set(ids)];
  const more = distinct.length - namedUsers;
  const shown = more > 1 ? distinct.slice(0, namedUsers) : distinct;
  const users = shown.map((id) => (separators.test(id) ? `“${id}”` : id));
  if (more > 1) users.push(`${countText(more)} more users`);
  const audience = { users: distinct.length, ...conditions };
  return audienceText({ audience }, new Intl.ListFormat('en').format(users));
}

/** The field in which users are named. */
export function usersField({ isPersonal }: SendForm): 'userIds' | 'recipients' {
  return isPersonal ? 'recipients' : 'userIds';
}

/** Undefined for a field that is left out: a blank one, unless it must not be blank, and a default flag. */
function memberOf(form: SendForm, name: FieldName): unknown {
  const { kind, blank } = fields[name];
  const { group } = sendFields[name];
  const value = form[name];
  const isConditional = form.to === 'some' || (form.to === 'users' && form.isNarrowed);
  if (group === 'To' && (form.to !== 'users' || name !== usersField(form))) return undefined;
  if (group === 'Only some of them' && !isConditional) return undefined;
  if (typeof value === 'boolean') return value === emptySendForm[name] ? undefined : value;
  if (typeof value !== 'string') {
    if (value.length === 0) return undefined;
    if (name === 'actions') return form.actions.map((button) => written(button, buttonFields));
    return Object.fromEntries(
      form.translations.map(({ tag, ...members }) => [tag.trim(), written(members)]),
    );
  }
  if (value.trim() === '' && blank === undefined) return undefined;
  return conversions[kind]?.read(value) ?? value.trim();
}

/** For a person with the form, some of the contract's messages do not say what to do. */
function withAdvice({ path, message }: Issue, form: SendForm): Issue {
  const { blank = message, kind } = fieldAt(path) ?? {};
  const value = path.split(/[.[\]]+/).reduce<unknown>((at, step) => Object(at)[step], form);
  if (typeof value !== 'string') return { path, message };
  if (!hasVisibleCharacter(value)) return { path, message: blank };
  const isBroken = kind === 'object' && jsonOf(value) === value;
  return { path, message: isBroken ? 'is not JSON; check quotes and commas' : message };
}

type SentContent = NotificationContent & Pick<NotificationResult, 'audience'>;

/**
 * The form of a notification that was sent. User ids are not stored: if it had some, the form asks for them, so that
 * a notification to some users never becomes one to everyone.
 */
export function formOf({ audience, ...content }: SentContent): SendForm {
  const { users, ...conditions } = audience === 'everyone' ? {} : audience;
  const sent: Readonly<Partial<Record<FieldName, unknown>>> = { ...content, ...conditions };
  const formed = (name: FieldName) =>
    conversions[fields[name].kind]?.write(sent[name] as never) ?? sent[name];
  const filled = fieldNames.filter((name) => sent[name] !== undefined);
  return {
    ...emptySendForm,
    ...Object.fromEntries(filled.map((name) => [name, formed(name)])),
    actions: (content.actions ?? []).map((action) => ({ ...emptyButton, ...action }) as ButtonForm),
    to: users !== undefined ? 'users' : hasConditions(conditions) ? 'some' : 'everyone',
    isPersonal: placeholdersIn(content).length > 0,
    isNarrowed: users !== undefined && hasConditions(conditions),
  };
}

/** The labels and texts of what was sent, besides title and body. */
export function contentTexts({ title, body, ...others }: NotificationContent) {
  const sent: Readonly<Partial<Record<FieldName, unknown>>> = others;
  return fieldNames
    .filter((name) => sent[name] !== undefined)
    .map((name) => [fields[name].label, textOf(fields[name], sent[name])] as const);
}

function textOf({ kind, choices, unit = '' }: FormField, value: unknown): string {
  if (kind === 'flag') return value === true ? 'Yes' : 'No';
  if (kind === 'time') return timeText(String(value));
  if (kind === 'object') return JSON.stringify(value);
  if (kind === 'list') return (value as readonly ButtonForm[]).map(entryText).join('; ');
  if (kind === 'translations') {
    const texts = Object.entries<Partial<TranslationForm>>(Object(value)).map(
      ([tag, one]) => `${languageName(tag)}: ${entryText(one)}`,
    );
    return texts.join('; ');
  }
  return choices?.[String(value)] ?? [value, unit].join(' ').trimEnd();
}

function entryText({ title, body, url, icon }: Partial<ButtonForm & TranslationForm>): string {
  return [title, body, url, icon].filter((text) => text).join(', ');
}

/** `German (de)`, for a tag that people may not know. */
export function languageName(tag: string): string {
  try {
    const name = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(tag);
    return name === undefined ? tag : `${name} (${tag})`;
  } catch {
    return tag;
  }
}

/** What is written of an entry. @param rows of its fields: those that must not be blank stay. */
function written(entry: object, rows: Readonly<Record<string, FormField>> = {}): object {
  const trimmed = Object.entries(entry).map(
    ([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const,
  );
  return Object.fromEntries(
    trimmed.filter(([name, value]) => value !== '' || rows[name]?.blank !== undefined),
  );
}

function timestampOf(localTime: string): string {
  const time = new Date(localTime);
  return Number.isNaN(time.getTime()) ? localTime : time.toISOString();
}

/** A time in the form of `<input type="datetime-local">`, to the minute. */
function localTime(timestamp: string): string {
  const time = new Date(timestamp);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The value of JSON. Other texts stay: the schema refuses them, and no JSON is equal to its value. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What others separate user ids by: a comma, a semicolon, a tab or a space. */
const separators = /[,;\s]/;

/** Lines of the user ids that hold such a one. */
export function oddUserIds({ to, isPersonal, userIds }: SendForm): readonly string[] {
  if (to !== 'users' || isPersonal) return [];
  return linesOf(userIds).filter((line) => separators.test(line));
}

/** Each user id in a line of its own. Spaces separate them only where nothing else does. */
export function splitUserIds(userIds: string): string {
  const separator = /[,;\t]/.test(userIds) ? /[,;\t\n]/ : /\s/;
  return linesOf(userIds.split(separator).join('\n')).join('\n');
}
