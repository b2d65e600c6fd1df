import { limits } from '../../wire/limits.ts';
import { type PublicName, publicNames, publicSettings, withDefaults } from '../../wire/project.ts';
import { countedDays, projectQuerySchema, projectSchema } from '../../wire/project-result.ts';
import {
  removedUserSchema,
  removeUserSchema,
  userSchema,
  userSubscriptionsSchema,
} from '../../wire/user.ts';
import { deviceTexts } from '../field-texts.ts';
import { settingTexts } from '../setting-texts.ts';
import type { Operation } from './operation.ts';
import { component, described } from './schema.ts';

function dayFields() {
  const facts = countedDays.map((days) => [days, `In ${days} days.`]);
  return Object.fromEntries(facts) as Record<(typeof countedDays)[number], string>;
}

const publicTexts = Object.fromEntries(
  publicNames.map((name) => [name, settingTexts[name].description]),
) as Record<PublicName, string>;

export const getProject: Operation = {
  summary: 'Read a project',
  description: 'Returns a project, its caps and its usage.',
  query: described(projectQuerySchema, {
    sample: '`subscribers` adds `sample`: counts of up to 1,000 subscriptions.',
  }),
  responses: {
    200: {
      description: 'The project.',
      content: component('Project', projectSchema, {
        projectId: 'The project’s public name.',
        ...publicTexts,
        applicationServerKey: 'Base64url. Browsers subscribe with it.',
        subscribers: 'Subscribers now.',
        subscriberCap: 'The most subscribers; `null` if there is no cap.',
        sentThisMonth: 'Notifications in `month`.',
        monthlySendCap: 'The most notifications in a month; `null` if there is no cap.',
        month: 'The current UTC month.',
        rateLimitPerMinute:
          'Requests per minute and action that one address may make; `null` if there is no limit.',
        rateLimits:
          'Limits of actions that have their own, by `operationId`. Absent if no action has one.',
        access:
          'Whose key the request has. `role` is `owner` for the secret key, otherwise the role of the member `name`.',
        createdAt: 'RFC 3339 date-time.',
        sample: {
          description:
            'Counts of a sample of the subscribers; expect the same percentages of all. `subscribers`: its size. ' +
            '`seenWithinDays`: how many a send with 7, 30, 90 or 365 would select. `channels`, `locales`: how many have ' +
            'each. `pushServices`: by [name](#push-services), `subscribers` and `seenWithin30Days`. Present only with ' +
            '`?sample=subscribers`.',
          fields: {
            subscribers: 'Subscribers in the sample.',
            seenWithinDays: {
              description: 'Those that a send with this value of `seenWithinDays` would select.',
              fields: dayFields(),
            },
            channels: 'By the name of the channel; the 50 that most have.',
            locales:
              'By language tag; the 50 that most have. `de-CH` counts for `de` too, as in a send.',
            pushServices:
              'By the name of the push service: its subscribers, and how many of them the SDK has seen within 30 ' +
              'days. Apple also accepts messages for browsers that nobody has any more.',
          },
        },
      }),
    },
  },
  examples: {
    read: {
      summary: 'A project with both caps',
      request: {},
      status: 200,
      response: {
        projectId: 'my-site',
        ...publicSettings(withDefaults({ name: 'my-site' })),
        applicationServerKey:
          'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        subscribers: 1,
        subscriberCap: 100_000,
        sentThisMonth: 6,
        monthlySendCap: 10_000,
        month: '2026-11',
        rateLimitPerMinute: 60,
        createdAt: '2026-11-01T09:00:00.000Z',
        access: { role: 'owner' },
      },
    },
  },
};

/** The query of the routes for one person. */
const userIdParameter = {
  description: 'The user id as in [subscribe](#subscribe), URL-encoded.',
};
const personParameters = {
  userId: userIdParameter,
  device: 'The `id` of a device: with `userId` only if it is one of [that user’s](#read-a-user).',
  endpoint: {
    description: 'In place of both: the endpoint of a browser, URL-encoded.',
    format: 'uri',
  },
};

export const getUser: Operation = {
  summary: 'Read a user',
  description:
    'Returns the number of subscriptions of a user id, and lists them as devices; or one device, by its id or its ' +
    'endpoint. An unknown user has none.',
  query: described(userSchema, personParameters),
  responses: {
    200: {
      description: 'The user.',
      content: component('UserSubscriptions', userSubscriptionsSchema, {
        userId: 'As in the query; of a device, its user. `null`: it has none.',
        subscriptions: 'Subscriptions of this user.',
        devices: {
          description:
            `At most ${limits.devices}, the newest first. \`id\` is stable while the subscription exists; the SDK ` +
            'knows [that of its browser](sdk.md#the-client). `pushService` is its [name](#push-services), `createdAt` ' +
            'when the browser subscribed, `updatedAt` when it last confirmed its subscription.',
          fields: {
            id: 'For the removal of this device. It does not reveal the endpoint.',
            pushService: 'Its name; of another push service, its origin.',
            ...deviceTexts,
            createdAt: 'When the browser subscribed.',
            updatedAt: 'When it last confirmed its subscription.',
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

export const removeUser: Operation = {
  summary: 'Remove a user',
  description:
    'Erases all subscriptions of a user id, or one device. Idempotent: for an unknown user it removes 0. Of each, a hash ' +
    `of its endpoint stays for ${limits.erasureDays} days: the browser is not [registered again](user-ids.md#erasing-a-person) ` +
    'until its visitor subscribes. ' +
    'Unknown parameters are refused, because a mistyped `device` would remove all.',
  query: described(removeUserSchema, personParameters),
  responses: {
    200: {
      description: 'The user no longer has the subscriptions.',
      content: component('RemovedUser', removedUserSchema, {
        removed: 'Subscriptions that this request removed.',
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
