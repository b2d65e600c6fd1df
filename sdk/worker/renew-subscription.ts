import { attemptInBackground } from '../common/attempt-in-background.ts';
import { requestOnce, type User } from '../common/service.ts';
import { readRegistration } from '../common/storage.ts';
import { hasKey, registerSubscription, subscribeBrowser } from '../common/subscription.ts';
import { timing } from '../common/timing.ts';
import { attemptWhileRunning } from './attempt-while-running.ts';

/** The event's members. Some browsers leave them out or set them to null. */
interface SubscriptionChange {
  readonly oldSubscription?: PushSubscription | null;
}

/**
 * Replaces a subscription that the browser has ended, and registers the new one. Until then no push
 * arrives, and the next page view may be days away: so the worker retries for as long as it may run.
 */
export function renewSubscription(
  registration: ServiceWorkerRegistration,
  change: SubscriptionChange,
): Promise<void> {
  const attempt = () =>
    attemptInBackground(registration.scope, () => renewOnce(registration, change));
  return attemptWhileRunning(attempt, timing);
}

async function renewOnce(
  { scope, pushManager }: ServiceWorkerRegistration,
  { oldSubscription }: SubscriptionChange,
): Promise<void> {
  const stored = await readRegistration(scope);
  if (stored === undefined) return;
  const { userId, userIdSignature, channels, applicationServerKey } = stored;
  // In a site's own worker, the change may concern another sender's subscription.
  if (oldSubscription && !hasKey(oldSubscription, applicationServerKey)) return;
  const subscription = await subscribeBrowser(pushManager, applicationServerKey);
  const user: User = { userId, userIdSignature, channels };
  await registerSubscription(scope, stored, subscription, user, requestOnce);
}
