import { keyBytes, keyText } from './application-server-key.ts';
import { CarillonError } from './error.ts';
import { recall, remember } from './memory.ts';
import {
  deleteSubscription,
  onceOnly,
  type Patience,
  type ProjectAddress,
  postSubscription,
} from './service.ts';

/** Milliseconds. Chromium without a connection never settles `PushManager.subscribe()`. */
const subscribeTime = 30_000;
const retryPause = 1000;

/** Whether pushes to this subscription can only be signed by this key. */
export function hasKey(subscription: PushSubscription, key: string): boolean {
  const { applicationServerKey } = subscription.options;
  return applicationServerKey !== null && keyText(applicationServerKey) === key;
}

/**
 * The browser's subscription for this key: the one it holds, or a new one in its place.
 * @throws {CarillonError} `permission_denied`, `push_service_failed`, `timeout`.
 */
export async function subscribeBrowser(
  manager: PushManager,
  key: string,
): Promise<PushSubscription> {
  const held = await manager.getSubscription();
  if (held !== null && hasKey(held, key)) return held;
  // A browser has one subscription per worker, and refuses another key while there is one.
  await held?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: keyBytes(key) };
  const late = new Promise<never>((_, reject) => {
    const sentence = "The browser's push service does not answer.";
    setTimeout(() => reject(new CarillonError('timeout', sentence)), subscribeTime);
  });
  const subscribing = manager.subscribe(options).catch(async (error) => {
    // A push service that the browser was just connecting to is there at the second try.
    await new Promise((resolve) => setTimeout(resolve, retryPause));
    return manager.subscribe(options).catch(() => rethrow(error));
  });
  return Promise.race([subscribing, late]);
}

function rethrow(cause: unknown): never {
  const denied = (cause as Error).name === 'NotAllowedError';
  throw denied
    ? new CarillonError('permission_denied', 'Notifications are not allowed here.', { cause })
    : new CarillonError(
        'push_service_failed',
        `The browser gave no subscription: ${(cause as Error).message}`,
        { cause },
      );
}

/** Tells the service about the subscription, remembers that, and takes back what it replaces. */
export async function register(
  scope: string,
  project: ProjectAddress,
  subscription: PushSubscription,
  userId: string | undefined,
  patience: Patience,
): Promise<void> {
  const { endpoint } = subscription;
  const earlier = await recall(scope);
  await postSubscription(project, subscription.toJSON(), userId, patience);
  await remember(scope, { ...project, userId, endpoint, registeredAt: Date.now() });
  // Another `baseUrl` alone is the same service under another address: this very registration would
  // be deleted.
  const isReplaced = earlier?.endpoint !== endpoint || earlier.projectId !== project.projectId;
  // If this fails, the next send finds the old endpoint gone and removes it.
  if (earlier && isReplaced)
    deleteSubscription(earlier, earlier.endpoint, onceOnly).catch(() => {});
}
