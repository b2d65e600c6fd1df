import { removedUserSchema } from '../../schemas/user.ts';
import { component } from '../described.ts';
import type { Operation } from '../operation.ts';
import { userQuery } from './get-user.ts';

export const removeUser: Operation = {
  summary: 'Remove a user',
  description:
    'Removes all subscriptions of a user id, for example when an account is deleted. Idempotent: for an ' +
    'unknown user it removes 0.',
  caller: 'your server',
  query: userQuery,
  responses: {
    200: {
      description: 'The user has no subscriptions any more.',
      content: component('RemovedUser', removedUserSchema, {
        removed: { description: 'Subscriptions that this request removed.' },
      }),
    },
  },
  examples: {
    remove: {
      summary: 'A user without subscriptions',
      request: { query: { userId: 'ada' } },
      status: 200,
      response: { removed: 0 },
    },
  },
};
