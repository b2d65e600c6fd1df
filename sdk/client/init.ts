import { CarillonError } from '../common/error.ts';
import { exclusively } from '../common/exclusively.ts';
import { inBackground } from '../common/in-background.ts';
import { isDue } from '../common/known-registration.ts';
import { forget, recall } from '../common/memory.ts';
import { deleteSubscription, inClick, onceOnly, type Patience } from '../common/service.ts';
import { hasKey, register, subscribeBrowser } from '../common/subscription.ts';
import { type CarillonOptions, readOptions } from './options.ts';
import { findRegistration, registerWorker } from './service-worker.ts';

/** Push for one project on this page. */
export interface CarillonClient {
  /** Whether this browser can receive pushes on this page. On iOS: once installed to the home screen. */
  readonly supported: boolean;
  /** What the person has answered so far. Asks nothing. */
  permission(): Promise<NotificationPermission | 'unsupported'>;
  /**
   * Asks for permission, subscribes the browser and registers it with the service. Call it in a
   * click: browsers ask only then. When it rejects, nothing is subscribed that was not before.
   * @throws {CarillonError}
   */
  subscribe(options?: { readonly userId?: string }): Promise<PushSubscription>;
  /**
   * Ends the subscription in the browser, then with the service.
   * @returns whether there was one.
   * @throws {CarillonError} if the service could not be told. The browser's side has ended by
   *   then, and the service drops its own with the next send.
   */
  unsubscribe(): Promise<boolean>;
  /** The browser's subscription to this project, or null. */
  subscription(): Promise<PushSubscription | null>;
  /**
   * Says whose browser this is, from log-in (an id) or log-out (null) on. Makes a request only
   * if the user has changed; call it on every page if that is simplest. Before `subscribe()`
   * it is kept for then.
   * @throws {CarillonError}
   */
  identify(userId: string | null): Promise<void>;
}

/**
 * Sets push up for this page. A browser that holds a subscription is registered again when that is
 * due, without a question and without an error: the next page tries again.
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
  /** Undefined until this page says something: what was said on an earlier one holds. */
  let userId: string | null | undefined;

  async function held(): Promise<PushSubscription | null> {
    const registration = await findRegistration(scope);
    const subscription = await registration?.pushManager.getSubscription();
    return subscription ?? null;
  }

  async function user(): Promise<string | undefined> {
    return userId === undefined ? (await recall(scope))?.userId : (userId ?? undefined);
  }

  async function refresh(patience: Patience): Promise<void> {
    if (Notification.permission !== 'granted') return;
    const known = await recall(scope);
    const current = await held();
    const isCurrent = current !== null && hasKey(current, key);
    // A subscription of another sender on this site is left alone.
    if (known === undefined && !isCurrent) return;
    const wanted = { ...project, userId: await user() };
    const now = Date.now();
    if (isCurrent && !isDue(known, { ...wanted, endpoint: current.endpoint }, now)) return;
    const { pushManager } = await registerWorker(settings);
    const subscription = await subscribeBrowser(pushManager, key);
    await register(scope, project, subscription, wanted.userId, patience);
  }

  if (supported) inBackground(scope, () => refresh(onceOnly)).catch(() => {});

  return {
    supported,

    async permission() {
      return supported ? Notification.permission : 'unsupported';
    },

    async subscribe({ userId: named } = {}) {
      if (!supported) {
        throw new CarillonError('unsupported', 'This browser has no push on this page.');
      }
      // Before anything is awaited, for a browser asks only within a click.
      const answer = await Notification.requestPermission();
      if (answer === 'denied') {
        throw new CarillonError('permission_denied', 'Notifications are not allowed here.');
      }
      if (answer === 'default') {
        throw new CarillonError('permission_dismissed', 'The question was not answered.');
      }
      if (named !== undefined) userId = named;
      return exclusively(async () => {
        const before = await held();
        const { pushManager } = await registerWorker(settings);
        const subscription = await subscribeBrowser(pushManager, key);
        try {
          await register(scope, project, subscription, await user(), inClick);
        } catch (error) {
          if (before?.endpoint !== subscription.endpoint) await subscription.unsubscribe();
          throw error;
        }
        return subscription;
      });
    },

    async unsubscribe() {
      if (!supported) return false;
      return exclusively(async () => {
        const known = await recall(scope);
        const current = await held();
        const isOurs = current !== null && (known !== undefined || hasKey(current, key));
        const endpoint = isOurs ? current.endpoint : known?.endpoint;
        if (endpoint === undefined) return false;
        await forget(scope);
        if (isOurs) await current.unsubscribe();
        await deleteSubscription(known ?? project, endpoint, inClick);
        return true;
      });
    },

    async subscription() {
      const current = supported ? await held() : null;
      return current !== null && hasKey(current, key) ? current : null;
    },

    async identify(named) {
      userId = named;
      if (!supported) return;
      await exclusively(async () => {
        // Whatever else is due, init registers in the background.
        if ((await recall(scope))?.userId !== (named ?? undefined)) await refresh(inClick);
      });
    },
  };
}
