import { limits } from '../../limits.ts';
import { userSchema, userSubscriptionsSchema } from '../../schemas/user.ts';
import { component, described } from '../described.ts';
import type { Operation } from '../operation.ts';

/** Of the routes for one user. */
export const userIdParameter = {
  description: 'The user id as in [subscribe](#subscribe), URL-encoded.',
};

export const getUser: Operation = {
  summary: 'Read a user',
  description:
    'Returns the number of subscriptions of a user id, and lists them as devices. An unknown user has none.',
  caller: 'your server',
  query: described(userSchema, { userId: userIdParameter }),
  responses: {
    200: {
      description: 'The user.',
      content: component('UserSubscriptions', userSubscriptionsSchema, {
        userId: { description: 'As in the query.' },
        subscriptions: { description: 'Subscriptions of this user.' },
        devices: {
          description:
            `At most ${limits.devices}, the newest first. \`id\` is stable while the subscription exists; the SDK ` +
            'knows [that of its browser](sdk.md#devices). `pushService`: its [name](#push-services). `createdAt`: ' +
            'when the browser subscribed. `updatedAt`: when it last confirmed its subscription.',
          fields: {
            id: {
              description: 'For the removal of this device. It does not reveal the endpoint.',
            },
            pushService: {
              description: 'Its name; of another push service, its origin.',
            },
            createdAt: { description: 'When the browser subscribed.' },
            updatedAt: {
              description: 'When it last confirmed its subscription.',
            },
          },
        },
      }),
    },
  },
  examples: {
    count: {
      summary: 'A user without subscriptions',
      request: { query: { userId: 'ada' } },
      status: 200,
      response: { userId: 'ada', subscriptions: 0, devices: [] },
    },
  },
};
