import { announce } from './page-events.ts';
import {
  backgroundPauseMs,
  deleteSubscription,
  type Failure,
  type MakeRequest,
  type ProjectAddress,
  postSubscription,
  requestOnce,
  type SignedChoice,
} from './service.ts';
import {
  isChanged,
  type Registration,
  readFailures,
  storeFailures,
  storeRegistration,
} from './storage.ts';
import { pauseAfterMs, remainingMs, timing } from './timing.ts';

/**
 * Registers the subscription with the service, and stores that. Call it in the lock.
 * @param registration the project, and what to register there.
 * @param earlier the stored registration. It is deleted only when nothing can be lost by that.
 * @param renewal as for {@link postSubscription}. Undefined: the visitor has asked for this registration.
 */
export async function registerSubscription(
  scope: string,
  { choice, ...registration }: Omit<Registration, 'endpoint' | 'registeredAt'>,
  subscription: PushSubscription,
  earlier: Registration | undefined,
  makeRequest: MakeRequest,
  renewal?: true,
): Promise<void> {
  const { endpoint } = subscription;
  const isRenewed = earlier?.endpoint !== endpoint;
  const isOfOtherProject = earlier && earlier.projectId !== registration.projectId;
  const isReplaced = isRenewed || isOfOtherProject;
  const forget = (project: ProjectAddress) =>
    // If this fails, the next send to an endpoint that has ended removes it.
    deleteSubscription(project, earlier!.endpoint, requestOnce).catch(() => {});
  // That endpoint has ended. At the subscriber cap there is room for one of them.
  if (earlier && isRenewed) await forget(registration);
  const post = (registered: SignedChoice) =>
    postSubscription(
      registration,
      subscription.toJSON(),
      registered,
      makeRequest,
      renewal,
      earlier?.endpoint,
    );
  let registered = choice;
  await post(choice).catch((failure: Failure) => {
    // Only a failure in the background has a response.
    if (!isReplaced || failure.response?.status !== 403) throw failure;
    // The signature of the user id may be refused: a new subscription without its user is better than none.
    registered = { ...choice, userId: undefined, userIdSignature: undefined };
    return post(registered);
  });
  await storeRegistration(scope, {
    ...registration,
    choice: registered,
    endpoint,
    registeredAt: timing.now(),
  });
  if (isReplaced || isChanged(earlier?.choice, registered)) announce(scope);
  // One that differs only in its `baseUrl` stays: both may be addresses of the same service.
  if (isOfOtherProject) await forget(earlier);
}

/**
 * Runs work that nobody waits for, unless the pause after a failure has not ended. Failures are stored,
 * not thrown: without the pause, each page view would send another request to an overloaded service. Rejects if
 * storage cannot be read: what nobody knows must not replace what the service has.
 * @returns milliseconds until the next attempt is allowed, undefined if none is needed.
 */
export async function attemptInBackground(
  scope: string,
  work: () => Promise<unknown>,
): Promise<number | undefined> {
  const { count = 0, notBefore = 0 } = Object(await readFailures(scope));
  const pauseMs = remainingMs(notBefore, timing.now());
  if (pauseMs > 0) return pauseMs;
  try {
    await work();
    return undefined;
  } catch (error) {
    // The pause is for the service. What is wrong with a worker is looked at again on the next page view.
    if (Object(error).code === 'service_worker_failed') return undefined;
    const pauseMs = pauseAfterMs(error as Failure, backgroundPauseMs, count + 1);
    await storeFailures(scope, { count: count + 1, notBefore: timing.now() + pauseMs });
    return pauseMs;
  }
}
