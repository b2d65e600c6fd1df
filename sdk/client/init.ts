import { CarillonError } from '../common/error.ts';
import { readHistory } from '../common/history.ts';
import { requireMatch } from '../common/option-checks.ts';
import {
  announce,
  openChannel,
  type PageAnswer,
  type PageEvent,
  type PageQuestion,
  type SaidUser,
} from '../common/page-events.ts';
import { attemptInBackground, forget, registerSubscription } from '../common/registration.ts';
import {
  deleteSubscription,
  type MakeRequest,
  postSubscription,
  requestOnce,
  type SignedChoice,
} from '../common/service.ts';
import {
  isChanged,
  isDue,
  type Registration,
  readRegistration,
  withLock,
} from '../common/storage.ts';
import { encodeKey, endSubscription, isUsable } from '../common/subscription.ts';
import { timing, within } from '../common/timing.ts';
import type { CarillonClient, PushState } from './client-types.ts';
import { unsupportedReason, watchPolicy } from './environment.ts';
import {
  type CarillonOptions,
  type CloseOptions,
  readChoice,
  readCloseOptions,
  readOptions,
  readSubscribeOptions,
  type SubscribeOptions,
} from './options.ts';
import { requestInteractively } from './request.ts';
import {
  type AskedWorker,
  askWorker,
  browserError,
  browserTimeoutMs,
  findRegistration,
  type Heard,
  otherWorkerText,
  subscribePage,
} from './service-worker.ts';

/**
 * Sets push up for this page. If the browser is subscribed and its registration is due, it is
 * registered again in the background, without a prompt. If that fails, a later page view tries again.
 * @throws {CarillonError} `invalid_options`.
 */
