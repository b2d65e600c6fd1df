import { limits } from './limits.ts';

/** What the rows of `send-fields.ts` say, and the types that follow from them. */

/** Groups of the console's form, in its order. */
export const fieldGroups = [
  'Message',
  'Languages',
  'To',
  'Only some of them',
  'Images',
  'Buttons',
  'Display',
  'Delivery',
  'Data',
] as const;
export type FieldGroup = (typeof fieldGroups)[number];

/** What a value may be. Lengths count Unicode code points. */
type Kind =
  | {
      readonly kind: 'text';
      readonly min: number;
      readonly max: number;
      readonly format?: 'languageTag';
      /** Whether it needs a visible character. */
      readonly isVisible?: true;
      readonly placeholders: Placeholders;
    }
  | { readonly kind: 'url'; readonly placeholders: Placeholders }
  | {
      readonly kind: 'number';
      readonly min: number;
      readonly max: number;
      readonly unit?: 'seconds' | 'days';
      readonly default?: number;
    }
  | { readonly kind: 'flag'; readonly default?: true }
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default?: string }
  /** A date-time with its offset. */
  | { readonly kind: 'time' }
  | { readonly kind: 'object'; readonly maxBytes: number }
  | {
      readonly kind: 'list';
      readonly max: number;
      /** The members of an entry. */
      readonly members: Readonly<Record<string, ValueFacts>>;
      /** The member in which entries must differ. */
      readonly distinct: string;
    }
  | {
      readonly kind: 'translations';
      readonly max: number;
      readonly maxBytes: number;
      /** What a translation can replace. */
      readonly members: Readonly<Record<string, ValueFacts>>;
    };

/** What happens to `{{name}}` in a text if the request has recipients. */
type Placeholders = 'filled' | 'refused' | 'literal';

/** What is known of a value: of a field, or of a member of an entry. */
export type ValueFacts = Kind & { readonly isRequired?: true };

interface FieldFacts {
  /** `browser`: it is in the push message. `pushService`: it is a header of the push. `service`: it is neither. */
  readonly seenBy: 'browser' | 'pushService' | 'service';
  /** Group of the form. */
  readonly group: FieldGroup;
  /** Lines of its control in the form. Default: one. */
  readonly lines?: number;
  /** All samples of the content are valid together, and none is a default. */
  readonly sample: unknown;
  /** A value that is refused. */
  readonly invalid: unknown;
}

export type ContentField = ValueFacts &
  FieldFacts & {
    /** `own`: `message.ts` and the service worker have code for it. Default: browsers show the member of its name. */
    readonly message?: 'own';
    /** A field that must be given unless this one has its default. */
    readonly requires?: string;
  };

/**
 * `lines`: a list of texts, one in each line of its control; `of` names its schema, in `conditionLists`. `table`: entries as a
 * spreadsheet has them.
 */
export type AudienceField = FieldFacts &
  (Kind | { readonly kind: 'lines' | 'table' } | { readonly kind: 'lines'; readonly of: string });

/** Names of the rows with these facts. */
export type NamesWith<Rows, Facts> = {
  [Name in keyof Rows]: Rows[Name] extends Facts ? Name : never;
}[keyof Rows];

/** A value of a row, as a request has it. */
export type ValueOf<Row> = Row extends { readonly kind: 'number' }
  ? number
  : Row extends { readonly kind: 'flag' }
    ? boolean
    : Row extends { readonly kind: 'choice'; readonly choices: readonly (infer Choice)[] }
      ? Choice
      : Row extends { readonly kind: 'object' }
        ? Record<string, unknown>
        : Row extends { readonly kind: 'list'; readonly members: infer Members }
          ? WrittenOut<ObjectOf<Members>>[]
          : Row extends { readonly kind: 'translations'; readonly members: infer Members }
            ? Readonly<Record<string, WrittenOut<ObjectOf<Members>>>>
            : Row extends { readonly kind: 'lines' }
              ? readonly string[]
              : string;

/** The same type without a name: the declarations of the SDK have only what is written out. */
type WrittenOut<Value> = Value extends infer Same ? { [Name in keyof Same]: Same[Name] } : never;

/** An object with the members of some rows. */
export type ObjectOf<Rows> = {
  readonly [Name in NamesWith<Rows, { readonly isRequired: true }>]: ValueOf<Rows[Name]>;
} & {
  readonly [Name in Exclude<keyof Rows, NamesWith<Rows, { readonly isRequired: true }>>]?:
    | ValueOf<Rows[Name]>
    | undefined;
};

/** The value that a field has if it is left out. Undefined if it has none. */
export function defaultOf(row: ValueFacts): unknown {
  if (row.kind === 'flag') return row.default ?? false;
  return 'default' in row ? row.default : undefined;
}

