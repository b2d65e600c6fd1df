import { sliceTimeline } from '../../timeline.ts';
import type { Operation } from '../operation.ts';
import { getNotification, notification } from './get-notification.ts';

export const stopNotification: Operation = {
  summary: 'Stop a notification',
  description:
    'Ends the delivery of a notification: no push, retries included, starts later than ' +
    `${sliceTimeline.lastPushAfterStopMs / 1000} s after the response. Subscribers that were not attempted ` +
    'count as `unreached`. The notification still counts in its month. Idempotent: a notification whose ' +
    'delivery has ended is returned unchanged.',
  caller: 'your server',
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
