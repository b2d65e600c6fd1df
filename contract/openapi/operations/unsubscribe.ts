import { unsubscribeSchema } from '../../schemas/subscription.ts';
import { described } from '../described.ts';
import type { Operation } from '../operation.ts';
import { endpointRules, ok } from './subscribe.ts';

export const unsubscribe: Operation = {
  summary: 'Unsubscribe a browser',
  description:
    'Removes one subscription, that of the `endpoint`. Idempotent: an unknown endpoint also returns 200.',
  caller: 'a browser',
  query: described(unsubscribeSchema, {
    endpoint: { description: `The endpoint, URL-encoded; ${endpointRules}`, format: 'uri' },
  }),
  responses: { 200: { description: 'The subscription does not exist any more.', content: ok } },
  examples: {
    unsubscribe: {
      summary: 'By endpoint',
      request: {
        query: { endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/an-example' },
      },
      status: 200,
      response: { ok: true },
    },
  },
};