/**
 * Every field of send, in the order of the API's description: what code must know of it. Schemas, the push message, the
 * service worker, the console's form, samples and tests follow from these tables. The texts for people are in
 * `contract/wording/field-texts.ts`. Without zod, which the service worker cannot bundle.
 */

const message = { seenBy: 'browser', group: 'Message' } as const;
const image = { seenBy: 'browser', group: 'Images', kind: 'url' } as const;
const display = { seenBy: 'browser', group: 'Display' } as const;
const header = { seenBy: 'pushService', group: 'Delivery' } as const;
const users = { seenBy: 'service', group: 'To', lines: 3 } as const;
const condition = { seenBy: 'service', group: 'Only some of them' } as const;

const required = { isRequired: true } as const;
const filledText = { kind: 'text', placeholders: 'filled' } as const;
const filledUrl = { kind: 'url', placeholders: 'filled' } as const;
const name = { kind: 'text', min: 1, placeholders: 'refused' } as const;
const flag = { kind: 'flag' } as const;
const number = { kind: 'number' } as const;
const ownCode = { message: 'own' } as const;

/** What a translation can replace. */
const translatedFields = {
  title: {
    ...message,
    ...filledText,
    min: 1,
    max: limits.titleLength,
    isVisible: true,
    sample: 'Doors open',
    invalid: null,
  },
  body: {
    ...message,
    ...filledText,
    min: 0,
    max: limits.bodyLength,
    lines: 3,
    sample: 'At eight. 🔔',
    invalid: ['At eight.'],
  },
  url: {
    ...message,
    ...filledUrl,
    ...ownCode,
    sample: 'https://www.example.com/night',
    invalid: '/night',
  },
  icon: {
    ...image,
    placeholders: 'refused',
    sample: 'https://www.example.com/icon.png',
    invalid: 'icon.png',
  },
  image: {
    ...image,
    placeholders: 'filled',
    sample: 'https://www.example.com/image.png',
    invalid: 'data:image/png;base64,',
  },
  badge: {
    ...image,
    placeholders: 'refused',
    sample: 'https://www.example.com/badge.png',
    invalid: '//www.example.com/badge.png',
  },
  actions: {
    seenBy: 'browser',
    group: 'Buttons',
    ...ownCode,
    kind: 'list',
    max: limits.actions,
    distinct: 'action',
    members: {
      /** Tells the buttons of a notification apart. */
      action: { ...name, ...required, max: limits.actionLength, placeholders: 'literal' },
      title: { ...filledText, ...required, min: 1, max: limits.actionTitleLength },
      url: filledUrl,
      icon: { kind: 'url', placeholders: 'refused' },
    },
    sample: [
      {
        action: 'map',
        title: 'Map',
        url: 'https://www.example.com/map',
        icon: 'https://www.example.com/map.png',
      },
      { action: 'later', title: 'Later' },
    ],
    invalid: ['map'],
  },
  dir: {
    ...display,
    kind: 'choice',
    sample: 'rtl',
    invalid: 'left',
    choices: ['auto', 'ltr', 'rtl'],
  },
} as const;

/** The content of a notification: what is stored and sent. */
export const contentFields = {
  title: { ...translatedFields.title, ...required },
  body: translatedFields.body,
  url: translatedFields.url,
  icon: translatedFields.icon,
  image: translatedFields.image,
  badge: translatedFields.badge,
  ttl: {
    ...header,
    ...number,
    min: 0,
    max: limits.messageTtl,
    unit: 'seconds',
    default: limits.messageTtl,
    sample: 3600,
    invalid: null,
  },
  urgency: {
    ...header,
    kind: 'choice',
    default: 'normal',
    sample: 'high',
    invalid: 'urgent',
    choices: ['very-low', 'low', 'normal', 'high'],
  },
  topic: { ...header, ...name, max: limits.topicLength, sample: 'doors, tonight', invalid: null },
  tag: { ...display, ...name, max: limits.tagLength, sample: 'doors', invalid: {} },
  renotify: { ...display, ...flag, requires: 'tag', sample: true, invalid: 1 },
  requireInteraction: { ...display, ...flag, sample: true, invalid: 'yes' },
  silent: { ...display, ...flag, sample: true, invalid: null },
  actions: translatedFields.actions,
  lang: {
    ...display,
    ...name,
    format: 'languageTag',
    min: 0,
    max: limits.languageTagLength,
    sample: 'pt-BR',
    invalid: 'en_US',
  },
  dir: translatedFields.dir,
  timestamp: {
    ...display,
    kind: 'time',
    sample: '2026-11-21T19:00:00.500+01:00',
    invalid: '2026-11-21',
  },
  /** For the sender's own worker and pages. */
  data: {
    seenBy: 'browser',
    group: 'Data',
    ...ownCode,
    lines: 4,
    kind: 'object',
    maxBytes: limits.dataBytes,
    sample: { order: { id: 7 } },
    invalid: [],
  },
  appBadge: {
    ...display,
    ...number,
    ...ownCode,
    min: 0,
    max: limits.appBadge,
    sample: 3,
    invalid: '3',
  },
  /** What a browser does in which a window of the site has the focus: shows the notification, or tells the page. */
  whenFocused: {
    ...display,
    ...ownCode,
    kind: 'choice',
    default: 'notify',
    sample: 'page',
    invalid: 'show',
    choices: ['notify', 'page'],
  },
  /** By language tag: what readers of that language get instead. */
  translations: {
    seenBy: 'service',
    group: 'Languages',
    kind: 'translations',
    max: limits.translations,
    maxBytes: limits.translationsBytes,
    members: translatedFields,
    sample: { de: { title: 'Einlass', body: 'Um acht. 🔔' }, 'pt-BR': { title: 'Portas abertas' } },
    invalid: { en_US: { title: 'Doors' } },
  },
  /** Whether the service worker handles the message where the browser could show it without. */
  worker: {
    seenBy: 'browser',
    group: 'Delivery',
    ...ownCode,
    ...flag,
    default: true,
    requires: 'url',
    sample: false,
    invalid: 'false',
  },
  /** Whether browsers report what becomes of it. A project can switch that off for all. */
  events: {
    seenBy: 'browser',
    group: 'Delivery',
    ...ownCode,
    ...flag,
    default: true,
    sample: false,
    invalid: 'off',
  },
} as const satisfies Readonly<Record<string, ContentField>>;

