import { countOf } from '../text/text.ts';
import type { ChoiceName, DeviceMember } from '../wire/fields.ts';
import { limits } from '../wire/limits.ts';
import type { ConditionName, conditionFields, sendFields, ValueOf } from '../wire/send-fields.ts';

const ttlWeeks = limits.messageTtl / (7 * 24 * 60 * 60);

/** What people read about each field of send, and of a choice: in the API's description, in the documents and in the console. */

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
export type Platform = 'desktop' | 'android' | 'iphone';

/** What a platform does with a field, in a sentence. */
type Remark =
  | { readonly ignored: string; readonly shown?: never }
  | { readonly shown: string; readonly ignored?: never };

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
  (Row extends { readonly kind: 'list'; readonly members: infer Members }
    ? { readonly members: TextsOf<Members> }
    : unknown) &
  (Row extends (typeof conditionFields)[ConditionName]
    ? { readonly selects: Selection<ValueOf<Row>> }
    : unknown);

/** Whom a condition selects, as in "No subscriber has channel news", and the verb before it. */
type Selection<Value> = readonly [verb: string, text: (value: Value) => string];

/** The texts of any field. */
export type FieldText = MemberText &
  Partial<SeenByBrowsers> & {
    readonly choices?: Readonly<Record<string, string>>;
    readonly members?: Readonly<Record<string, FieldText>>;
  };

const everywhere = ['yes', 'yes', 'yes'] as const;
const chromiumOnly = ['yes', 'no', 'no'] as const;

const makesNoSound = { shown: 'It makes no sound.' };
const alertsAgain = 'alerts again when it replaces the one with the same tag.';

/** In the API's description of subscribe. */
export const choiceTexts: Readonly<Record<ChoiceName, string>> = {
  userId:
    'Your name for the visitor; `null`: nobody. An update without it clears the stored one, unless that was ' +
    '[imported](operating.md#importing-and-exporting-subscriptions) and the update has no `channels` either.',
  channels:
    'What the visitor has chosen to receive. [Send](#send) can select by it. At most ' +
    `${limits.channels} names of 1 to ${limits.channelNameLength} lowercase letters, digits or hyphens. ` +
    'Duplicates count once. An update without channels clears the stored ones, but imported ones as `userId`.',
  locale:
    'The language that the visitor reads: a language tag (BCP 47) of at most ' +
    `${limits.languageTagLength} characters, stored as \`Intl.getCanonicalLocales\` writes it. [Send](#send) can select by ` +
    'it, and have a translation for it. An update without it keeps the stored one; `null` clears that.',
  consent:
    `Your name for the text that the visitor agreed to. At most ${limits.consentLength} characters. An update without ` +
    'it, and a renewal, keep the stored one.',
};

/** In the API's description of a user's devices. */
export const deviceTexts: Readonly<Record<DeviceMember, string>> = {
  locale: 'The language that its visitor reads. Absent: not known.',
};

