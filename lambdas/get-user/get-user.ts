import { pushServiceOf } from '../../contract/wire/push-services.ts';
import type { UserSubscriptions } from '../../contract/wire/user.ts';
import type { UserSubscription, UserSubscriptionList } from '../store/audience.ts';
import { deviceIdOf } from '../store/items.ts';

/** What the owner reads of a person's subscriptions. */
export function describeUser({ userId, count, newest }: UserSubscriptionList): UserSubscriptions {
  const devices = newest.toSorted((one, other) => other.createdAt - one.createdAt);
  return { userId: userId ?? null, subscriptions: count, devices: devices.map(deviceOf) };
}

function deviceOf({ origin, path, locale, createdAt, updatedAt }: UserSubscription) {
  return {
    id: deviceIdOf(origin + path),
    // Also of an origin that the deployment no longer accepts: its subscriptions are stored until a send.
    pushService: pushServiceOf(origin, []) ?? origin,
    locale,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
