import * as z from 'zod';
import type { PushMessage } from '../../contract/message.ts';
import type { EventType } from '../../contract/schemas.ts';

/** The part of a message that beacons depend on. */
interface Reportable {
  readonly notification: {
    readonly data: Pick<PushMessage['notification']['data'], 'carillon' | 'events'>;
  };
}

const reportable = z.object({
  notification: z.object({
    data: z.object({ carillon: z.literal(1), events: z.url({ protocol: /^https?$/ }) }),
  }),
}) satisfies z.ZodType<Reportable>;

export class NothingToReportError extends Error {
  override readonly name = 'NothingToReportError';
}

/**
 * Does what the service worker does once a notification was shown or clicked: posts the beacon.
 * @param text the decrypted message.
 * @returns the service's answer.
 * @throws {NothingToReportError} if the message is not one of Carillon's.
 */
export function postBeacon(text: string, type: EventType): Promise<Response> {
  return fetch(readReportable(text).notification.data.events, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type }),
  });
}

function readReportable(text: string): Reportable {
  try {
    return reportable.parse(JSON.parse(text));
  } catch (cause) {
    const message = 'The last message does not say where its beacons go.';
    throw new NothingToReportError(message, { cause });
  }
}
