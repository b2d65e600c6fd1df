import * as z from 'zod/mini';
import { limits } from '../../limits.ts';
import { eventCounterSchema, eventSchema } from '../../schemas/event.ts';
import { component, described } from '../described.ts';
import type { Operation } from '../operation.ts';
import { ok } from './subscribe.ts';

export const track: Operation = {
  summary: 'Track',
  description:
    'Counts an event of a notification: it was shown or clicked. The SDK’s service worker calls it.',
  caller: 'the service worker',
  query: described(z.object({ tally: eventCounterSchema }), {
    tally: {
      description:
        'Part of the events URL in a large broadcast’s message: the counter of the event. Use the URL as it is. ' +
        'An unknown tally is `notification_not_found`.',
    },
  }),
  body: {
    content: component('Event', eventSchema, { type: { description: 'What happened.' } }),
    limitBytes: limits.bodyBytes.track,
    mediaTypes: ['application/json', 'text/plain'],
  },
  responses: { 200: { description: 'The event is counted.', content: ok } },
  examples: {
    shown: {
      summary: 'The notification was shown',
      request: { body: { type: 'shown' } },
      status: 200,
      response: { ok: true },
    },
  },
};
