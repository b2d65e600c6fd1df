import type * as z from 'zod/mini';
import { limits } from '../../limits.ts';
import type { sendOptions } from '../../schemas/notification-options.ts';
import type { Fact, Fields } from '../described.ts';

/**
 * @param url makes the fact of a URL from what it is used for.
 * @param template the same for one that may have placeholders.
 */
export function sendOptionFields(url: (use: string) => Fact, template: (use: string) => Fact) {
  return {
    ttl: {
      description:
        'Seconds for which the push service keeps the message for an offline browser; at most, and by ' +
        'default, four weeks. 0: only for browsers that are online.',
      default: limits.messageTtl,
    },
    urgency: { description: 'When a device that saves power receives it.', default: 'normal' },
    topic: {
      description:
        'The message replaces an earlier one of the same topic that the browser has not received yet. Push ' +
        'services see a hash only, another one for each subscription.',
    },
    tag: { description: 'The notification replaces one with the same tag on the screen.' },
    renotify: { description: 'Alerts again when the notification replaces one. Requires `tag`.' },
    requireInteraction: { description: 'The notification stays until the person acts.' },
    silent: { description: 'No sound and no vibration.' },
    actions: {
      description: 'Buttons. A click on one counts as `clicked`.',
      fields: {
        action: { description: 'A name that the other button does not have.' },
        title: { description: 'The text of the button.' },
        url: template('Opened on click instead of the `url` of the notification'),
        icon: url('Image of the button'),
      },
    },
    lang: { description: 'Language tag (BCP 47).' },
    dir: { description: 'Direction of the text.' },
    timestamp: { description: 'When it happened: an RFC 3339 date-time.' },
    data: {
      description:
        'An object for your own pages, at most ' +
        `${limits.dataBytes.toLocaleString('en')} bytes as JSON. See the [SDK](sdk.md#data-of-the-sender).`,
    },
    appBadge: { description: 'Number on the icon of your app. 0 removes it.' },
    worker: {
      description:
        'With `false`, Safari shows the message without your service worker and opens exactly `url`, but ' +
        'reports no events. Requires `url`.',
      default: true,
    },
  } satisfies Fields<z.ZodMiniObject<typeof sendOptions>>;
}
