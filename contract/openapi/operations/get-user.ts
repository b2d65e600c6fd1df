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
    'Returns how many subscriptions a user id has, and lists them as devices: a browser has one subscription to a ' +
    'project. An unknown user has none.',
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
            `At most ${limits.devices} of them, the newest first. \`id\` is the same as long as the subscription ` +
            'exists; the SDK knows [that of its browser](sdk.md#devices). `pushService` is the name of its ' +
            '[push service](#push-services). `createdAt`: when the browser subscribed. `updatedAt`: when it last ' +
            'confirmed that, with the SDK about once a day while it visits the site.',
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
