import * as z from 'zod';
import type { PushMessage } from '../../contract/message.ts';
import type { EventType } from '../../contract/schemas/event.ts';

/** The part of a push message that a beacon needs. */
interface ReportableMessage {
  readonly notification: {
    readonly data: Pick<PushMessage['notification']['data'], 'carillon' | 'events'>;
  };
}

const reportableSchema = z.object({
  notification: z.object({
    data: z.object({ carillon: z.literal(1), events: z.url({ protocol: /^https?$/ }) }),
  }),
}) satisfies z.ZodType<ReportableMessage>;

export class NothingToReportError extends Error {
  override readonly name = 'NothingToReportError';
}

/**
 * Posts the beacon that a service worker posts after a notification was shown or clicked: text, for
 * which browsers send no preflight.
 * @param text the decrypted message.
 * @returns the service's response.
 * @throws {NothingToReportError} if Carillon did not send the message.
 */
export function postBeacon(
  text: string,
  type: EventType,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(parseMessage(text).notification.data.events, {
    method: 'POST',
    headers,
    body: JSON.stringify({ type }),
  });
}

function parseMessage(text: string): ReportableMessage {
  try {
    return reportableSchema.parse(JSON.parse(text));
  } catch (cause) {
    const message = 'The last message has no events URL: Carillon did not send it.';
    throw new NothingToReportError(message, { cause });
  }
}
