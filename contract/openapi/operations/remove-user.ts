import { removedUserSchema, removeUserSchema } from '../../schemas/user.ts';
import { component, described } from '../described.ts';
import type { Operation } from '../operation.ts';
import { userIdParameter } from './get-user.ts';

export const removeUser: Operation = {
  summary: 'Remove a user',
  description:
    'Removes all subscriptions of a user id, or one device. Idempotent: for an unknown user it removes 0. ' +
    'Unknown parameters are refused, because a mistyped `device` would remove all.',
  caller: 'your server',
  query: described(removeUserSchema, {
    userId: userIdParameter,
    device: {
      description:
        'Removes only this device: an `id` of [the user’s devices](#read-a-user). A device that the user does not ' +
        'have removes 0.',
    },
  }),
  responses: {
    200: {
      description: 'The user does not have the subscriptions any more.',
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
    device: {
      summary: 'A device that the user does not have',
      request: {
        query: { userId: 'ada', device: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' },
      },
      status: 200,
      response: { removed: 0 },
    },
  },
};
