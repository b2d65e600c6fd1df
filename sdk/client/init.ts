import { CarillonError } from '../common/error.ts';
import { announce, openChannel } from '../common/page-events.ts';
import { attemptInBackground, registerSubscription } from '../common/registration.ts';
import { deleteSubscription, type MakeRequest, requestOnce, type User } from '../common/service.ts';
import { isDue, readRegistration, storeRegistration, withLock } from '../common/storage.ts';
import { encodeKey, isUsable } from '../common/subscription.ts';
import type { CarillonClient } from './client-types.ts';
import { unsupportedReason } from './environment.ts';
import {
  type CarillonOptions,
  checkUser,
  readCloseOptions,
  readOptions,
  readSubscribeOptions,
  type SubscribeOptions,
} from './options.ts';
import { requestInteractively } from './request.ts';
import { findRegistration, permissionDenied, subscribePage } from './service-worker.ts';

/**
 * Sets push up for this page. If the browser is subscribed and its registration is due, it is
 * registered again in the background, without a prompt. If that fails, a later page view tries again.
 * @throws {CarillonError} `invalid_options`.
 */
export function init(options: CarillonOptions): CarillonClient {
  const settings = readOptions(options, document.baseURI, self.origin);
  const { project, scope } = settings;
  const reason = unsupportedReason(self);
  const supported = reason === undefined;
  /** What was set on this page. What is absent applies as it is stored. */
  let page = userOf({ ...options, channels: undefined });

  async function currentSubscription(): Promise<PushSubscription | null | undefined> {
    const registration = await findRegistration(scope);
    return registration?.pushManager.getSubscription();
  }

  /** The given members. A null user id clears what is stored. */
  function userOf({ userId, userIdSignature, channels }: SubscribeOptions): Partial<User> {
    return {
      ...(userId !== undefined && { userId: userId ?? undefined, userIdSignature }),
      ...(channels && { channels }),
    };
  }

  async function currentUser(change?: Partial<User>): Promise<User> {
    const {
      userId,
      userIdSignature,
      channels = options.channels,
    }: Partial<User> = { ...(await readRegistration(scope)), ...page, ...change };
    return { userId, userIdSignature, channels };
  }

  /** Registers a change, and keeps it for this page. If it is refused, all is as before. */
  async function change(options: SubscribeOptions): Promise<void> {
    checkUser(options);
    const changed = userOf(options);
    const register = async () => {
      // Any other change is registered by init(), in the background.
      if (supported && isDue(await readRegistration(scope), changed, 0)) {
        await refresh(requestInteractively, changed);
      }
      page = { ...page, ...changed };
    };
    await (supported ? withLock(register) : register());
  }

  async function refresh(makeRequest: MakeRequest, change?: Partial<User>): Promise<void> {
    if (Notification.permission !== 'granted') return;
    const stored = await readRegistration(scope);
    const current = await client.subscription();
    // The browser may have a subscription of another sender on this site.
    if (stored === undefined && current === null) return;
    const wanted = await currentUser(change);
    const registered = { ...project, ...wanted, endpoint: current?.endpoint };
    if (!isDue(stored, registered, Date.now())) return;
    const subscription = await subscribePage(settings);
    await registerSubscription(scope, project, subscription, wanted, makeRequest);
  }

  let ready = Promise.resolve();
  if (supported) {
    ready = attemptInBackground(scope, () => refresh(requestOnce)).then(ignore, ignore);
    navigator.permissions
      ?.query({ name: 'notifications' })
      .then((status) => {
        status.onchange = () => announce(scope);
      })
      .catch(ignore);
  }

  const client: CarillonClient = {
    supported,
    ready,

    async state() {
      const permission = await client.permission();
      const subscribed = (await client.subscription()) !== null;
      const stored = await readRegistration(scope);
      const lost = stored !== undefined && !(subscribed && permission === 'granted');
      const { userId, channels = [] } = await currentUser();
      return { supported, reason, permission, subscribed, lost, userId, channels };
    },

    on(name, listener) {
      if (!supported) return ignore;
      const { serviceWorker } = navigator;
      const channel = openChannel(scope);
      const receive = async ({ data }: MessageEvent) => {
        if (data.name !== name) return;
        const event = data.detail ?? (await client.state());
        if (channel.onmessage) listener(event);
      };
      // Other workers and libraries also send messages to pages.
      const receiveOwn = (event: MessageEvent) => event.data?.carillon === scope && receive(event);
      channel.onmessage = receive;
      serviceWorker.addEventListener('message', receiveOwn);
      return () => {
        channel.onmessage = null;
        channel.close();
        serviceWorker.removeEventListener('message', receiveOwn);
      };
    },

    async permission() {
      return supported ? Notification.permission : 'unsupported';
    },

    async subscribe(given = {}) {
      const user = userOf(readSubscribeOptions(given));
      if (!supported) {
        throw new CarillonError(
          'unsupported',
          `No push here: ${reason}. It needs https, and on iOS the home screen.`,
        );
      }
      // Before any await: browsers show the prompt only within a click.
      const permission = await Notification.requestPermission();
      if (permission === 'denied') throw permissionDenied();
      if (permission === 'default') {
        throw new CarillonError('permission_dismissed', 'Prompt dismissed; ask again.');
      }
      page = { ...page, ...user };
      return withLock(async () => {
        const earlier = await currentSubscription();
        const subscription = await subscribePage(settings);
        try {
          await registerSubscription(
            scope,
            project,
            subscription,
            await currentUser(),
            requestInteractively,
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
        // Without a registration, the browser may have a subscription of another sender.
        const removed = stored ?? (await client.subscription());
        if (!removed) return false;
        await storeRegistration(scope, undefined);
        await (await currentSubscription())?.unsubscribe();
        announce(scope);
        await deleteSubscription(stored ?? project, removed.endpoint, requestInteractively);
        return true;
      });
    },

    async subscription() {
      const current = supported && (await currentSubscription());
      return current && isUsable(current, project.applicationServerKey) ? current : null;
    },

    async deviceId() {
      const current = await client.subscription();
      if (!current) return undefined;
      const endpoint = new TextEncoder().encode(current.endpoint);
      return encodeKey(await crypto.subtle.digest('SHA-256', endpoint));
    },

    async identify(userId, userIdSignature) {
      await change({ userId, userIdSignature });
    },

    async channels() {
      return (await currentUser()).channels ?? [];
    },

    async setChannels(channels) {
      // Undefined would change nothing.
      await change({ channels: channels ?? [''] });
    },

    async close(given) {
      const { tag, id } = readCloseOptions(given);
      if (!supported) return 0;
      const registration = await findRegistration(scope);
      const open = (await registration?.getNotifications({ tag })) ?? [];
      const chosen = open.filter(
        ({ data }) =>
          String(data?.events).includes(`/projects/${project.projectId}/`) &&
          (id ?? data.id) === data.id,
      );
      for (const notification of chosen) notification.close();
      return chosen.length;
    },
  };
  return client;
}

function ignore(): void {}
