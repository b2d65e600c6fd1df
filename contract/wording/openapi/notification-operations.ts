import * as z from 'zod/mini';
import { sliceTimeline } from '../../infrastructure/delivery.ts';
import { type FailureReason, failureReasons } from '../../wire/counts.ts';
import { limits } from '../../wire/limits.ts';
import {
  type deliveryCountsSchema,
  type notificationContentSchema,
  notificationListSchema,
  notificationSchema,
} from '../../wire/notification.ts';
import { notificationListQuerySchema } from '../../wire/notification-list.ts';
import {
  type AudienceField,
  audienceFields,
  contentFields,
  type ValueFacts,
} from '../../wire/send-fields.ts';
import { type FieldText, fieldTexts } from '../field-texts.ts';
import type { Operation } from './operation.ts';
import {
  type AnyFields,
  asIn,
  component,
  described,
  type Fact,
  type Fields,
  type FullFact,
} from './schema.ts';

/** What JSON Schema can say of a web URL, which may have placeholders. */
const webUrlPattern = '^[Hh][Tt][Tt][Pp][Ss]?://.';

/** Facts of the fields that several operations have. */

export const contentOfRequest = contentFacts(true);
const contentOfResponse = contentFacts(false);

export const audienceFacts = factsOf(audienceFields, true) as Record<
  keyof typeof audienceFields,
  FullFact
>;

function contentFacts(isOfRequest: boolean) {
  return factsOf(contentFields, isOfRequest) as unknown as Fields<typeof notificationContentSchema>;
}

function factsOf(
  rows: Readonly<Record<string, ValueFacts | AudienceField>>,
  isOfRequest: boolean,
  texts: Readonly<Record<string, FieldText>> = fieldTexts,
): AnyFields {
  const facts = Object.entries(rows).map(([name, row]) => {
    const { description, members } = texts[name]!;
    const isUrl = row.kind === 'url';
    return [
      name,
      {
        description: isUrl ? `${description}: an absolute http(s) URL.` : description,
        // A format for requests only: a URL with other characters than RFC 3986 allows is returned as it was sent.
        ...(isUrl &&
          isOfRequest &&
          (row.placeholders === 'filled' ? { pattern: webUrlPattern } : { format: 'uri' })),
        ...('default' in row && { default: row.default }),
        ...(row.kind === 'list' && { fields: factsOf(row.members, isOfRequest, members) }),
      },
    ];
  });
  return Object.fromEntries(facts);
}

export const countFields: Fields<typeof deliveryCountsSchema> = {
  attempted: 'Always `delivered + removed + failed`.',
  delivered: 'The push service accepted the message.',
  removed: 'The push service says that the subscription is gone (404 or 410): it was deleted.',
  failed: 'Everything else, after retries.',
};

export const failuresField = {
  description: 'Failures by their [reason](operating.md#logs). Absent if nothing failed.',
  fields: reasonFields(),
};

function reasonFields() {
  const facts = Object.entries(failureReasons).map(([reason, { meaning }]) => [
    reason,
    { description: meaning },
  ]);
  return Object.fromEntries(facts) as Record<FailureReason, Fact>;
}

export const unreachedField: Fact =
  'At least this many subscribers were not attempted: the time ran out, the database failed, a function ' +
  'crashed, the notification was [stopped](#stop-a-notification), or a user has more than ' +
  `${limits.userSubscriptions} subscriptions. Absent if all were attempted. With ` +
  '`channels` or `seenWithinDays`, only subscribers that were read are counted, and at least 1.';

export const idField: Fact = 'The notification’s id: a UUID of version 7.';

export const statusField: Fact =
  '`sending`: functions work on it. `sent`: they have ended. `interrupted`: a function crashed, and its ' +
  'work is not continued. `stopping`: it was [stopped](#stop-a-notification), and functions may still ' +
  'push. `stopped`: it was stopped, and they have ended.';

