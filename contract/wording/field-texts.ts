import { limits } from '../wire/limits.ts';
import type { sendFields } from '../wire/send-fields.ts';

const ttlWeeks = limits.messageTtl / (7 * 24 * 60 * 60);

/** What people read about each field of send: in the API's description, in the documents and in the console. */

interface MemberText {
  /** Markdown, without bounds. Of a URL: what it is used for. */
  readonly description: string;
  /** In the console: above the control, and in messages. */
  readonly label: string;
  readonly hint?: string;
  /** In the empty control. */
  readonly placeholder?: string;
  /** What to do about a blank control, as a sentence. Default: the field is left out. */
  readonly blank?: string;
}

/** Browsers in the columns of the SDK's documentation. */
export const browserColumns = [
  'Chrome, Edge, Opera, Samsung Internet',
  'Firefox',
  'Safari',
] as const;

/** Platforms of the console's preview. */
export type Platform = 'chrome' | 'firefox' | 'macos' | 'android';

/** What a platform does with a field, in a sentence. */
type Remark = { readonly ignored: string } | { readonly shown: string };

interface SeenByBrowsers {
  /** What the field does, by `browserColumns`. */
  readonly browsers: readonly [string, string, string];
  /** Default: the platform shows it, without a remark. */
  readonly preview?: Readonly<Partial<Record<Platform, Remark>>>;
}

/** Texts by the names of rows, with all that their rows ask for. */
type TextsOf<Rows> = {
  readonly [Name in keyof Rows]: TextOf<Rows[Name]>;
};

type TextOf<Row> = MemberText &
  (Row extends { readonly seenBy: 'browser' } ? SeenByBrowsers : unknown) &
  (Row extends { readonly choices: readonly (infer Choice extends string)[] }
    ? { readonly choices: Readonly<Record<Choice, string>> }
    : unknown) &
  (Row extends { readonly members: infer Members }
    ? { readonly members: TextsOf<Members> }
    : unknown);

/** The texts of any field. */
export type FieldText = MemberText &
  Partial<SeenByBrowsers> & {
    readonly choices?: Readonly<Record<string, string>>;
    readonly members?: Readonly<Record<string, FieldText>>;
  };

const everywhere = ['yes', 'yes', 'yes'] as const;
const chromiumOnly = ['yes', 'no', 'no'] as const;

const staysOpen = 'It stays on the screen until the person clicks or dismisses it.';
const makesNoSound = { shown: 'It makes no sound.' };
const alertsAgain = { shown: 'It alerts again when it replaces the one with the same tag.' };
const isOnArrival = { ignored: 'The time is that of its arrival.' };
const hasNoNumber = { ignored: 'No number on the icon of an app.' };

