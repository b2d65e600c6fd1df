import type { Issue } from '../../../contract/errors.ts';
import { namesIn } from '../../../contract/placeholders.ts';
import { issuesOf } from '../../../contract/schemas/fields.ts';
import {
  type NotificationContent,
  type NotificationResult,
  type SendRequest,
  sendSchema,
} from '../../../contract/schemas/notification.ts';
import { timeText } from '../format.ts';
import {
  buttonFields,
  type FieldKind,
  type FieldName,
  type FormField,
  fieldAt,
  fields,
  isIn,
  type KindOf,
  type UsersName,
} from './fields.ts';
import { recipientsOf } from './recipients-table.ts';

type ValueOf<Kind extends FieldKind> = Kind extends 'flag'
  ? boolean
  : Kind extends 'list'
    ? readonly ButtonForm[]
    : string;

/** Values of the form. A field of the contract without a row in the table does not compile. */
export type SendForm = { readonly [Name in keyof SendRequest]-?: ValueOf<KindOf<Name>> } & {
  readonly to: AudienceChoice;
};

/** Everyone, or the field with the users. */
export type AudienceChoice = 'everyone' | UsersName;

export type ButtonForm = Readonly<Record<keyof typeof buttonFields, string>>;

const fieldNames = Object.keys(fields) as readonly FieldName[];

export const emptyButton: ButtonForm = { title: '', action: '', url: '', icon: '' };

export const emptySendForm = {
  ...Object.fromEntries(fieldNames.map((name) => [name, emptyValue(fields[name])])),
  to: 'everyone',
} as unknown as SendForm;

function emptyValue({ kind, isOn }: FormField): boolean | string | readonly ButtonForm[] {
  if (kind === 'flag') return isOn;
  return kind === 'list' ? [] : '';
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
  readonly write: (value: never) => string;
}

/** Kinds whose texts the request has as other values. */
const conversions: Readonly<Partial<Record<FieldKind, Conversion>>> = {
  number: { read: Number, write: String },
  time: { read: timestampOf, write: localTime },
  object: { read: dataOf, write: (value) => JSON.stringify(value, null, 2) },
  lines: { read: linesOf, write: (lines: readonly string[]) => lines.join('\n') },
  table: { read: recipientsOf, write: () => '' },
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
  return {
    notification: body as unknown as SendRequest,
    issues: issues.map((issue) => withAdvice(issue, form)),
  };
}

/** Undefined for a field that is left out: a blank one, unless it must not be blank, and a default flag. */
function memberOf(form: SendForm, name: FieldName): unknown {
  const { kind, isOn, blank } = fields[name];
  const value = form[name];
  if (isIn(name, 'To') && name !== form.to) return undefined;
  if (typeof value === 'boolean') return value === isOn ? undefined : value;
  if (typeof value !== 'string') return value.length > 0 ? value.map(withoutBlank) : undefined;
  if (value.trim() === '' && blank === undefined) return undefined;
  return conversions[kind]?.read(value) ?? value.trim();
}

/** For a person with the form, some of the contract's messages do not say what to do. */
function withAdvice({ path, message }: Issue, form: SendForm): Issue {
  const { blank = message, kind } = fieldAt(path) ?? {};
  const value = path.split(/[.[\]]+/).reduce<unknown>((at, step) => Object(at)[step], form);
  if (typeof value !== 'string') return { path, message };
  if (value.trim() === '') return { path, message: blank };
  if (kind === 'object' && !isJson(value))
    return { path, message: 'is not JSON; check quotes and commas' };
  return { path, message };
}

type SentContent = NotificationContent & Pick<NotificationResult, 'audience'>;

/**
 * The form of a notification that was sent. User ids are not stored: if it had some, the form asks for them, so that
 * a notification to some users never becomes one to everyone.
 */
export function formOf({ audience, ...content }: SentContent): SendForm {
  const { users, ...conditions } = audience === 'everyone' ? {} : audience;
  const sent: Readonly<Partial<Record<FieldName, unknown>>> = { ...content, ...conditions };
  const filled = fieldNames.filter((name) => sent[name] !== undefined);
  const toUsers = namesIn(content).length > 0 ? 'recipients' : 'userIds';
  return {
    ...emptySendForm,
    ...Object.fromEntries(
      filled.map((name) => [
        name,
        conversions[fields[name].kind]?.write(sent[name] as never) ?? sent[name],
      ]),
    ),
    actions: (content.actions ?? []).map((action) => ({ ...emptyButton, ...action }) as ButtonForm),
    to: users === undefined ? 'everyone' : toUsers,
  };
}

/** The labels and texts of what was sent. */
export function contentTexts(content: NotificationContent): readonly (readonly [string, string])[] {
  const sent: Readonly<Partial<Record<FieldName, unknown>>> = content;
  return fieldNames.flatMap((name) =>
    sent[name] === undefined ? [] : [[fields[name].label, textOf(fields[name], sent[name])]],
  );
}

function textOf({ kind, choices }: FormField, value: unknown): string {
  if (kind === 'flag') return value === true ? 'Yes' : 'No';
  if (kind === 'time') return timeText(String(value));
  if (kind === 'object') return JSON.stringify(value);
  if (kind === 'list') return (value as readonly ButtonForm[]).map(buttonText).join('; ');
  return choices?.[String(value)] ?? String(value);
}

function buttonText(button: ButtonForm): string {
  return (Object.keys(buttonFields) as (keyof ButtonForm)[])
    .filter((name) => button[name])
    .map((name) => `${buttonFields[name].label}: ${button[name]}`)
    .join(', ');
}

/** Fields that must not be blank stay. */
function withoutBlank(button: ButtonForm): Partial<ButtonForm> {
  return Object.fromEntries(
    Object.entries(button)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([name, text]) => text !== '' || fieldAt(`actions[0].${name}`)?.blank !== undefined),
  );
}

function timestampOf(localTime: string): string {
  const time = new Date(localTime);
  return Number.isNaN(time.getTime()) ? localTime : time.toISOString();
}

/** As `<input type="datetime-local">` has it, to the minute. */
function localTime(timestamp: string): string {
  const time = new Date(timestamp);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function dataOf(text: string): unknown {
  return isJson(text) ? JSON.parse(text) : text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
