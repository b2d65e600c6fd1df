import { limits } from '../../contract/wire/limits.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';
import type { UserSubscriptions } from '../../contract/wire/user.ts';
import type { UserSubscription } from '../store/audience.ts';
import { deviceIdOf } from '../store/items.ts';

/** What the owner reads of a user's subscriptions. */
export function describeUser(
  userId: string,
  subscriptions: readonly UserSubscription[],
): UserSubscriptions {
  const newest = subscriptions.toSorted((one, other) => other.createdAt - one.createdAt);
  return {
    userId,
    subscriptions: subscriptions.length,
    devices: newest.slice(0, limits.devices).map(deviceOf),
  };
}

function deviceOf({ origin, path, createdAt, updatedAt }: UserSubscription) {
  return {
    id: deviceIdOf(origin + path),
    // Also of an origin that the deployment no longer accepts: its subscriptions are stored until a send.
    pushService: pushServiceOf(origin, []) ?? origin,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
