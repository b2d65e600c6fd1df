import * as z from 'zod/mini';
import { idempotencyKeySchema } from '../../wire/fields.ts';
import { limits } from '../../wire/limits.ts';
import { acceptedSendSchema, sendResultSchema, sendSchema } from '../../wire/notification.ts';
import {
  audienceFacts,
  contentOfRequest,
  countFields,
  failuresField,
  idField,
  statusField,
  unreachedField,
} from './notification-operations.ts';
import type { Operation } from './operation.ts';
import { component, described } from './schema.ts';

const headers = z.object({
  'Idempotency-Key': idempotencyKeySchema,
  Prefer: z.optional(z.string()),
});

const messageBytesField = {
  description:
    'Bytes of the largest [message](message.md). Present if Firefox for Android may not receive it: above ' +
    `${limits.messageBytesEverywhere.toLocaleString('en')}.`,
};

export const send: Operation = {
  summary: 'Send',
  description:
    'Sends a notification to every subscriber of the project, or to those that the request selects. The ' +
    'response comes when every push has been attempted, or [at once](#large-audiences). For servers only: ' +
    'pages on other origins cannot call it.',
  headers: described(headers, {
    'Idempotency-Key':
      'Makes a send safe to repeat: 1 to ' +
      `${limits.idempotencyKeyLength} printable ASCII characters without spaces. For ` +
      `${limits.idempotencyHours} hours, a request with the same key and body gets the first response, and ` +
      'nothing is sent again. It holds for the project, whichever key the request has, also after a rotation. The order ' +
      'of fields does not matter, but that of `userIds` does. A request that gets 400, 403 or 429 does not use it up. ' +
      'Choose one that nobody can guess, so that nobody else uses it first: a UUID, or an HMAC of what the ' +
      'notification is about.',
    Prefer:
      '`respond-async` (RFC 7240): the response comes with status 202 when functions have the delivery, which goes ' +
      'on for at most 48 minutes. Other preferences are ignored.',
  }),
  body: {
    content: component('SendRequest', sendSchema, {
      ...contentOfRequest,
      ...audienceFacts,
      recipients: {
        ...audienceFacts.recipients,
        fields: {
          userId: 'A user id. Each may occur once.',
          values:
            `Values by the names of placeholders: at most ${limits.values} texts of at most ${limits.valueLength} ` +
            'characters. Unused ones are ignored if there is a placeholder; otherwise values are refused.',
          appBadge: 'In place of that of the notification. 0 removes the number.',
        },
      },
    }),
    limitBytes: limits.bodyBytes.send,
  },
  errors: [
    ...(['project_paused', 'request_in_progress', 'idempotency_key_reused'] as const),
    ...(['notification_deleted', 'send_cap_reached', 'outcome_unknown'] as const),
  ],
  responses: {
    201: {
      description:
        'Every push has been attempted, or the time for it is over. The counts are final.',
      content: component('SendResult', sendResultSchema, {
        id: idField,
        ...countFields,
        failures: failuresField,
        unreached: unreachedField,
        usersNotReached:
          'The user ids to which no push was delivered, in the order of the request. Absent in a broadcast, ' +
          'and if every user was reached.',
        status:
          '`"stopped"` if the notification was [stopped](#stop-a-notification). Otherwise absent.',
        messageBytes: messageBytesField,
      }),
    },
    202: {
      description:
        'The delivery goes on: the request had `Prefer: respond-async`. A pace that is too slow for the audience ' +
        'is raised, so that the delivery takes 30 minutes.',
      content: component('AcceptedSend', acceptedSendSchema, {
        id: idField,
        status: statusField,
        messageBytes: messageBytesField,
      }),
      headers: {
        Location: {
          description: 'Address at which the counts can be read.',
          schema: { type: 'string', format: 'uri' },
        },
        'Preference-Applied': {
          description: 'The preference that was followed (RFC 7240).',
          schema: { type: 'string', const: 'respond-async' },
        },
      },
    },
  },
  examples: {
    broadcast: {
      summary: 'To every subscriber',
      request: {
        body: {
          title: 'Doors open at eight',
          body: 'Your seat is 14C.',
          url: 'https://example.com/tickets/14c',
          icon: 'https://example.com/icon.png',
        },
      },
      status: 201,
      response: {
        id: '5e0c7b0e-3c3f-4a54-9d53-0f5d9a3c7f10',
        attempted: 1,
        delivered: 1,
        removed: 0,
        failed: 0,
      },
    },
    targeted: {
      summary: 'To some user ids',
      request: { body: { title: 'Only for you', userIds: ['nobody-yet'] } },
      status: 201,
      response: {
        id: '9a1f3f6e-8f57-4a3e-a0be-0a3c0f0f2b55',
        attempted: 0,
        delivered: 0,
        removed: 0,
        failed: 0,
        usersNotReached: ['nobody-yet'],
      },
    },
    personal: {
      summary: 'A personal text for each user',
      request: {
        body: {
          title: 'Hello {{name}}',
          body: 'Your order {{order}} is on its way.',
          url: 'https://example.com/orders/{{order}}',
          recipients: [{ userId: 'nobody-yet', values: { name: 'Ada', order: '1042' } }],
        },
      },
      status: 201,
      response: {
        id: '0b8c1d52-7c0f-4b7e-9d35-5a4f6f3f1c20',
        attempted: 0,
        delivered: 0,
        removed: 0,
        failed: 0,
        usersNotReached: ['nobody-yet'],
      },
    },
    async: {
      summary: 'Without waiting for the delivery',
      request: { headers: { Prefer: 'respond-async' }, body: { title: 'Doors open at eight' } },
      status: 202,
      response: { id: '01936f0e-8a51-7c3e-9d53-0f5d9a3c7f10', status: 'sending' },
    },
    unauthorized: {
      summary: 'A wrong secret key',
      request: {
        headers: { Authorization: 'Bearer carillon_sk_wrong' },
        body: { title: 'Hello' },
      },
      status: 401,
      response: {
        error: {
          code: 'unauthorized',
          message:
            'This is not a secret key, which is "carillon_sk_" and 43 characters, nor a member key, "carillon_mk_" and 43. Copy it again.',
        },
      },
    },
    invalid: {
      summary: 'Two invalid fields',
      request: { body: { body: 'no title', userIds: [] } },
      status: 400,
      response: {
        error: {
          code: 'invalid_request',
          message: '"title" is required. There is more; see "issues".',
          issues: [
            { path: 'title', message: 'is required' },
            {
              path: 'userIds',
              message: 'must name at least one user id; leave the field out to broadcast',
            },
          ],
        },
      },
    },
  },
};
