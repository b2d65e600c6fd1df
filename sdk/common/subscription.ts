import { encodeKey } from './application-server-key.ts';
import { announce } from './page-events.ts';
import { isDue } from './registration.ts';
import {
  type Choices,
  deleteSubscription,
  type Failure,
  type MakeRequest,
  type ProjectAddress,
  postSubscription,
  requestOnce,
  type User,
} from './service.ts';
import { readRegistration, storeRegistration } from './storage.ts';
import { timing } from './timing.ts';

/** Chromium without a connection never settles `PushManager.subscribe()`. */
const subscribeTimeoutMs = 30_000;
const subscribeRetryPauseMs = 1000;

/** Whether the subscription was made with this application server key. */
export function hasKey(subscription: PushSubscription, key: string): boolean {
  const { applicationServerKey } = subscription.options;
  return applicationServerKey !== null && encodeKey(applicationServerKey) === key;
}

/**
 * Whether nobody can push to this endpoint: `https://permanently-removed.invalid/…`, which some versions of Edge for
 * Android give out. No host has a name in `.invalid` (RFC 6761 §6.4).
 */
export function isDead({ endpoint }: { readonly endpoint: string }): boolean {
  return new URL(endpoint).host.endsWith('.invalid');
}

/** Whether pushes with this application server key can reach the subscription. */
export function isUsable(subscription: PushSubscription, key: string): boolean {
  return hasKey(subscription, key) && !isDead(subscription);
}

/**
 * Returns the browser's subscription for this key. Replaces one that is not usable.
 * @throws what the browser's `subscribe()` throws, a `TimeoutError`, or an error if the browser has no endpoint.
 */
export async function subscribeBrowser(
  manager: PushManager,
  key: string,
): Promise<PushSubscription> {
  const current = await manager.getSubscription();
  if (current && isUsable(current, key)) return current;
  // A service worker has at most one subscription, and `subscribe()` rejects another key until it ends.
  await current?.unsubscribe();
  const timeout = timing.wait(subscribeTimeoutMs).then(() => {
    throw new DOMException('no response from its push service.', 'TimeoutError');
  });
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const attempt = async () => {
    // Firefox for Android resolves to null if its push service refuses.
    const subscription: PushSubscription | null = await manager.subscribe(options);
    if (subscription && !isDead(subscription)) return subscription;
    await subscription?.unsubscribe();
    throw new Error('no endpoint; update it, or use another.');
  };
  // The first call fails while the browser is still connecting to its push service.
  const retry = () => timing.wait(subscribeRetryPauseMs).then(attempt);
  return Promise.race([attempt().catch(retry), timeout]);
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
  const post = async (registered: User | Choices) => {
    await postSubscription(project, subscription.toJSON(), registered, makeRequest);
    return registered;
  };
  const registered = await post(user).catch((failure: Failure) => {
    // Only a failure in the background has a response.
    if (!isReplaced || failure.response?.status !== 403) throw failure;
    // The signature of the user id may be refused: a new subscription without its user is better than none.
    return post({ channels: user.channels });
  });
  await storeRegistration(scope, { ...project, ...registered, endpoint, registeredAt: Date.now() });
  if (isReplaced || isDue(earlier, registered, 0)) announce(scope);
}
