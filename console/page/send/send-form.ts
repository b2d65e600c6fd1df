import type { Issue } from '../../../contract/errors.ts';
import { issuesOf } from '../../../contract/issues.ts';
import { type SendRequest, sendSchema } from '../../../contract/schemas/notification.ts';
import type { ConsoleSettings } from '../../settings.ts';
import { recipientsOf } from './recipients-table.ts';

/** Values of the form: texts as they are typed. An empty text, except the title, and a flag that is off are left out. */
export interface SendForm {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly icon: string;
  readonly image: string;
  readonly badge: string;
  /** Seconds. */
  readonly ttl: string;
  readonly urgency: string;
  readonly topic: string;
  readonly tag: string;
  readonly lang: string;
  readonly dir: string;
  /** Local time, as `<input type="datetime-local">` has it. */
  readonly timestamp: string;
  /** JSON. */
  readonly data: string;
  readonly appBadge: string;
  readonly renotify: boolean;
  readonly requireInteraction: boolean;
  readonly silent: boolean;
  /** The only flag that is on by default. */
  readonly worker: boolean;
  readonly actions: readonly ActionForm[];
  readonly to: AudienceChoice;
  /** One user id per line. */
  readonly userIds: string;
  /** A table: see `recipientsOf`. */
  readonly recipients: string;
  /** One per line. */
  readonly channels: string;
  readonly seenWithinDays: string;
  /** Undefined: for large audiences. */
  readonly respondAsync: boolean | undefined;
}

/** `recipients`: some users, each with a text of their own. */
export type AudienceChoice = 'everyone' | 'users' | 'recipients';

export interface ActionForm {
  readonly action: string;
  readonly title: string;
  readonly url: string;
  readonly icon: string;
}

export const emptyAction: ActionForm = { action: '', title: '', url: '', icon: '' };

export const emptySendForm: SendForm = {
  title: '',
  body: '',
  url: '',
  icon: '',
  image: '',
  badge: '',
  ttl: '',
  urgency: '',
  topic: '',
  tag: '',
  lang: '',
  dir: '',
  timestamp: '',
  data: '',
  appBadge: '',
  renotify: false,
  requireInteraction: false,
  silent: false,
  worker: true,
  actions: [],
  to: 'everyone',
  userIds: '',
  recipients: '',
  channels: '',
  seenWithinDays: '',
  respondAsync: undefined,
};

/** The form before anything is typed. For the local stack it has an example; real subscribers never get one. */
export function firstForm({ local }: ConsoleSettings): SendForm {
  if (!local) return emptySendForm;
  return {
    ...emptySendForm,
    title: 'The bells are ringing',
    body: 'All of them, and all at once.',
    // A click opens, or comes back to, this page.
    url: `${location.origin}/`,
    icon: `${location.origin}/bell.svg`,
  };
}

/** Names of the form's members with a text. */
export type TextName = {
  [Name in keyof SendForm]: SendForm[Name] extends string ? Name : never;
}[keyof SendForm];

/** Names of the form's members that are on or off. */
export type FlagName = 'renotify' | 'requireInteraction' | 'silent' | 'worker';

/** Fields of send that are texts in the form as they are. */
export const textNames = [
  ...(['title', 'body', 'url', 'icon', 'image', 'badge'] as const),
  ...(['urgency', 'topic', 'tag', 'lang', 'dir'] as const),
];
/** Fields of send that are off by default. */
export const flagNames = ['renotify', 'requireInteraction', 'silent'] as const;

/** The body of send that the form makes, and what the service would refuse of it. */
export function readSendForm(form: SendForm): {
  readonly notification: SendRequest;
  readonly issues: readonly Issue[];
} {
  const texts = textNames.map((name) => [name, form[name].trim()] as const);
  const flags = flagNames.map((name) => [name, form[name] || ''] as const);
  const members: readonly (readonly [string, unknown])[] = [
    ...texts,
    ['ttl', wholeNumber(form.ttl)],
    ...flags,
    ['actions', form.actions.length === 0 ? '' : form.actions.map(withoutEmpty)],
    ['timestamp', timestampOf(form.timestamp)],
    ['data', dataOf(form.data)],
    ['appBadge', wholeNumber(form.appBadge)],
    ['worker', form.worker ? '' : false],
    ['userIds', form.to === 'users' ? linesOf(form.userIds) : ''],
    ['recipients', form.to === 'recipients' ? recipientsOf(form.recipients) : ''],
    ['channels', form.channels.trim() && linesOf(form.channels)],
    ['seenWithinDays', wholeNumber(form.seenWithinDays)],
  ];
  const body = Object.fromEntries(
    members.filter(([name, value]) => name === 'title' || value !== ''),
  );
  const { error } = sendSchema.safeParse(body);
  const issues = error === undefined ? [] : issuesOf(error, sendSchema);
  return {
    notification: body as unknown as SendRequest,
    issues: isJson(form.data) ? issues : issues.map(withJsonAdvice),
  };
}

/** The schema only says that a text which is not JSON is not an object. */
function withJsonAdvice(issue: Issue): Issue {
  return issue.path === 'data'
    ? { ...issue, message: 'is not JSON; check quotes and commas' }
    : issue;
}

/** Required fields stay, also if they are empty. */
function withoutEmpty(action: ActionForm): Partial<ActionForm> {
  return Object.fromEntries(
    Object.entries(action)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([name, text]) => name === 'action' || name === 'title' || text !== ''),
  );
}

/** NaN for another text: the schema refuses it. */
function wholeNumber(text: string): number | '' {
  return text.trim() === '' ? '' : Number(text);
}

function timestampOf(localTime: string): string {
  const time = new Date(localTime);
  if (localTime === '' || Number.isNaN(time.getTime())) return localTime;
  return time.toISOString();
}

/** The text itself if it is not JSON: the schema refuses it. */
function dataOf(text: string): unknown {
  return text.trim() !== '' && isJson(text) ? JSON.parse(text) : text.trim();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
