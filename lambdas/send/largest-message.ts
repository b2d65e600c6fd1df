import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { eventCounterUrl, pushMessage } from '../../contract/message.ts';
import { rendered } from '../../contract/placeholders.ts';
import type { StoredNotification } from '../store/notifications.ts';
import { type Audience, eventWindowSeconds } from './divide.ts';

/**
 * Makes the longest message, that of the last event counter; of each recipient, if they have values.
 * @returns the bytes of the largest one.
 * @throws {ServiceError} `payload_too_large`.
 */
export function largestMessage(
  { id, content, division }: StoredNotification,
  audience: Audience,
  eventsUrl: string,
): number {
  const lastCounter = division.slices * division.countersPerSlice - 1;
  const url = eventCounterUrl(eventsUrl, lastCounter);
  const windowSeconds = eventWindowSeconds(division.subscribers ?? division.users ?? 0);
  const values = 'userIds' in audience ? audience.values : undefined;
  let largest = 0;
  for (const [index, one] of (values ?? [{}]).entries()) {
    const own = values ? rendered(content, one) : content;
    const message = pushMessage(id, own, url, windowSeconds, division.shownSample === undefined);
    const bytes = Buffer.byteLength(JSON.stringify(message));
    largest = Math.max(largest, bytes);
    const excess = bytes - limits.messageBytes;
    if (excess <= 0) continue;
    const which = values === undefined ? '' : ` for recipients[${index}]`;
    throw new ServiceError(
      'payload_too_large',
      `The notification${which} is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
    );
  }
  return largest;
}
