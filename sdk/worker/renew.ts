import { inBackground } from '../common/in-background.ts';
import { recall } from '../common/memory.ts';
import { onceOnly } from '../common/service.ts';
import { hasKey, register, subscribeBrowser } from '../common/subscription.ts';

/** Members that browsers leave out, or null, when they do not know them. */
interface SubscriptionChange {
  readonly oldSubscription?: PushSubscription | null;
}

/** Firefox ends a worker 60 s after its event, and a request may take 15 s. */
const lastAttemptMs = 45_000;

/**
 * Replaces a subscription that the browser has ended, and registers the new one in its place. No
 * push arrives before, and the next page view may be days away: so the worker tries again while it
 * may run.
 */
export async function renew(
  registration: ServiceWorkerRegistration,
  change: SubscriptionChange,
): Promise<void> {
  const end = Date.now() + lastAttemptMs;
  for (;;) {
    const pauseMs = await inBackground(registration.scope, () => attempt(registration, change));
    if (pauseMs === 0 || Date.now() + pauseMs > end) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function attempt(
  { scope, pushManager }: ServiceWorkerRegistration,
  { oldSubscription }: SubscriptionChange,
): Promise<void> {
  const known = await recall(scope);
  if (known === undefined) return;
  const { userId, applicationServerKey } = known;
  // In a site's own worker, the change may concern another sender's subscription.
  if (oldSubscription && !hasKey(oldSubscription, applicationServerKey)) return;
  const subscription = await subscribeBrowser(pushManager, applicationServerKey);
  await register(scope, known, subscription, userId, onceOnly);
}