/** A notification with its counts. */
export const notification = component('Notification', notificationSchema, {
  id: idField,
  ...asIn('the request of [send](#send)', contentOfResponse),
  audience:
    '`"everyone"`, or what the send selected, such as ' +
    '`{ "users": 12, "channels": ["news"], "seenWithinDays": 30 }`. `users` is the number of user ids.',
  status: statusField,
  sentAt: 'RFC 3339 date-time.',
  sentBy: 'The member who sent it. Absent if it was sent with the secret key.',
  test: '`true` if it was sent as a test. Absent otherwise.',
  ...asIn('the response of [send](#send)', {
    ...countFields,
    failures: failuresField,
    unreached: unreachedField,
  }),
  removals: 'Removed subscriptions by push service, adding up to `removed`. Absent if none was.',
  usersReached:
    'User ids with at least one delivered push. Absent while the status is `sending`, and for a broadcast.',
  shown:
    'Reports of browsers, times `shownSample` if it is present. `null` if `events` is `false`: nothing was reported.',
  clicked: 'Reports of browsers. `null` if `events` is `false`.',
  shownSample:
    'One browser in this many reports `shown`, which is then ' +
    '[an estimate](operating.md#a-sample-of-shown-events). Absent if every browser reports it.',
});

export const getNotification: Operation = {
  summary: 'Read a notification',
  description:
    'Returns a notification and its counts so far. While the status is `sending`, the counts of the ' +
    `last seconds may be missing. It is kept for ${limits.notificationRetentionDays} days, unless the operator has set fewer. With a viewer’s key, one to users has ` +
    'no `data`, `tag` and `url`.',
  responses: { 200: { description: 'The notification.', content: notification } },
  examples: {
    read: {
      summary: 'A notification whose delivery has ended',
      request: {},
      status: 200,
      response: {
        id: '01936f0e-8a51-7c3e-9d53-0f5d9a3c7f10',
        title: 'Doors open at eight',
        audience: 'everyone',
        status: 'sent',
        sentAt: '2026-11-21T19:00:00.000Z',
        attempted: 1,
        delivered: 1,
        removed: 0,
        failed: 0,
        shown: 0,
        clicked: 0,
      },
    },
  },
};

/** The type that a caller sees: the service reads the digits of the query. */
const limit = z._default(z.int().check(z.positive(), z.lte(limits.largestPage)), limits.page);
const { cursor } = notificationListQuerySchema.shape;

export const listNotifications: Operation = {
  summary: 'List notifications',
  description: 'Returns the project’s notifications, the newest first.',
  query: described(z.object({ limit, cursor }), {
    limit: 'Most notifications in the response.',
    cursor: {
      description: '`nextCursor` of the previous response. The first page needs none.',
      pattern: '^[A-Za-z0-9+/_-]{22}(==)?$',
    },
  }),
  responses: {
    200: {
      description: 'A page of the list.',
      content: component('NotificationList', notificationListSchema, {
        notifications: {
          description: 'Each as in the response of [read a notification](#read-a-notification).',
          component: notification,
        },
        nextCursor: 'Where the next page starts; absent on the last page.',
      }),
    },
  },
  examples: {
    page: {
      summary: 'A page of one notification',
      request: { query: { limit: '1', cursor: '$CURSOR' } },
      status: 200,
      response: {
        notifications: [getNotification.examples.read!.response],
        nextCursor: 'AZNvDopRfD6dUw9dmjx_EA',
      },
    },
  },
};

export const stopNotification: Operation = {
  summary: 'Stop a notification',
  description:
    'Ends the delivery of a notification: no push, retries included, starts later than ' +
    `${sliceTimeline.lastPushAfterStopMs / 1000} s after the response. Subscribers that were not attempted ` +
    'count as `unreached`, and the notification still counts in its month. Idempotent: one whose delivery has ' +
    'ended is returned unchanged.',
  responses: { 200: { description: 'The notification.', content: notification } },
  examples: {
    stop: {
      summary: 'A notification whose delivery had ended',
      request: {},
      status: 200,
      response: getNotification.examples.read!.response,
    },
  },
};