export function init(options: CarillonOptions): CarillonClient {
  if (!globalThis.document) throw new CarillonError('invalid_options', 'Needs a browser.');
  const settings = readOptions(options, document.baseURI, location.origin, [
    document.documentElement.lang,
    navigator.language,
  ]);
  const { project, scope, replaceWorker } = settings;
  const reason = unsupportedReason(window);
  const heard: Heard = new Set();
  const listeners = new Set<readonly [name: string, listener: (event: object) => void]>();
  const { channels: defaultChannels, locale, ...user } = settings.choice;
  /** Who uses the browser, as this tab or another has said last. 0: none has, or it was said nobody knows when. */
  let said: SaidUser = {
    user,
    saidAt: 'userId' in user && !isCachedPage() ? timing.now() : 0,
  };
  /** Chosen on this page. They count until others are registered. */
  let chosen: SignedChoice['channels'];
  /** Ends the wait for an answer to the browser's question. */
  let endQuestion = () => {};
  const changesInTurn = inTurn<void>();
  const statesInTurn = inTurn<PushState>();

  /** What the browser has at the scope, and what the SDK has stored. */
  async function look(): Promise<Found> {
    if (reason) return [];
    const registration = await findRegistration(scope);
    const current =
      registration &&
      (await within(browserTimeoutMs, () => registration.pushManager.getSubscription()));
    const usable = current && isUsable(current, project.applicationServerKey) ? current : null;
    const stored = await readRegistration(scope).catch(() => undefined);
    return [usable, stored, registration, current];
  }

  /** The worker that gets the pushes. One that has answered before counts while its URL is the same. */
  function worker(stored: Found[1]): Promise<AskedWorker> {
    heard.add(stored?.worker);
    return askWorker(scope, heard).catch(() => ['none']);
  }

  /**
   * What applies here: the newest log-in or log-out of any tab, and the channels that were registered last. The first
   * argument is the stored registration, or what is known without one.
   * @param change the choice of this call. It comes before all others.
   */
  function registrationFrom(
    known: Partial<Registration> | null | undefined,
    change: SignedChoice = {},
  ) {
    const { choice, saidAt = 0 } = known ?? {};
    const now = timing.now();
    // A time later than now was stored while the clock was wrong.
    const isNewest = saidAt && saidAt >= said.saidAt && saidAt <= now;
    const applied = { ...choice, ...(!isNewest && said.user), ...change };
    // Channels that are null are not known: the defaults must not replace them.
    const { channels = defaultChannels } = applied;
    return {
      choice: { ...applied, channels: applied.channels ?? chosen ?? channels, locale },
      saidAt: 'userId' in change ? now : isNewest ? saidAt : said.saidAt,
    };
  }

  /**
   * Registers this browser, if that is due.
   * @param isAsked by `subscribe()`, which is always due.
   * @param renewal whether no visitor has asked.
   */
  async function register(
    makeRequest: MakeRequest,
    change?: SignedChoice,
    isAsked = false,
    renewal = !isAsked,
  ): Promise<PushSubscription | undefined> {
    const [usable, stored, registration, current] = await look();
    // What is not a new consent brings back nobody who has withdrawn.
    if (renewal && stored === null) return undefined;
    const dueRegistration = (earlier: typeof stored, endpoint: string | undefined) => {
      // Without a registration, the service may know more of a subscription: it was imported, or storage was lost.
      const unknown = { choice: usable ? { channels: null } : { userId: null } };
      const due = registrationFrom(earlier ?? unknown, change);
      const wanted = { ...project, ...due.choice, endpoint };
      return (isAsked || isDue(earlier, wanted, timing.now())) && due;
    };
    // Without a registration, the browser may have a subscription of another sender on this site.
    const isKnown = Notification.permission === 'granted' && (usable || stored);
    if (!isAsked && !(isKnown && dueRegistration(stored, usable?.endpoint))) return undefined;
    // One with another key must end before a new one begins. If the service does not have this key, it stays.
    if (current && !usable && stored?.endpoint === current.endpoint) {
      await postSubscription(project, current.toJSON(), stored.choice, makeRequest, true);
    }
    const [subscription, worker] = await subscribePage(settings, registration);
    heard.add(worker);
    const { endpoint } = subscription;
    return withLock(async () => {
      // Another tab may have registered the browser meanwhile, or unsubscribed it.
      const earlier = await readRegistration(scope).catch(() => stored);
      const due = dueRegistration(earlier, endpoint);
      if (renewal && earlier === null) {
        await endSubscription(subscription);
        return undefined;
      }
      if (due) {
        await registerSubscription(
          scope,
          { ...project, ...due, worker },
          subscription,
          earlier,
          makeRequest,
          renewal,
        ).catch(async (error) => {
          const isNew = usable?.endpoint !== endpoint && earlier?.endpoint !== endpoint;
          if (isNew && isAsked) await endSubscription(subscription);
          throw error;
        });
      }
      return subscription;
    });
  }

  /** Keeps a choice for this page, and tells other tabs who uses the browser now. */
  function say({ channels, consent: _, ...user }: SignedChoice): void {
    chosen = channels ?? chosen;
    if (!('userId' in user)) return;
    said = { user, saidAt: timing.now() };
    announce(scope, { name: 'said', detail: said });
  }

  /** Registers a change, and keeps it for this page. If it is refused, all is as before. */
  async function change(given: SubscribeOptions): Promise<void> {
    const changed = readChoice(given);
    // What an earlier call has not yet registered would look as if it were not there.
    return changesInTurn(async () => {
      const [, stored] = await look();
      // Any other change is registered by init(), in the background.
      if (isChanged(stored?.choice, changed)) await register(requestInteractively, changed);
      say(changed);
    });
  }

  /** Tells the page if a worker that is not Carillon's gets the pushes. */
  async function reportWorker(): Promise<void> {
    const [, stored] = await look();
    const [kind, url] = await worker(stored);
    if (kind !== 'other' || replaceWorker) return;
    console.warn(otherWorkerText(scope, url!));
    announce(scope);
  }

  /** Passes an event on to the listeners, and answers who has asked. */
  async function receive({ name, detail }: Received, port?: MessagePort): Promise<void> {
    // A newer log-in or log-out takes the place of one that this page has said.
    if (name === 'said' && said.saidAt && detail.saidAt > said.saidAt) said = detail;
    let isTaken = false;
    const preventDefault = () => {
      isTaken = Boolean(port);
    };
    const isClick = name === 'clicked';
    const event = isClick
      ? { ...detail, cancelable: Boolean(port), preventDefault }
      : (detail ?? (await members.state()));
    for (const [listened, listener] of listeners) {
      if (listened !== name) continue;
      try {
        listener(event);
        isTaken ||= !isClick;
      } catch (error) {
        reportError(error);
      }
    }
    port?.postMessage({ url: location.href, isTaken } satisfies PageAnswer);
  }

  async function listen(): Promise<void> {
    // Other workers and libraries also send messages to pages.
    navigator.serviceWorker.addEventListener('message', ({ data, ports }) => {
      if (data?.carillon === scope) receive(data, ports[0]);
    });
    openChannel(scope).onmessage = ({ data }) => receive(data);
    navigator.serviceWorker.addEventListener('controllerchange', () => announce(scope));
    if (said.saidAt) announce(scope, { name: 'said', detail: said });
    const status = await navigator.permissions.query({ name: 'notifications' });
    status.addEventListener('change', () => {
      endQuestion();
      announce(scope);
    });
  }

  async function start(): Promise<void> {
    if (reason) return;
    watchPolicy();
    reportWorker().catch(() => {});
    listen().catch(() => {});
    await attemptInBackground(scope, () => register(requestOnce)).catch(() => {});
  }

  const members = {
    state(): Promise<PushState> {
      // An older one that is told later would replace the newer one.
      return statesInTurn(async () => {
        const [usable, stored] = await look().catch((): Found => []);
        const [kind] = await worker(stored);
        const permission = await members.permission();
        const subscribed =
          Boolean(usable) &&
          (stored ?? project).projectId === project.projectId &&
          kind === 'carillon';
        const { userId, channels } = registrationFrom(stored).choice;
        return {
          supported: !reason,
          reason,
          permission,
          subscribed,
          worker: kind,
          lost: Boolean(stored) && !(subscribed && permission === 'granted'),
          userId: userId ?? undefined,
          channels: channels ?? [],
        };
      });
    },

    async permission(): Promise<PushState['permission']> {
      return reason ? 'unsupported' : Notification.permission;
    },

    async subscribe(given: SubscribeOptions = {}) {
      const choice = readSubscribeOptions(given);
      if (reason) {
        throw new CarillonError('unsupported', `No push here: ${reason}.`);
      }
      const { renewal } = given;
      // The types say it of a renewal only.
      if (renewal && (await readRegistration(scope)) === null) return undefined as never;
      // Before any await: browsers show the prompt only within a click.
      if (Notification.permission === 'default') {
        endQuestion();
        await Promise.race([
          Notification.requestPermission(),
          new Promise<void>((resolve) => {
            endQuestion = resolve;
          }),
        ]);
      }
      const { permission } = Notification;
      if (permission === 'denied') {
        throw new CarillonError('permission_denied', 'Allow notifications in the browser.');
      }
      if (permission === 'default') {
        throw new CarillonError('permission_dismissed', 'Ask again.');
      }
      say(choice);
      return (await register(requestInteractively, choice, true, renewal))!;
    },

    async unsubscribe() {
      return withLock(async () => {
        const [usable, stored] = await look();
        const removed = stored ?? usable;
        if (!removed) return false;
        chosen = undefined;
        const failure = await forget(scope, usable);
        // The page knows the newest address.
        const address = { ...project, projectId: (stored ?? project).projectId };
        await deleteSubscription(address, removed.endpoint, requestInteractively);
        // What is still stored would subscribe the browser again.
        if (failure) throw failure;
        return true;
      });
    },

    async subscription() {
      const [usable, stored] = await look();
      return usable && (await worker(stored))[0] === 'carillon' ? usable : null;
    },

    async deviceId() {
      const current = await members.subscription();
      return current
        ? encodeKey(
            await crypto.subtle.digest('SHA-256', new TextEncoder().encode(current.endpoint)),
          )
        : undefined;
    },

    identify: (userId: string | null, userIdSignature?: string) =>
      change({ userId, userIdSignature }),

    async channels() {
      return (await members.state()).channels;
    },

    // Undefined would change nothing.
    setChannels: (channels: readonly string[]) => change({ channels: channels ?? [''] }),

    async history() {
      const [, stored] = await look();
      const { userId } = registrationFrom(stored).choice;
      return (await readHistory(scope, userId)).slice(0, project.history);
    },

    async close(given: CloseOptions) {
      const { tag, id } = readCloseOptions(given);
      const [, , registration] = await look();
      const open = registration
        ? await within(browserTimeoutMs, () => registration.getNotifications({ tag }))
        : [];
      const chosen = open.filter(({ data }) => data?.carillon && (id ?? data.id) === data.id);
      for (const notification of chosen) notification.close();
      return chosen.length;
    },
  };

  // What a browser throws in members that are async becomes an error of the SDK.
  for (const [name, member] of Object.entries<(...given: never[]) => Promise<unknown>>(members)) {
    (members as Record<string, typeof member>)[name] = (...given) =>
      member(...given).catch((cause) => {
        throw browserError(cause, 'browser_failed');
      });
  }
  return {
    ...members,
    supported: !reason,
    ready: start(),

    on(name, listener) {
      requireMatch(/^(change|shown|clicked|message)$/, name, name, 'unknown');
      const entry = [name, listener] as never;
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}

/** Runs works one after another. */
function inTurn<Result>(last: Promise<unknown> = Promise.resolve()) {
  return (work: () => Promise<Result>) => {
    last = last.then(work, work);
    return last as Promise<Result>;
  };
}

type Received = PageEvent | PageQuestion;

type Found = readonly [
  /** The subscription to this project. */
  usable?: PushSubscription | null,
  stored?: Registration | null | undefined,
  registration?: ServiceWorkerRegistration | undefined,
  /** The browser's subscription, of whichever key. */
  current?: PushSubscription | null | undefined,
];

/** Whether Back or Forward shows the page as the browser's cache has it: who was logged in then may have logged out. */
function isCachedPage(): boolean {
  const entries = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return entries.some((entry) => entry.type === 'back_forward' && !entry.transferSize);
}
