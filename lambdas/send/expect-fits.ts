import { ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { pushMessage, tallyUrl } from '../../contract/message.ts';
import { tallyNumbers } from '../store/items.ts';
import type { NewNotification } from '../store/send-writes.ts';
import { eventWindowSeconds } from './divide.ts';

/**
 * Checks the longest message, that of the last tally.
 * @throws {ServiceError} `payload_too_large`.
 */
export function expectFits({ id, content, division }: NewNotification, eventsUrl: string): void {
  const lastTally = tallyNumbers(division).length - 1;
  const windowSeconds = eventWindowSeconds(division.subscribers ?? division.users ?? 0);
  const message = JSON.stringify(
    pushMessage(id, content, tallyUrl(eventsUrl, lastTally), windowSeconds),
  );
  const excess = Buffer.byteLength(message) - limits.messageBytes;
  if (excess <= 0) return;
  throw new ServiceError(
    'payload_too_large',
    `The notification is ${excess} bytes too large for one push message; shorten its texts or URLs.`,
  );
}
