import { attemptInBackground } from '../common/attempt-in-background.ts';
import { CarillonError } from '../common/error.ts';
import { announce, openChannel } from '../common/page-events.ts';
import { isDue } from '../common/registration.ts';
import { deleteSubscription, type RetryPolicy, singleAttempt } from '../common/service.ts';
import { deleteRegistration, readRegistration } from '../common/storage.ts';
import { hasKey, registerSubscription } from '../common/subscription.ts';
import { withLock } from '../common/with-lock.ts';
import type { CarillonClient } from './client-types.ts';
import { interactivePolicy } from './interactive-policy.ts';
import { type CarillonOptions, readOptions } from './options.ts';
import { findRegistration, registerWorker } from './service-worker.ts';
import { permissionDenied, subscribePage } from './subscribe-page.ts';
import { unsupportedReason } from './unsupported-reason.ts';

/**
 * Sets push up for this page. If the browser is subscribed and its registration is due, it is
 * registered again in the background, without a prompt. If that fails, a later page view tries again.
 * @throws {CarillonError} `invalid_options`.
 */
export function init(options: CarillonOptions): CarillonClient {
  const settings = readOptions(options, document.baseURI, self.origin);
  const { project, scope } = settings;
  const key = project.applicationServerKey;
  const reason = unsupportedReason(self);
  const supported = reason === undefined;
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
    const current = await client.subscription();
    // The browser may have a subscription of another sender on this site.
    if (stored === undefined && current === null) return;
    const wanted = { ...project, userId: await currentUserId() };
    if (current && !isDue(stored, { ...wanted, endpoint: current.endpoint }, Date.now())) return;
    const { pushManager } = await registerWorker(settings);
    const subscription = await subscribePage(pushManager, key);
    await registerSubscription(scope, project, subscription, wanted.userId, policy);
  }

  let ready = Promise.resolve();
  if (supported) {
    ready = attemptInBackground(scope, () => refresh(singleAttempt)).then(ignore, ignore);
    navigator.permissions
      ?.query({ name: 'notifications' })
      .then((status) => {
        status.onchange = () => announce(scope, { name: 'change' });
      })
      .catch(ignore);
  }

  const client: CarillonClient = {
    supported,
    ready,

    async state() {
      return {
        supported,
        reason,
        permission: await client.permission(),
        subscribed: (await client.subscription()) !== null,
        userId: await currentUserId(),
      };
    },

    on(name, listener) {
      if (!supported) return ignore;
      const channel = openChannel(scope);
      channel.onmessage = async ({ data }) => {
        if (data.name !== name) return;
        const event = data.detail ?? (await client.state());
        if (channel.onmessage) listener(event);
      };
      return () => {
        channel.onmessage = null;
        channel.close();
      };
    },

    async permission() {
      return supported ? Notification.permission : 'unsupported';
    },

    async subscribe({ userId: newUserId } = {}) {
      if (!supported) {
        throw new CarillonError('unsupported', `This page cannot receive pushes: ${reason}.`);
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
            interactivePolicy,
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
        announce(scope, { name: 'change' });
        await deleteSubscription(stored ?? project, endpoint, interactivePolicy);
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
        if (stored?.userId !== (newUserId ?? undefined)) await refresh(interactivePolicy);
      });
    },
  };
  return client;
}

function ignore(): void {}
