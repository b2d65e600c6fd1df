import type { AudienceField, ContentField, NamesWith, ObjectOf } from './field-kinds.ts';
import { limits } from './limits.ts';

/**
 * Every field of send, in the order of the API's description: what code must know of it. Schemas, the push message, the
 * service worker, the console's form, samples and tests follow from these tables. The texts for people are in
 * `openapi/field-texts.ts`. Without zod, which the service worker cannot bundle.
 */

const inMessage = { seenBy: 'browser', group: 'Message' } as const;
const image = { kind: 'url', seenBy: 'browser', group: 'Images' } as const;
const display = { seenBy: 'browser', group: 'Display' } as const;
const header = { seenBy: 'pushService', group: 'Delivery' } as const;
const tagLike = { kind: 'text', min: 1, placeholders: 'refused' } as const;

/** The content of a notification: what is stored and sent. */
export const contentFields = {
  title: {
    ...inMessage,
    kind: 'text',
    min: 1,
    max: limits.titleLength,
    placeholders: 'filled',
    isRequired: true,
    sample: 'Doors open',
    invalid: null,
  },
  body: {
    ...inMessage,
    kind: 'text',
    min: 0,
    max: limits.bodyLength,
    placeholders: 'filled',
    lines: 3,
    sample: 'At eight. 🔔',
    invalid: ['At eight.'],
  },
  url: {
    ...inMessage,
    kind: 'url',
    placeholders: 'filled',
    message: 'own',
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
  ttl: {
    ...header,
    kind: 'number',
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
    choices: ['very-low', 'low', 'normal', 'high'],
    default: 'normal',
    sample: 'high',
    invalid: 'urgent',
  },
  topic: {
    ...header,
    ...tagLike,
    max: limits.topicLength,
    sample: 'doors, tonight',
    invalid: null,
  },
  tag: { ...display, ...tagLike, max: limits.tagLength, sample: 'doors', invalid: {} },
  renotify: { ...display, kind: 'flag', requires: 'tag', sample: true, invalid: 1 },
  requireInteraction: { ...display, kind: 'flag', sample: true, invalid: 'yes' },
  silent: { ...display, kind: 'flag', sample: true, invalid: null },
  actions: {
    kind: 'list',
    members: {
      /** Tells the buttons of a notification apart. */
      action: {
        kind: 'text',
        min: 1,
        max: limits.actionLength,
        placeholders: 'literal',
        isRequired: true,
      },
      title: {
        kind: 'text',
        min: 1,
        max: limits.actionTitleLength,
        placeholders: 'filled',
        isRequired: true,
      },
      url: { kind: 'url', placeholders: 'filled' },
      icon: { kind: 'url', placeholders: 'refused' },
    },
    distinct: 'action',
    max: limits.actions,
    seenBy: 'browser',
    message: 'own',
    group: 'Buttons',
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
  lang: {
    ...display,
    kind: 'text',
    min: 0,
    max: limits.languageTagLength,
    format: 'languageTag',
    placeholders: 'refused',
    sample: 'pt-BR',
    invalid: 'en_US',
  },
  dir: {
    ...display,
    kind: 'choice',
    choices: ['auto', 'ltr', 'rtl'],
    sample: 'rtl',
    invalid: 'left',
  },
  timestamp: {
    ...display,
    kind: 'time',
    sample: '2026-11-21T19:00:00.500+01:00',
    invalid: '2026-11-21',
  },
  /** For the sender's own worker and pages. */
  data: {
    kind: 'object',
    maxBytes: limits.dataBytes,
    seenBy: 'browser',
    message: 'own',
    group: 'Data',
    lines: 4,
    sample: { order: { id: 7 } },
    invalid: [],
  },
  appBadge: {
    ...display,
    kind: 'number',
    min: 0,
    max: limits.appBadge,
    message: 'own',
    sample: 3,
    invalid: '3',
  },
  /** Whether the service worker handles the message where the browser could show it without. */
  worker: {
    kind: 'flag',
    default: true,
    requires: 'url',
    seenBy: 'browser',
    message: 'own',
    group: 'Delivery',
    sample: false,
    invalid: 'false',
  },
} as const satisfies Readonly<Record<string, ContentField>>;

/** Whom a notification is for. Their schemas have rules that no row can say. */
export const audienceFields = {
  userIds: {
    kind: 'lines',
    max: limits.userIds,
    seenBy: 'service',
    group: 'To',
    lines: 3,
    sample: ['ada', 'grace'],
    invalid: [],
  },
  recipients: {
    kind: 'table',
    max: limits.userIds,
    seenBy: 'service',
    group: 'To',
    lines: 3,
    sample: [{ userId: 'ada', values: { name: 'Ada' } }],
    invalid: ['ada'],
  },
  channels: {
    kind: 'lines',
    max: limits.channels,
    seenBy: 'service',
    group: 'Only some of them',
    lines: 2,
    sample: ['news', 'sales'],
    invalid: ['News'],
  },
  seenWithinDays: {
    kind: 'number',
    min: 1,
    max: limits.seenWithinDays,
    unit: 'days',
    seenBy: 'service',
    group: 'Only some of them',
    sample: 30,
    invalid: null,
  },
} as const satisfies Readonly<Record<string, AudienceField>>;

export const sendFields = { ...contentFields, ...audienceFields };

export type ContentName = keyof typeof contentFields;
export type FieldName = keyof typeof sendFields;

/** Fields whose member of the message browsers show without code for it. */
export type ShownName = Exclude<
  NamesWith<typeof contentFields, { readonly seenBy: 'browser' }>,
  NamesWith<typeof contentFields, { readonly message: 'own' }>
>;
export const shownNames = (Object.keys(contentFields) as ContentName[]).filter(
  (name): name is ShownName => {
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