/** In lists of what is stored of a person. */
export const choiceNouns: Readonly<Record<ChoiceName, string>> = {
  userId: 'user id',
  channels: 'channels',
  locale: 'language',
  consent: 'name of the text agreed to',
};

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
      desktop: { shown: 'Safari shows the icon of your site instead.' },
      iphone: { ignored: 'No icon of the notification, but that of your site.' },
    },
  },
  image: {
    description: 'Large image',
    label: 'Image',
    hint: 'URL of a large image below the text.',
    browsers: chromiumOnly,
    preview: {
      desktop: { shown: 'Firefox and Safari show no image.' },
      android: { shown: 'The image is shown when the notification is expanded.' },
      iphone: { ignored: 'No image.' },
    },
  },
  badge: {
    description: 'Small image for the status bar',
    label: 'Badge',
    hint: 'URL of a small image for the status bar of Android.',
    browsers: ['on Android', 'no', 'no'],
    preview: {
      desktop: { ignored: 'No badge: only Android shows it.' },
      android: { shown: 'The badge is shown in one colour: only its transparency counts.' },
      iphone: { ignored: 'No badge: only Android shows it.' },
    },
  },
  ttl: {
    description:
      `Seconds for which the push service keeps the message for an offline browser: at most ${ttlWeeks} weeks. 0: only ` +
      'for browsers that are online.',
    label: 'Waits for',
    hint: `How long the message waits for a browser that is offline. By default ${ttlWeeks} weeks.`,
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
    preview: {
      desktop: { shown: 'In Safari it does not replace the one with the same tag.' },
      iphone: { ignored: 'It does not replace the one with the same tag.' },
    },
  },
  renotify: {
    description: 'Alerts again when the notification replaces one. Requires `tag`.',
    label: 'Alert again',
    hint: 'When it replaces one with the same tag.',
    browsers: chromiumOnly,
    preview: {
      desktop: { shown: `In Chrome and Edge it ${alertsAgain}` },
      android: { shown: `It ${alertsAgain}` },
      iphone: { ignored: 'No alert again: nothing is replaced.' },
    },
  },
  requireInteraction: {
    description: 'The notification stays until the person acts.',
    label: 'Stay on the screen',
    hint: 'Until the person clicks or dismisses it.',
    browsers: ['yes', 'from 117, on Windows', 'no'],
    preview: {
      desktop: {
        shown:
          'It stays until the person clicks or dismisses it, but not in Safari, and in Firefox on Windows only.',
      },
      android: { ignored: 'It stays in the list until it is dismissed, like every notification.' },
      iphone: { ignored: 'It disappears like any other: the settings of iOS decide.' },
    },
  },
  silent: {
    description: 'No sound and no vibration.',
    label: 'Silent',
    hint: 'No sound and no vibration.',
    browsers: ['yes', 'from 132', 'from 16.6, on macOS'],
    preview: {
      desktop: makesNoSound,
      android: makesNoSound,
      iphone: { ignored: 'It may make a sound.' },
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
      desktop: { shown: 'Safari shows no buttons, and Firefox before 152.' },
      android: { shown: 'Buttons are shown when the notification is expanded.' },
      iphone: { ignored: 'No buttons.' },
    },
  },
  lang: {
    description: 'Language tag (BCP 47).',
    label: 'Language',
    hint: 'Of the texts, such as en or pt-BR.',
    browsers: ['yes', 'yes', 'from 11, on macOS'],
    preview: { iphone: { ignored: 'The language has no effect.' } },
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
    preview: {
      desktop: { shown: 'Firefox and Safari show the time of its arrival.' },
      iphone: { ignored: 'The time is that of its arrival.' },
    },
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
      desktop: {
        shown: 'The number needs the site to be installed as an app, and no Firefox has it.',
      },
      android: { ignored: 'No number on the icon of an app.' },
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
  translations: {
    description:
      'By language tag: what subscriptions with a [`locale`](#subscribe) of that language get instead. Each of at most ' +
      `${limits.translations} may have \`title\`, \`body\`, \`url\`, \`icon\`, \`image\`, \`badge\`, \`actions\` and \`dir\`. See ` +
      '[languages](sending.md#languages).',
    label: 'Translations',
  },
  worker: {
    description:
      '`false`: Safari shows the message without your service worker and opens exactly `url`, but ' +
      'reports no events. Requires `url`.',
    label: 'Handled by the service worker',
    hint: 'Off: Safari shows the notification without it and opens exactly the page above, but counts neither views nor clicks.',
    browsers: ['no', 'no', 'from 18.4'],
  },
  events: {
    description:
      '`false`: browsers do not report whether it was shown or clicked, and `shown` and `clicked` are `null`. ' +
      'Always so if the [operator](operating.md#a-sample-of-shown-events) has switched events off.',
    label: 'Shown and clicked are reported',
    hint: 'Off: neither views nor clicks are counted.',
    browsers: everywhere,
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
      'In place of `userIds`: user ids with values for the [placeholders](#personal-content) of the content, or with numbers for the icon.',
    label: 'Recipients',
    hint: 'A table as a spreadsheet copies it: names in the first line, user ids in the column “userId”, or the first. In your texts, {{name}} becomes the value of the column “name”.',
    placeholder: 'userId,name,order\nada,Ada,1042',
    blank: 'Enter a line of names, and one for each user id',
  },
  test: {
    description: `A test, to at most ${limits.testUsers} users. It counts against the caps. The console leaves it out of rates and notices.`,
    label: 'Test',
  },
  channels: {
    description: `Only subscriptions with at least one of these channels, at most ${limits.channels}.`,
    label: 'Channels',
    selects: ['has', (names) => `channel${names.length === 1 ? '' : 's'} ${names.join(' or ')}`],
  },
  locales: {
    description:
      'Only subscriptions with one of these languages, at most ' +
      `${limits.translations}. \`de\` also selects \`de-CH\`.`,
    label: 'Languages',
    hint: 'Language tags such as en or pt-BR, one per line. de also means de-CH.',
    selects: ['has', (tags) => `language ${tags.join(' or ')}`],
  },
  seenWithinDays: {
    description:
      'Only subscriptions that a [subscribe](#subscribe) request has confirmed within this many days, plus one: ' +
      'the SDK confirms at most once a day.',
    label: 'Last visit',
    selects: ['was', (days) => `seen within ${countOf(days, 'day')}`],
  },
};
