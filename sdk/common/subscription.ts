import { encodeKey } from './application-server-key.ts';
import { announce } from './page-events.ts';
import { isDue } from './registration.ts';
import {
  deleteSubscription,
  type Failure,
  type MakeRequest,
  type ProjectAddress,
  postSubscription,
  requestOnce,
  type User,
} from './service.ts';
import { readRegistration, storeRegistration } from './storage.ts';

/** Chromium without a connection never settles `PushManager.subscribe()`. */
const subscribeTimeoutMs = 30_000;
const subscribeRetryPauseMs = 1000;

/** Whether the subscription was made with this application server key. */
export function hasKey(subscription: PushSubscription, key: string): boolean {
  const { applicationServerKey } = subscription.options;
  return applicationServerKey !== null && encodeKey(applicationServerKey) === key;
}

/**
 * Returns the browser's subscription for this key. Replaces a subscription made with another key.
 * @throws what the browser's `subscribe()` throws, or a `TimeoutError`.
 */
export async function subscribeBrowser(
  manager: PushManager,
  key: string,
): Promise<PushSubscription> {
  const current = await manager.getSubscription();
  if (current !== null && hasKey(current, key)) return current;
  // A service worker has at most one subscription, and `subscribe()` rejects another key until it ends.
  await current?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const timeout = new Promise<never>((_, reject) => {
    const sentence = 'no response from its push service.';
    setTimeout(() => reject(new DOMException(sentence, 'TimeoutError')), subscribeTimeoutMs);
  });
  const subscribing = manager.subscribe(options).catch(async (error) => {
    // The first call fails while the browser is still connecting to its push service.
    await new Promise((resolve) => setTimeout(resolve, subscribeRetryPauseMs));
    return manager.subscribe(options).catch(() => {
      throw error;
    });
  });
  return Promise.race([subscribing, timeout]);
}

/**
 * Registers the subscription with the service, after it has removed the one that it replaces: at the
 * subscriber cap there is room for one of them.
 */
export async function registerSubscription(
  scope: string,
  project: ProjectAddress,
  subscription: PushSubscription,
  user: User,
  makeRequest: MakeRequest,
): Promise<void> {
  const { endpoint } = subscription;
  const earlier = await readRegistration(scope);
  // A registration that differs only in `baseUrl` is not deleted: both addresses may belong to the same
  // service, which would then delete the new registration.
  const isReplaced = earlier?.endpoint !== endpoint || earlier.projectId !== project.projectId;
  if (earlier && isReplaced) {
    // If this fails, the next send finds the old endpoint gone and removes it.
    await deleteSubscription(earlier, earlier.endpoint, requestOnce).catch(() => {});
  }
  let registered: User = user;
  await postSubscription(project, subscription.toJSON(), user, makeRequest).catch(
    (failure: Failure) => {
      // Only a failure in the background has a response.
      if (!isReplaced || failure.response?.status !== 403) throw failure;
      // The signature of the user id may be refused: a new subscription without its user is better than none.
      registered = { channels: user.channels };
      return postSubscription(project, subscription.toJSON(), registered, makeRequest);
    },
  );
  await storeRegistration(scope, { ...project, ...registered, endpoint, registeredAt: Date.now() });
  if (isReplaced || isDue(earlier, registered, 0)) announce(scope);
}
