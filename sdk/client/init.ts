import { attemptInBackground } from '../common/attempt-in-background.ts';
import { CarillonError } from '../common/error.ts';
import { isDue } from '../common/registration.ts';
import { deleteSubscription, type RetryPolicy, singleAttempt } from '../common/service.ts';
import { deleteRegistration, readRegistration } from '../common/storage.ts';
import { hasKey, registerSubscription } from '../common/subscription.ts';
import { withLock } from '../common/with-lock.ts';
import { interactive } from './interactive.ts';
import { type CarillonOptions, readOptions } from './options.ts';
import { findRegistration, registerWorker } from './service-worker.ts';
import { permissionDenied, subscribePage } from './subscribe-page.ts';

/** Push for one project on this page. */
export interface CarillonClient {
  /** Whether this page can receive pushes. On iOS only after installation to the home screen. */
  readonly supported: boolean;
  /** The current permission. Shows no prompt. */
  permission(): Promise<NotificationPermission | 'unsupported'>;
  /**
   * Asks for permission, subscribes the browser and registers the subscription with the service. Call
   * it in a click: browsers show the prompt only then. If it rejects, it leaves no new subscription.
   * @throws {CarillonError}
   */
  subscribe(options?: { readonly userId?: string }): Promise<PushSubscription>;
  /**
   * Removes the subscription from the browser, then from the service.
   * @returns whether there was a subscription.
   * @throws {CarillonError} if the request to the service failed. The browser is unsubscribed by
   *   then, and the next send removes the subscription from the service.
   */
  unsubscribe(): Promise<boolean>;
  /** The browser's subscription to this project, or null. */
  subscription(): Promise<PushSubscription | null>;
  /**
   * Sets the user id of this browser: call it after log-in with an id, and after log-out with null. It
   * makes a request only if the user id has changed, so every page may call it. Before `subscribe()`,
   * the user id is kept on this page for that call.
   * @throws {CarillonError}
   */
  identify(userId: string | null): Promise<void>;
}

/**
 * Sets push up for this page. If the browser is subscribed and its registration is due, it is
 * registered again in the background, without a prompt. If that fails, a later page view tries again.
 * @throws {CarillonError} `invalid_options`.
 */
export function init(options: CarillonOptions): CarillonClient {
  const settings = readOptions(options, document.baseURI, self.origin);
  const { project, scope } = settings;
  const key = project.applicationServerKey;
  const supported =
    isSecureContext &&
    'serviceWorker' in navigator &&
    'PushManager' in window &&
    'Notification' in window;
  /** As set on this page. Undefined: the stored user id applies. */
  let userId: string | null | undefined;

  async function currentSubscription(): Promise<PushSubscription | null> {
    const registration = await findRegistration(scope);
    const subscription = await registration?.pushManager.getSubscription();
    return subscription ?? null;
  }

  async function currentUserId(): Promise<string | undefined> {
    return userId === undefined ? (await readRegistration(scope))?.userId : (userId ?? undefined);
  }

  async function refresh(policy: RetryPolicy): Promise<void> {
    if (Notification.permission !== 'granted') return;
    const stored = await readRegistration(scope);
    const current = await currentSubscription();
    const isCurrent = current !== null && hasKey(current, key);
    // The subscription may belong to another sender on this site.
    if (stored === undefined && !isCurrent) return;
    const wanted = { ...project, userId: await currentUserId() };
    const now = Date.now();
    if (isCurrent && !isDue(stored, { ...wanted, endpoint: current.endpoint }, now)) return;
    const { pushManager } = await registerWorker(settings);
    const subscription = await subscribePage(pushManager, key);
    await registerSubscription(scope, project, subscription, wanted.userId, policy);
  }

  if (supported) attemptInBackground(scope, () => refresh(singleAttempt)).catch(() => {});

  return {
    supported,

    async permission() {
      return supported ? Notification.permission : 'unsupported';
    },

    async subscribe({ userId: newUserId } = {}) {
      if (!supported) {
        throw new CarillonError('unsupported', 'This browser does not support push on this page.');
      }
      // Before any await: browsers show the prompt only within a click.
      const permission = await Notification.requestPermission();
      if (permission === 'denied') throw permissionDenied();
      if (permission === 'default') {
        throw new CarillonError(
          'permission_dismissed',
          'The permission prompt was dismissed; ask again.',
        );
      }
      if (newUserId !== undefined) userId = newUserId;
      return withLock(async () => {
        const earlier = await currentSubscription();
        const { pushManager } = await registerWorker(settings);
        const subscription = await subscribePage(pushManager, key);
        try {
          await registerSubscription(
            scope,
            project,
            subscription,
            await currentUserId(),
            interactive,
          );
        } catch (error) {
          if (earlier?.endpoint !== subscription.endpoint) await subscription.unsubscribe();
          throw error;
        }
        return subscription;
      });
    },

    async unsubscribe() {
      if (!supported) return false;
      return withLock(async () => {
        const stored = await readRegistration(scope);
        const current = await currentSubscription();
        const isCarillon = current !== null && (stored !== undefined || hasKey(current, key));
        const endpoint = isCarillon ? current.endpoint : stored?.endpoint;
        if (endpoint === undefined) return false;
        await deleteRegistration(scope);
        if (isCarillon) await current.unsubscribe();
        await deleteSubscription(stored ?? project, endpoint, interactive);
        return true;
      });
    },

    async subscription() {
      const current = supported ? await currentSubscription() : null;
      return current !== null && hasKey(current, key) ? current : null;
    },

    async identify(newUserId) {
      userId = newUserId;
      if (!supported) return;
      await withLock(async () => {
        // Any other change is registered by init(), in the background.
        const stored = await readRegistration(scope);
        if (stored?.userId !== (newUserId ?? undefined)) await refresh(interactive);
      });
    },
  };
}
