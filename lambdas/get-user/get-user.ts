import { deviceMembers } from '../../contract/wire/fields.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';
import type { UserSubscriptions } from '../../contract/wire/user.ts';
import type { UserSubscription, UserSubscriptionList } from '../store/audience.ts';
import { deviceIdOf } from '../store/items.ts';

/** What the owner reads of a person's subscriptions. */
export function describeUser({ userId, count, newest }: UserSubscriptionList): UserSubscriptions {
  const devices = newest.toSorted((one, other) => other.createdAt - one.createdAt);
  return { userId: userId ?? null, subscriptions: count, devices: devices.map(deviceOf) };
}

function deviceOf(subscription: UserSubscription) {
  const { origin, path, createdAt, updatedAt } = subscription;
  return {
    id: deviceIdOf(origin + path),
    // Also of an origin that the deployment no longer accepts: its subscriptions are stored until a send.
    pushService: pushServiceOf(origin, []) ?? origin,
    ...Object.fromEntries(deviceMembers.map((name) => [name, subscription[name]])),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
