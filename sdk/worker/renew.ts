import { exclusively } from '../common/exclusively.ts';
import { recall } from '../common/memory.ts';
import { hasKey, register, subscribeBrowser } from '../common/subscription.ts';

/** Members that browsers leave out, or null, when they do not know them. */
interface SubscriptionChange {
  readonly oldSubscription?: PushSubscription | null;
}

/** Replaces a subscription that the browser has ended, and registers the new one in its place. */
export function renew(
  { scope, pushManager }: ServiceWorkerRegistration,
  { oldSubscription }: SubscriptionChange,
): Promise<void> {
  return exclusively(async () => {
    const known = await recall(scope);
    if (known === undefined) return;
    const { userId, applicationServerKey } = known;
    // In a site's own worker, the change may concern another sender's subscription.
    if (oldSubscription && !hasKey(oldSubscription, applicationServerKey)) return;
    const subscription = await subscribeBrowser(pushManager, applicationServerKey);
    await register(scope, known, subscription, userId);
  });
}