/** What is said of browsers is from MDN's browser compatibility data 8.1.9. */
export const fieldTexts: TextsOf<typeof sendFields> = {
  title: {
    description:
      'The title, with a visible character. Plain text: browsers show HTML tags as they are.',
    label: 'Title',
    blank: 'Write a title',
    browsers: everywhere,
  },
  body: {
    description: 'The plain text below the title.',
    label: 'Text',
    browsers: everywhere,
  },
  url: {
    description: 'Opened on click',
    label: 'Opens',
    placeholder: 'https://',
    browsers: everywhere,
  },
  icon: {
    description: 'Image beside the text',
    label: 'Icon',
    hint: 'URL of a small image beside the text.',
    browsers: ['yes', 'yes', "the site's own icon"],
    preview: {
      macos: {
        ignored: 'No icon of the notification: Safari ignores it. Chrome on macOS shows it.',
      },
    },
  },
  image: {
    description: 'Large image',
    label: 'Image',
    hint: 'URL of a large image below the text.',
    browsers: chromiumOnly,
    preview: {
      firefox: { ignored: 'No image: Firefox shows none.' },
      macos: { ignored: 'No image: no browser on macOS shows it.' },
      android: {
        shown: 'The image is shown, with one line of the body, when the notification is expanded.',
      },
    },
  },
  badge: {
    description: 'Small image for the status bar',
    label: 'Badge',
    hint: 'URL of a small image for the status bar of Android.',
    browsers: ['on Android', 'no', 'no'],
    preview: {
      chrome: { ignored: 'No badge: only Android shows it.' },
      firefox: { ignored: 'No badge: Firefox shows none.' },
      macos: { ignored: 'No badge: no browser on macOS shows it.' },
      android: { shown: 'The badge is shown in one colour: only its transparency counts.' },
    },
  },
  ttl: {
    description:
      `Seconds for which the push service keeps the message for an offline browser: at most ${ttlWeeks} weeks. 0: only ` +
      'for browsers that are online.',
    label: 'Time to live (seconds)',
    hint: `How long the message waits for a browser that is offline. Empty: ${ttlWeeks} weeks. 0: only for browsers that are online.`,
  },
  urgency: {
    description: 'When a device that saves power receives it.',
    label: 'Urgency',
    hint: 'A device that saves power receives less urgent messages later.',
    choices: { 'very-low': 'Very low', low: 'Low', normal: 'Normal', high: 'High' },
  },
  topic: {
    description:
      'The message replaces an earlier one of the same topic that the browser has not received yet. Push ' +
      'services see only a hash.',
    label: 'Topic',
    hint: 'The message replaces an earlier one with the same topic that a browser has not received yet.',
  },
  tag: {
    description: 'The notification replaces one with the same tag on the screen.',
    label: 'Tag',
    hint: 'The notification replaces one with the same tag on the screen.',
    browsers: ['yes', 'yes', 'no'],
    preview: { macos: { ignored: 'It does not replace the one with the same tag.' } },
  },
  renotify: {
    description: 'Alerts again when the notification replaces one. Requires `tag`.',
    label: 'Alert again',
    hint: 'When it replaces one with the same tag.',
    browsers: chromiumOnly,
    preview: {
      chrome: alertsAgain,
      firefox: { ignored: 'No alert when it replaces the one with the same tag.' },
      android: alertsAgain,
    },
  },
  requireInteraction: {
    description: 'The notification stays until the person acts.',
    label: 'Stay on the screen',
    hint: 'Until the person clicks or dismisses it.',
    browsers: ['yes', 'from 117, on Windows', 'no'],
    preview: {
      chrome: { shown: staysOpen },
      firefox: { shown: `${staysOpen} Firefox on other systems closes it.` },
      macos: { ignored: 'It disappears like any other: the settings of macOS decide.' },
      android: { ignored: 'It stays in the list until it is dismissed, like every notification.' },
    },
  },
  silent: {
    description: 'No sound and no vibration.',
    label: 'Silent',
    hint: 'No sound and no vibration.',
    browsers: ['yes', 'from 132', 'from 16.6, on macOS'],
    preview: {
      chrome: makesNoSound,
      firefox: makesNoSound,
      macos: makesNoSound,
      android: makesNoSound,
    },
  },
  actions: {
    description: 'Buttons. A click on one counts as `clicked`.',
    label: 'Buttons',
    hint: `At most ${limits.actions}. A click on one counts as a click on the notification.`,
    members: {
      title: {
        description: 'The text of the button.',
        label: 'Text',
        blank: 'Write the text of the button',
      },
      action: {
        description: 'A name that the other button does not have.',
        label: 'Name',
        hint: 'Tells it apart from the other button.',
      },
      url: {
        description: 'Opened on click instead of the `url` of the notification',
        label: 'Opens',
        hint: 'Empty: as the notification.',
      },
      icon: {
        description: 'Image of the button',
        label: 'Icon',
        hint: 'URL of the image of the button.',
      },
    },
    browsers: ['yes', 'from 152', 'no'],
    preview: {
      firefox: { shown: 'Buttons need Firefox 152 or newer.' },
      macos: { ignored: 'No buttons: Safari shows none. Chrome on macOS has them in a menu.' },
      android: { shown: 'Buttons are shown when the notification is expanded.' },
    },
  },
  lang: {
    description: 'Language tag (BCP 47).',
    label: 'Language',
    hint: 'Of the texts, such as en or pt-BR.',
    browsers: ['yes', 'yes', 'from 11, on macOS'],
  },
  dir: {
    description: 'Direction of the text.',
    label: 'Direction of the text',
    hint: 'For texts in Arabic or Hebrew, for example.',
    choices: { auto: 'As its letters', ltr: 'Left to right', rtl: 'Right to left' },
    browsers: ['yes', 'yes', 'no'],
  },
  timestamp: {
    description: 'When it happened: an RFC 3339 date-time.',
    label: 'Time of the event',
    hint: 'In your time zone. Shown in place of the time of arrival.',
    browsers: chromiumOnly,
    preview: { firefox: isOnArrival, macos: isOnArrival },
  },
  data: {
    description:
      'An object for your own pages, at most ' +
      `${limits.dataBytes.toLocaleString('en')} bytes as JSON. See the [SDK](sdk.md#data-of-the-sender).`,
    label: 'Data',
    hint: `A JSON object for your own pages, at most ${limits.dataBytes.toLocaleString('en')} bytes.`,
    browsers: everywhere,
  },
  appBadge: {
    description: 'Number on the icon of your app. 0 removes it.',
    label: 'App badge',
    hint: 'The number on the icon of your site, where it is installed as an app. 0 removes it.',
    browsers: ['installed apps on computers', 'no', '17 on macOS, 16.4 on iOS, installed apps'],
    preview: {
      chrome: { shown: 'The number on an icon needs the site to be installed as an app.' },
      firefox: hasNoNumber,
      macos: { shown: 'The number on an icon needs the site to be added to the Dock.' },
      android: hasNoNumber,
    },
  },
  whenFocused: {
    description:
      '`page`: while a window of your site has the focus, the browser shows nothing, and the page ' +
      'receives the [message](sdk.md#while-the-visitor-looks-at-the-site).',
    label: 'While your site has the focus',
    hint: 'In a browser whose visitor looks at your site. There, a message for the page is not counted as shown.',
    choices: { notify: 'Show the notification', page: 'Give it to the page' },
    browsers: ['yes', 'yes', 'no, always shown'],
  },
  worker: {
    description:
      '`false`: Safari shows the message without your service worker and opens exactly `url`, but ' +
      'reports no events. Requires `url`.',
    label: 'Handled by the service worker',
    hint: 'Off: Safari shows the notification without it and opens exactly the page above, but counts neither views nor clicks.',
    browsers: ['no', 'no', 'from 18.4'],
  },
  userIds: {
    description:
      'Only subscriptions with these user ids. Duplicates count once. Without the field, the notification is ' +
      'a broadcast; an empty list is refused.',
    label: 'User ids',
    hint: `One per line, at most ${limits.userIds.toLocaleString('en')}.`,
    blank: 'Enter at least one user id',
  },
  recipients: {
    description:
      'In place of `userIds`: user ids with values for the [placeholders](#personal-content) of the content.',
    label: 'Recipients',
    hint: 'A table as a spreadsheet copies it: names in the first line, user ids in the first column. In your texts, {{name}} becomes the value of the column “name”.',
    placeholder: 'userId,name,order\nada,Ada,1042',
    blank: 'Enter a line of names, and one for each user id',
  },
  channels: {
    description: `Only subscriptions with at least one of these channels, at most ${limits.channels}.`,
    label: 'Channels',
  },
  seenWithinDays: {
    description:
      'Only subscriptions that a [subscribe](#subscribe) request has confirmed within this many days, plus one: ' +
      'the SDK confirms at most once a day.',
    label: 'Last visit',
  },
};
