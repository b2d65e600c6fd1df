import type { PusherOptions } from '../lambdas/push/pushing/pusher.ts';
import { ttl } from './sender-process.ts';

/** Longer than any benchmark. */
const deadlineMs = 600_000;

/** A pusher that only the push services limit, and whose subscriptions stay as they are. */
export function unlimitedPushing(message: Buffer): PusherOptions {
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
