import { deliverEventSchema } from '../../contract/share.ts';

/**
 * Delivers one share of an audience.
 * @throws if the event is invalid, which only a fault in send can cause.
 */
export async function handler(event: unknown): Promise<object> {
  deliverEventSchema.parse(event);
  return {};
}
