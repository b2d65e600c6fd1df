import { type FailureReason, failureReasons } from '../../failure-reasons.ts';
import { limits } from '../../limits.ts';
import type { deliveryCountsSchema } from '../../schemas/delivery-counts.ts';
import type { notificationContentSchema } from '../../schemas/notification.ts';
import type { Fact, Fields } from '../described.ts';
import { sendOptionFields } from './send-option-fields.ts';

/** Facts of the fields that several operations have. */

/** @param ofUrl keywords of every URL without placeholders, besides its description. */
export function contentFields(ofUrl: Pick<Fact, 'format'> = {}) {
  const template = (use: string) => ({ description: `${use}: an absolute http or https URL.` });
  const url = (use: string) => ({ ...template(use), ...ofUrl });
  return {
    title: { description: 'The title of the notification.' },
    body: { description: 'The text below the title.' },
    url: template('Opened on click'),
    icon: url('Image beside the text'),
    image: template('Large image'),
    badge: url('Small image for the status bar'),
    ...sendOptionFields(url, template),
  } satisfies Fields<typeof notificationContentSchema>;
}

export const conditionFields = {
  channels: {
    description:
      `Only subscriptions that have [chosen](#subscribe) any of these channels, at most ${limits.channels}. A ` +
      'name given twice counts once.',
  },
  seenWithinDays: {
    description:
      'Only subscriptions that a [subscribe](#subscribe) request has confirmed within this many times 24 hours. ' +
      'One day is added, because the SDK confirms a subscription at most once a day.',
  },
} satisfies Record<'channels' | 'seenWithinDays', Fact>;

export const countFields: Fields<typeof deliveryCountsSchema> = {
  attempted: { description: 'Always `delivered + removed + failed`.' },
  delivered: { description: 'The push service accepted the message.' },
  removed: {
    description:
      'The push service reported the subscription as gone (404 or 410), and it was deleted.',
  },
  failed: { description: 'Everything else, after retries.' },
};

export const failuresField = {
  description:
    'The failures by their [reason](operating.md#logs), adding up to `failed`. Absent if there are none.',
  fields: reasonFields(),
};

function reasonFields() {
  const facts = Object.entries(failureReasons).map(([reason, description]) => [
    reason,
    { description },
  ]);
  return Object.fromEntries(facts) as Record<FailureReason, Fact>;
}

export const unreachedField: Fact = {
  description:
    'At least this many subscribers were not attempted, because the time ran out, the database failed, a ' +
    'function crashed or the notification was [stopped](#stop-a-notification). Absent if all were attempted. ' +
    'With `channels` or `seenWithinDays`, only those that were read are counted, and at least 1.',
};

export const idField: Fact = { description: 'The notification’s id: a UUID of version 7.' };

export const statusField: Fact = {
  description:
    '`sending`: functions work on it. `sent`: they have ended. `interrupted`: a function crashed, and ' +
    'nobody continues its work. `stopping`: it was [stopped](#stop-a-notification), and functions may ' +
    'still push. `stopped`: it was stopped, and they have ended.',
};
