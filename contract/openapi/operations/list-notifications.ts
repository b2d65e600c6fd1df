import * as z from 'zod/mini';
import { limits } from '../../limits.ts';
import { notificationListSchema } from '../../schemas/notification.ts';
import { notificationListQuerySchema } from '../../schemas/notification-list.ts';
import { component, described } from '../described.ts';
import type { Operation } from '../operation.ts';
import { getNotification, notification } from './get-notification.ts';

/** As a caller sees it: the service reads the digits of the query. */
const limit = z._default(z.int().check(z.positive(), z.lte(limits.largestPage)), limits.page);
const { cursor } = notificationListQuerySchema.shape;

export const listNotifications: Operation = {
  summary: 'List notifications',
  description: 'Returns the project’s notifications, the newest first.',
  caller: 'your server',
  query: described(z.object({ limit, cursor }), {
    limit: { description: 'Most notifications in the response.' },
    cursor: { description: '`nextCursor` of the previous response. The first page needs none.' },
  }),
  responses: {
    200: {
      description: 'A page of the list.',
      content: component('NotificationList', notificationListSchema, {
        notifications: {
          description: 'Each as in the response of [read a notification](#read-a-notification).',
          component: notification,
        },
        nextCursor: { description: 'Where the next page starts; absent on the last page.' },
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
