import { announce } from './page-events.ts';
import {
  backgroundPauseMs,
  deleteSubscription,
  type Failure,
  type MakeRequest,
  postSubscription,
  requestOnce,
  type SignedChoice,
} from './service.ts';
import {
  eraseEntries,
  isChanged,
  type Registration,
  readFailures,
  storeFailures,
  storeRegistration,
} from './storage.ts';
import { endSubscription } from './subscription.ts';
import { pauseAfterMs, remainingMs, timing } from './timing.ts';

/**
 * Registers the subscription with the service, and stores that. Call it in the lock.
 * @param registration the project, and what to register there.
 * @param earlier the stored registration. It is deleted only when nothing can be lost by that.
 * @param renewal as for {@link postSubscription}. If the browser was erased, it forgets, and this rejects with `erased`.
 */
export async function registerSubscription(
  scope: string,
  { choice, ...registration }: Omit<Registration, 'endpoint' | 'registeredAt'>,
  subscription: PushSubscription,
  earlier: Registration | null | undefined,
  makeRequest: MakeRequest,
  renewal: boolean,
): Promise<void> {
  const { endpoint } = subscription;
  const isOfOtherProject = earlier && earlier.projectId !== registration.projectId;
  const isReplaced = earlier?.endpoint !== endpoint || isOfOtherProject;
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
  await post(choice).catch(async (failure: Failure) => {
    // Only a failure in the background has a response. Any other is an error of the service already.
    const { response } = failure;
    const { error = failure } = Object(await response?.json().catch(() => {}));
    if (error?.code === 'erased') {
      await forget(scope, subscription);
      throw error;
    }
    if (!isReplaced || response?.status !== 403) throw failure;
    // The signature of the user id may be refused: a new subscription without its user is better than none.
    registered = { ...choice, userId: undefined, userIdSignature: undefined };
    return post(registered);
  });
  const stored = { ...registration, choice: registered, endpoint, registeredAt: timing.now() };
  const failure = await storeRegistration(scope, stored, earlier);
  // The earlier one is still stored, and would be registered again.
  if (failure && earlier !== undefined) throw failure;
  if (isReplaced || isChanged(earlier?.choice, registered)) announce(scope);
  // One that differs only in its `baseUrl` stays: both may be addresses of the same service.
  if (isOfOtherProject) {
    // If this fails, the next send removes it if its endpoint has ended.
    await deleteSubscription(earlier, earlier.endpoint, requestOnce).catch(() => {});
  }
}

/**
 * Erases all that is stored of the scope but "not now", and ends its subscription.
 * @param subscription null: the browser's is of another sender, and stays.
 * @returns why the entries or the subscription stay, if they do.
 */
export async function forget(
  scope: string,
  subscription: PushSubscription | null | undefined,
): Promise<unknown> {
  const failure = await eraseEntries(scope);
  const ending = subscription && (await endSubscription(subscription).catch((error) => error));
  announce(scope);
  return failure ?? ending;
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
    // The pause is for the service. What is wrong with a worker is looked at again on the next page view, and an erased
    // browser has nothing to register.
    if (/^(service_worker_failed|erased)$/.test(Object(error).code)) return undefined;
    const pauseMs = pauseAfterMs(error as Failure, backgroundPauseMs, count + 1);
    await storeFailures(scope, { count: count + 1, notBefore: timing.now() + pauseMs });
    return pauseMs;
  }
}
