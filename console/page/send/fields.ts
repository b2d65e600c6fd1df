import { limits } from '../../../contract/limits.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { countText } from '../format.ts';

/** One field of the send form. */
export interface FormField {
  /** For people: above the control, in messages and on the page of a notification. */
  readonly label: string;
  readonly hint: string;
  /** What the control is, and how the request has its value: see `send-form.ts`. */
  readonly kind: FieldKind;
  /** The most characters, of which the used ones are shown. */
  readonly length?: number;
  /** Of a text with several lines. */
  readonly rows?: number;
  readonly placeholder?: string;
  /** Texts for people, by the value. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Of a flag that is on by default. */
  readonly isOn?: boolean;
  /** Of a field that must not be blank: the issue of a blank one. */
  readonly blank?: string;
}

type TypedKind = 'text' | 'url' | 'choice' | 'number' | 'time' | 'json' | 'list' | 'recipients';
export type FieldKind = TypedKind | 'flag' | 'buttons';

/**
 * Every field of send, in the order of the form. Controls, parsing, refilling and labels follow from it. The groups
 * after `To` are folded.
 */
export const groups = {
  Message: {
    title: {
      label: 'Title',
      hint: 'The first line of the notification.',
      kind: 'text',
      length: limits.titleLength,
      blank: 'must not be blank: people read it first',
    },
    body: {
      label: 'Body',
      hint: 'The text below the title.',
      kind: 'text',
      length: limits.bodyLength,
      rows: 3,
    },
    url: {
      label: 'URL',
      hint: 'The page that a click opens.',
      kind: 'url',
      placeholder: 'https://',
    },
  },
  To: {
    userIds: {
      label: 'User ids',
      hint: `One per line, at most ${countText(limits.userIds)}.`,
      kind: 'list',
      rows: 3,
      blank: 'must have at least one line',
    },
    recipients: {
      label: 'Recipients',
      hint: 'A table as a spreadsheet copies it: names in the first line, user ids in the first column. In your texts, {{name}} becomes the value of the column “name”.',
      kind: 'recipients',
      rows: 3,
      placeholder: 'userId,name,order\nada,Ada,1042',
      blank: 'must have a line of names, and one for each user id',
    },
  },
  'Only some of them': {
    channels: {
      label: 'Channels',
      hint: `One per line, at most ${limits.channels}. Only browsers with at least one of them.`,
      kind: 'list',
      rows: 2,
    },
    seenWithinDays: {
      label: 'Seen within (days)',
      hint: 'Only browsers that have visited your site within this many days.',
      kind: 'number',
    },
  },
  Images: {
    icon: { label: 'Icon URL', hint: 'A small image beside the text.', kind: 'url' },
    image: { label: 'Image URL', hint: 'A large image below the text.', kind: 'url' },
    badge: {
      label: 'Badge URL',
      hint: 'A small image for the status bar of Android.',
      kind: 'url',
    },
  },
  Buttons: {
    actions: {
      label: 'Buttons',
      hint: `At most ${limits.actions}. A click on one counts as a click on the notification.`,
      kind: 'buttons',
    },
  },
  Display: {
    tag: {
      label: 'Tag',
      hint: 'The notification replaces one with the same tag on the screen.',
      kind: 'text',
      length: limits.tagLength,
    },
    renotify: {
      label: 'Alert again',
      hint: 'When it replaces one with the same tag.',
      kind: 'flag',
    },
    requireInteraction: {
      label: 'Stay on the screen',
      hint: 'Until the person clicks or dismisses it.',
      kind: 'flag',
    },
    silent: { label: 'Silent', hint: 'No sound and no vibration.', kind: 'flag' },
    lang: { label: 'Language', hint: 'Of the texts, such as en or pt-BR.', kind: 'text' },
    dir: {
      label: 'Direction of the text',
      hint: 'For texts in Arabic or Hebrew, for example.',
      kind: 'choice',
      choices: { auto: 'As its letters', ltr: 'Left to right', rtl: 'Right to left' },
    },
    timestamp: {
      label: 'Time of the event',
      hint: 'In your time zone. Shown in place of the time of arrival.',
      kind: 'time',
    },
    appBadge: {
      label: 'App badge',
      hint: 'The number on the icon of your site, where it is installed as an app. 0 removes it.',
      kind: 'number',
    },
  },
  Delivery: {
    ttl: {
      label: 'Time to live (seconds)',
      hint: 'How long the message waits for a browser that is offline. Empty: four weeks. 0: only for browsers that are online.',
      kind: 'number',
    },
    urgency: {
      label: 'Urgency',
      hint: 'A device that saves power receives less urgent messages later.',
      kind: 'choice',
      choices: { 'very-low': 'Very low', low: 'Low', normal: 'Normal', high: 'High' },
    },
    topic: {
      label: 'Topic',
      hint: 'The message replaces an earlier one with the same topic that a browser has not received yet.',
      kind: 'text',
      length: limits.topicLength,
    },
    worker: {
      label: 'Handled by the service worker',
      hint: 'Off: Safari shows the notification without it and opens exactly the URL, but counts neither views nor clicks.',
      kind: 'flag',
      isOn: true,
    },
  },
  Data: {
    data: {
      label: 'Data',
      hint: `A JSON object for your own pages, at most ${countText(limits.dataBytes)} bytes.`,
      kind: 'json',
      rows: 4,
    },
  },
} as const satisfies Readonly<
  Record<string, Readonly<Partial<Record<keyof SendRequest, FormField>>>>
>;

export type GroupName = keyof typeof groups;
type Group = (typeof groups)[GroupName];
export type FieldName = Group extends infer Rows
  ? Rows extends unknown
    ? keyof Rows
    : never
  : never;
export type KindOf<Name extends FieldName> = Extract<Group, Record<Name, FormField>>[Name]['kind'];

export const fields: Readonly<Record<FieldName, FormField>> = Object.assign(
  {},
  ...Object.values(groups),
);

const blank = 'must not be blank';

/** The fields of one button. */
export const buttonFields = {
  title: { label: 'Text', hint: 'What the button says.', kind: 'text', blank },
  action: { label: 'Name', hint: 'Tells it apart from the other button.', kind: 'text' },
  url: {
    label: 'URL',
    hint: 'The page that a click on it opens. Empty: as the notification.',
    kind: 'url',
  },
  icon: { label: 'Icon URL', hint: 'The image of the button.', kind: 'url' },
} as const satisfies Readonly<Record<string, FormField>>;

/** @param path of the contract: `title`, `userIds[3]`, `recipients[1].values.name` or `actions[0].title`. */
export function fieldAt(path: string): FormField | undefined {
  const [name = '', , member] = path.split(/[.[]/);
  const [rows, key] =
    name === 'actions' && member !== undefined ? [buttonFields, member] : [fields, name];
  return new Map<string, FormField>(Object.entries(rows)).get(key);
}

/** Whether the field at a path is in a group. */
export function isIn(path: string, group: GroupName): boolean {
  return Object.hasOwn(groups[group], path.split(/[.[]/)[0]!);
}