/**
 * Conditions on the subscriptions of an audience: those that a request gives all hold. They travel as one value,
 * `conditions`, from the request to the filter of the database.
 */
export const conditionFields = {
  channels: {
    ...condition,
    kind: 'lines',
    of: 'channel',
    lines: 2,
    sample: ['news', 'sales'],
    invalid: ['News'],
  },
  locales: {
    ...condition,
    kind: 'lines',
    of: 'language',
    lines: 2,
    sample: ['de', 'pt-BR'],
    invalid: ['en_US'],
  },
  seenWithinDays: {
    ...condition,
    ...number,
    min: 1,
    max: limits.seenWithinDays,
    unit: 'days',
    sample: 30,
    invalid: null,
  },
} as const satisfies Readonly<Record<string, AudienceField>>;

/** Whom a notification is for. The schemas of the first two have rules that no row can say. */
export const audienceFields = {
  userIds: { ...users, kind: 'lines', sample: ['ada', 'grace'], invalid: [] },
  recipients: {
    ...users,
    kind: 'table',
    sample: [{ userId: 'ada', values: { name: 'Ada' } }],
    invalid: ['ada'],
  },
  /** Whether it is a test: in no rate, and no notice. */
  test: { seenBy: 'service', group: 'To', ...flag, sample: true, invalid: 'yes' },
  ...conditionFields,
} as const satisfies Readonly<Record<string, AudienceField>>;

export const sendFields = { ...contentFields, ...audienceFields };

export type ContentName = keyof typeof contentFields;
export type ConditionName = keyof typeof conditionFields;
export type FieldName = keyof typeof sendFields;

/** What readers of a language get in place of the content's own members. */
export type Translation = ObjectOf<typeof translatedFields>;

/** Fields whose member of the message browsers show without code for it. */
export type DisplayedName = Exclude<
  NamesWith<typeof contentFields, { readonly seenBy: 'browser' }>,
  NamesWith<typeof contentFields, { readonly message: 'own' }>
>;
/** Their members: as sent, but times in epoch milliseconds. */
export type DisplayedMembers = MembersOf<Pick<ObjectOf<typeof contentFields>, DisplayedName>>;
type MembersOf<Content> = {
  [Name in keyof Content]: Name extends NamesWith<typeof contentFields, { readonly kind: 'time' }>
    ? number | undefined
    : Content[Name];
};
export const displayedNames = (Object.keys(contentFields) as ContentName[]).filter(
  (name): name is DisplayedName => {
    const row: ContentField = contentFields[name];
    return row.seenBy === 'browser' && row.message === undefined;
  },
);
/** Fields that are headers of the push. */
export type HeaderName = NamesWith<typeof contentFields, { readonly seenBy: 'pushService' }>;

/** The content among the fields of a request. */
export function contentOf<Request extends object>(
  request: Request,
): Pick<Request, ContentName & keyof Request> {
  const given = Object.entries(request).filter(([name]) => Object.hasOwn(contentFields, name));
  return Object.fromEntries(given) as Pick<Request, ContentName & keyof Request>;
}

/** The content with all samples. */
export const sampleContent = Object.fromEntries(
  Object.entries(contentFields).map(([name, { sample }]) => [name, sample]),
) as unknown as ObjectOf<typeof contentFields>;
