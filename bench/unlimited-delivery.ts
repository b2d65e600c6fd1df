import type { DeliveryOptions } from '../lambdas/push/delivery/delivery.ts';
import { ttl } from './sender-process.ts';

/** Longer than any delivery of a benchmark. */
const deadlineMs = 600_000;

/** A delivery that only the push services limit, and whose subscriptions stay as they are. */
export function unlimitedDelivery(message: Buffer): DeliveryOptions {
  const endAt = Date.now() + deadlineMs;
  return {
    messages: [message],
    options: { ttl },
    times: { lastPushAt: endAt, lastRetryAt: endAt, endAt },
    isAwaited: true,
    pushesPerSecond: Number.POSITIVE_INFINITY,
    removalGroup: () => 0,
    remove: async () => {},
    correctPair: async () => {},
  };
}
