import { announce } from './page-events.ts';
import {
  backgroundPauseMs,
  type Choices,
  deleteSubscription,
  type Failure,
  type MakeRequest,
  type ProjectAddress,
  postSubscription,
  requestOnce,
  type User,
} from './service.ts';
import {
  isDue,
  readFailures,
  readRegistration,
  storeFailures,
  storeRegistration,
  withLock,
} from './storage.ts';
import { retryPauseMs, timing } from './timing.ts';

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

/**
 * Runs work that nobody waits for, unless the pause after a failure has not ended. Failures are stored,
 * not thrown: without the pause, each page view would send another request to an overloaded service.
 * @returns milliseconds until the next attempt is allowed, undefined after a success.
 */
export function attemptInBackground(
  scope: string,
  work: () => Promise<void>,
  { now, random } = timing,
): Promise<number | undefined> {
  return withLock(async () => {
    const { count = 0, notBefore = 0 } = { ...(await readFailures(scope)) };
    const remainingMs = notBefore - now();
    if (remainingMs > 0) return remainingMs;
    try {
      await work();
      return undefined;
    } catch (error) {
      const { retryAfter } = error as Failure;
      const pauseMs = retryPauseMs(backgroundPauseMs, count + 1, retryAfter, random());
      await storeFailures(scope, { count: count + 1, notBefore: now() + pauseMs });
      return pauseMs;
    }
  });
}
