import * as z from 'zod/mini';
import { eventCounterSchema, eventSchema } from '../../wire/event.ts';
import { choiceFields, choiceNames } from '../../wire/fields.ts';
import { limits } from '../../wire/limits.ts';
import { okSchema, subscribeSchema, unsubscribeSchema } from '../../wire/subscription.ts';
import { choiceTexts } from '../field-texts.ts';
import type { Operation } from './operation.ts';
import { component, described } from './schema.ts';

/** Response of subscribe, unsubscribe and track. Not `Ok`: languages have a type of this name. */
export const ok = component('Success', okSchema, { ok: 'Always `true`.' });

/** Base64 or base64url, padded or not. */
const base64 = '^[A-Za-z0-9+/_-]*={0,2}$';

const endpointRules = 'without user name, password or fragment. Its length counts percent-encoded.';

// The signature stands beside what it signs.
const { userId, ...otherChoices } = choiceTexts;

const carriedAlong = choiceNames
  .filter((name) => !choiceFields[name].isChosen)
  .map((name) => `its \`${name}\``);

export const subscribe: Operation = {
  summary: 'Subscribe',
  description:
    'Registers a browser’s subscription, or updates the one with the same `endpoint`. The output of ' +
    '`PushSubscription.toJSON()` can be posted unchanged: fields that are not listed here are ignored.',
  body: {
    content: component('Subscription', subscribeSchema([]), {
      endpoint: {
        description: `URL on an [accepted push service](#push-services), ${endpointRules}`,
        format: 'uri',
      },
      keys: {
        description:
          'The browser’s keys, in base64url or standard base64, with or without padding.',
        fields: {
          p256dh: {
            description: 'The public key: 65 bytes, an uncompressed point on P-256.',
            pattern: base64,
          },
          auth: { description: 'The secret: 16 bytes.', pattern: base64 },
        },
      },
      userId,
      userIdSignature:
        '[Proof](user-ids.md) of the `userId`: its HMAC-SHA-256 with the project’s identity key, 43 characters ' +
        'of base64url. Checked if present. A project can require it.',
      ...otherChoices,
      applicationServerKey: {
        description:
          'The key with which the browser subscribed, current or previous: base64url of 65 bytes. Without it, a ' +
          'new endpoint is assumed to have the current key, and a known one keeps its key.',
        pattern: base64,
      },
      renewal:
        '`true`: the page repeats what was registered before. What the request leaves out stays as it is stored, and a ' +
        'browser that was [erased](#remove-a-user) gets 410. Without it, the request is a consent: it ends the erasure.',
      replaces: {
        description:
          'The endpoint that the browser had before. If `endpoint` is new, it takes the place of this one, with ' +
          `${carriedAlong.join(', ')} and the time of the first registration, also at the subscriber cap. A renewal is ` +
          'refused if this one was erased.',
        format: 'uri',
      },
    }),
    limitBytes: limits.bodyBytes.subscribe,
  },
  errors: [
    'subscriber_cap_reached',
    'user_id_signature_required',
    'user_id_signature_invalid',
    'application_server_key_unknown',
    'erased',
  ],
  responses: { 201: { description: 'The subscription is stored.', content: ok } },
  examples: {
    subscribe: {
      summary: 'The output of PushSubscription.toJSON(), and a user id',
      request: {
        body: {
          endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/an-example',
          expirationTime: null,
          keys: {
            p256dh:
              'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
            auth: 'BTBZMqHH6r4Tts7J_aSIgg',
          },
          userId: 'ada',
        },
      },
      status: 201,
      response: { ok: true },
    },
  },
};

export const unsubscribe: Operation = {
  summary: 'Unsubscribe a browser',
  description:
    'Removes one subscription, that of the `endpoint`. Idempotent: an unknown endpoint also returns 200.',
  query: described(unsubscribeSchema, {
    endpoint: { description: `The endpoint, URL-encoded; ${endpointRules}`, format: 'uri' },
  }),
  responses: { 200: { description: 'The subscription no longer exists.', content: ok } },
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

export const track: Operation = {
  summary: 'Track',
  description:
    'Counts an event of a notification: it was shown or clicked. The SDK’s service worker calls it.',
  query: described(z.object({ tally: eventCounterSchema }), {
    tally:
      'Part of the events URL in a large broadcast’s message: the counter of the event. Use the URL as it is. ' +
      'An unknown tally is `notification_not_found`.',
  }),
  body: {
    content: component('NotificationEvent', eventSchema, { type: 'What happened.' }),
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
