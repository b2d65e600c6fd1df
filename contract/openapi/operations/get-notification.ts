import { limits } from '../../limits.ts';
import { notificationSchema } from '../../schemas/notification.ts';
import { asIn, component } from '../described.ts';
import type { Operation } from '../operation.ts';
import {
  contentOfResponse,
  countFields,
  failuresField,
  idField,
  statusField,
  unreachedField,
} from './notification-fields.ts';

/** A notification with its counts. */
export const notification = component('Notification', notificationSchema, {
  id: idField,
  ...asIn('the request of [send](#send)', contentOfResponse),
  audience: {
    description:
      '`"everyone"`, or what the send selected, such as ' +
      '`{ "users": 12, "channels": ["news"], "seenWithinDays": 30 }`. `users` is the number of user ids.',
  },
  status: statusField,
  sentAt: { description: 'RFC 3339 date-time.' },
  sentBy: {
    description: 'The member who sent it. Absent if it was sent with the secret key.',
  },
  ...asIn('the response of [send](#send)', {
    ...countFields,
    failures: failuresField,
    unreached: unreachedField,
  }),
  usersReached: {
    description:
      'The number of user ids with at least one delivered push. Absent while the status is `sending`, and for ' +
      'a broadcast.',
  },
  shown: {
    description: 'Events reported by browsers; with `shownSample`, the number of reports times it.',
  },
  clicked: { description: 'Events reported by browsers.' },
  shownSample: {
    description:
      'One in so many browsers reported `shown`, so that `shown` is an estimate. Present only if not each browser ' +
      'reports it: see [A sample of shown events](operating.md#a-sample-of-shown-events).',
  },
});

export const getNotification: Operation = {
  summary: 'Read a notification',
  description:
    'Returns a notification and its counts so far. While the status is `sending`, the counts of the ' +
    `last seconds may be missing. It is kept for ${limits.notificationRetentionDays} days.`,
  caller: 'your server',
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
