import { limits } from '../../../contract/limits.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { countText } from '../format.ts';

/** One field of the send form. */
export interface FormField {
  /** For people: above the control, in messages and on the page of a notification. */
  readonly label: string;
  readonly hint: string;
  readonly kind: FieldKind;
  readonly group: 'Message' | 'To' | (typeof optionGroups)[number];
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

/** What the control is, and how the request has its value: see `send-form.ts`. */
export type FieldKind =
  | 'text'
  | 'url'
  | 'choice'
  | 'number'
  | 'time'
  | 'json'
  | 'list'
  | 'recipients'
  | 'flag'
  | 'buttons';

/** Groups of optional fields, folded, in the order of the form. */
export const optionGroups = [
  'Only some of them',
  'Images',
  'Buttons',
  'Display',
  'Delivery',
  'Data',
] as const;

/** Every field of send, in the order of the form. Controls, parsing, refilling and labels follow from it. */
export const fields = {
  title: {
    label: 'Title',
    hint: 'The first line of the notification.',
    kind: 'text',
    group: 'Message',
    length: limits.titleLength,
    blank: 'must not be blank: write the first line of the notification',
  },
  body: {
    label: 'Body',
    hint: 'The text below the title.',
    kind: 'text',
    group: 'Message',
    length: limits.bodyLength,
    rows: 3,
  },
  url: {
    label: 'URL',
    hint: 'The page that a click opens.',
    kind: 'url',
    group: 'Message',
    placeholder: 'https://',
  },
  userIds: {
    label: 'User ids',
    hint: `One per line, at most ${countText(limits.userIds)}.`,
    kind: 'list',
    group: 'To',
    rows: 3,
    blank: 'must have at least one line',
  },
  recipients: {
    label: 'Recipients',
    hint: 'A table as a spreadsheet copies it: names in the first line, user ids in the first column. In your texts, {{name}} becomes the value of the column “name”.',
    kind: 'recipients',
    group: 'To',
    rows: 3,
    placeholder: 'userId,name,order\nada,Ada,1042',
    blank: 'must have a line of names, and one for each user id',
  },
  channels: {
    label: 'Channels',
    hint: `One per line, at most ${limits.channels}. Only browsers with at least one of them.`,
    kind: 'list',
    group: 'Only some of them',
    rows: 2,
  },
  seenWithinDays: {
    label: 'Seen within (days)',
    hint: 'Only browsers that have visited your site within this many days.',
    kind: 'number',
    group: 'Only some of them',
  },
  icon: {
    label: 'Icon URL',
    hint: 'A small image beside the text.',
    kind: 'url',
    group: 'Images',
  },
  image: {
    label: 'Image URL',
    hint: 'A large image below the text.',
    kind: 'url',
    group: 'Images',
  },
  badge: {
    label: 'Badge URL',
    hint: 'A small image for the status bar of Android.',
    kind: 'url',
    group: 'Images',
  },
  actions: {
    label: 'Buttons',
    hint: `At most ${limits.actions}. A click on one counts as a click on the notification.`,
    kind: 'buttons',
    group: 'Buttons',
  },
  tag: {
    label: 'Tag',
    hint: 'The notification replaces one with the same tag on the screen.',
    kind: 'text',
    group: 'Display',
    length: limits.tagLength,
  },
  renotify: {
    label: 'Alert again',
    hint: 'Also when it replaces one with the same tag.',
    kind: 'flag',
    group: 'Display',
  },
  requireInteraction: {
    label: 'Stay on the screen',
    hint: 'Until the person clicks or dismisses it.',
    kind: 'flag',
    group: 'Display',
  },
  silent: {
    label: 'Silent',
    hint: 'No sound and no vibration.',
    kind: 'flag',
    group: 'Display',
  },
  lang: {
    label: 'Language',
    hint: 'Of the texts, such as en or pt-BR.',
    kind: 'text',
    group: 'Display',
  },
  dir: {
    label: 'Direction of the text',
    hint: 'For texts in Arabic or Hebrew, for example.',
    kind: 'choice',
    group: 'Display',
    choices: { auto: 'As its letters', ltr: 'Left to right', rtl: 'Right to left' },
  },
  timestamp: {
    label: 'Time of the event',
    hint: 'In your time zone. Shown in place of the time of arrival.',
    kind: 'time',
    group: 'Display',
  },
  appBadge: {
    label: 'App badge',
    hint: 'The number on the icon of your site, where it is installed as an app. 0 removes it.',
    kind: 'number',
    group: 'Display',
  },
  ttl: {
    label: 'Time to live (seconds)',
    hint: 'How long the message waits for a browser that is offline. Empty: four weeks. 0: only for browsers that are online.',
    kind: 'number',
    group: 'Delivery',
  },
  urgency: {
    label: 'Urgency',
    hint: 'A device that saves power receives less urgent messages later.',
    kind: 'choice',
    group: 'Delivery',
    choices: { 'very-low': 'Very low', low: 'Low', normal: 'Normal', high: 'High' },
  },
  topic: {
    label: 'Topic',
    hint: 'The message replaces an earlier one with the same topic that a browser has not received yet.',
    kind: 'text',
    group: 'Delivery',
    length: limits.topicLength,
  },
  worker: {
    label: 'Handled by the service worker',
    hint: 'Off: Safari shows the notification without it and opens exactly the URL, but counts neither views nor clicks.',
    kind: 'flag',
    group: 'Delivery',
    isOn: true,
  },
  data: {
    label: 'Data',
    hint: `A JSON object for your own pages, at most ${countText(limits.dataBytes)} bytes.`,
    kind: 'json',
    group: 'Data',
    rows: 4,
  },
} as const satisfies Readonly<Record<keyof SendRequest, FormField>>;

export type FieldName = keyof typeof fields;

export const fieldNames = Object.keys(fields) as readonly FieldName[];

/** The fields of one button. */
export const buttonFields = {
  title: { label: 'Text', hint: 'What the button says.', kind: 'text', group: 'Buttons' },
  action: {
    label: 'Name',
    hint: 'Tells it apart from the other button.',
    kind: 'text',
    group: 'Buttons',
  },
  url: {
    label: 'URL',
    hint: 'The page that a click on the button opens. Empty: that of the notification.',
    kind: 'url',
    group: 'Buttons',
  },
  icon: { label: 'Icon URL', hint: 'The image of the button.', kind: 'url', group: 'Buttons' },
} as const satisfies Readonly<Record<string, FormField>>;

/** @param path of the contract: `title`, `userIds.3`, `recipients[1].values.name` or `actions.0.title`. */
export function fieldAt(path: string): FormField | undefined {
  const [name = '', , member] = path.split(/\]?\.|\[/);
  const rows: Readonly<Record<string, FormField>> =
    name === 'actions' && member !== undefined ? buttonFields : fields;
  const found = name === 'actions' && member !== undefined ? member : name;
  return Object.hasOwn(rows, found) ? rows[found] : undefined;
}
