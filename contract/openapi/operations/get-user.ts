import { userSchema, userSubscriptionsSchema } from '../../schemas/user.ts';
import { component, described } from '../described.ts';
import type { Operation } from '../operation.ts';

/** Query of the routes for one user. */
export const userQuery = described(userSchema, {
  userId: { description: 'The user id as in [subscribe](#subscribe), URL-encoded.' },
});

export const getUser: Operation = {
  summary: 'Count a user’s subscriptions',
  description: 'Returns how many subscriptions a user id has. An unknown user has 0.',
  caller: 'your server',
  query: userQuery,
  responses: {
    200: {
      description: 'The count.',
      content: component('UserSubscriptions', userSubscriptionsSchema, {
        userId: { description: 'As in the query.' },
        subscriptions: { description: 'Subscriptions of this user.' },
      }),
    },
  },
  examples: {
    count: {
      summary: 'A user without subscriptions',
      request: { query: { userId: 'ada' } },
      status: 200,
      response: { userId: 'ada', subscriptions: 0 },
    },
  },
};
