import type { EventType } from '../../contract/wire/event.ts';
import { type VersionAnswer, versionQuestion } from '../common/ask.ts';
import { keepClicked, keepShown } from '../common/history.ts';
import { announce } from '../common/page-events.ts';
import { attemptInBackground, registerSubscription } from '../common/registration.ts';
import { requestOnce } from '../common/service.ts';
import { readRegistration, withLock } from '../common/storage.ts';
import { endSubscription, hasKey, subscribeBrowser } from '../common/subscription.ts';
import { attemptWhileRunning, timing, within } from '../common/timing.ts';
import {
  isCarillonData,
  isCarillonMessage,
  type NotificationData,
  parseText,
  readMessage,
  type ShownNotification,
  urlOfClick,
} from './message.ts';
import { reportEvent, updateEvents } from './report-event.ts';
import { giveToPage, showUrl } from './tabs.ts';

/**
 * The service worker. As the registered script it handles every push. Imported into a site's own worker
 * it handles only Carillon's pushes and clicks, and stops these from reaching the site's listeners.
 */
declare const self: ServiceWorkerGlobalScope;

/** Replaced by the bundler: whether this is the build that bundlers put into a site's own worker. */
declare const IMPORTED: boolean;
/** Replaced by the bundler. */
declare const VERSION: string;

const { registration } = self;
const { scope, pushManager } = registration;
const isStandalone = !IMPORTED && isRegisteredScript(new Error().stack);
const environment: Parameters<typeof reportEvent>[3] = {
  ...timing,
  update: (change) => updateEvents(change, scope),
};

// No page depends on the version of this worker, so a new version takes over at once.
if (isStandalone) self.addEventListener('install', () => void self.skipWaiting());

// Pages ask, because the URL of a script does not tell whether it has Carillon's worker.
self.addEventListener('message', (event) => {
  if (event.data !== versionQuestion) return;
  event.stopImmediatePropagation();
  event.ports[0]?.postMessage({ version: VERSION } satisfies VersionAnswer);
});

self.addEventListener('push', (event) => {
  const message = messageOf(event);
  if (!isCarillonMessage(message) && !isStandalone) return;
  event.stopImmediatePropagation();
  event.waitUntil(showAndReport(readMessage(message, scope)));
});

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event;
  const data: unknown = notification.data;
  if (!isCarillonData(data) && !isStandalone) return;
  event.stopImmediatePropagation();
  notification.close();
  const url = urlOfClick(data, action, scope);
  const isReported = isCarillonData(data) && data.id;
  const click = isReported ? { id: data.id, data: data.data, url, action } : undefined;
  if (isReported) {
    event.waitUntil(report('clicked', data, 0));
    event.waitUntil(keepClicked(scope, data.id, timing.now()).catch(() => {}));
  }
  event.waitUntil(showUrl(self.clients, url, scope, click).catch(() => {}));
});

self.addEventListener('pushsubscriptionchange', (event) => {
  // If this fails, the next page view of the site subscribes again.
  event.waitUntil(renewSubscription(event).catch(() => {}));
});

/**
 * Whether this is the registered script, under any name: the stack has the URL of each script that runs. A worker in
 * the place of another service's imports this one with the query `takeover`: then it acts as if it were that.
 */
function isRegisteredScript(stack = ''): boolean {
  return (
    !stack.replaceAll(self.location.href, '').includes('://') || stack.includes('.js?takeover')
  );
}

/** Browsers that support declarative push messages pass the notification instead of the text. */
function messageOf(event: PushEvent & DeclarativePush): unknown {
  const { data, notification, appBadge } = event;
  return data ? parseText(data.text()) : { notification, app_badge: appBadge };
}

interface DeclarativePush {
  readonly notification?: unknown;
  readonly appBadge?: number | null;
}

/**
 * Chromium shows its own notification if none is open when the event ends: a person may have dismissed
 * this one by then. Therefore the event ends soon; the worker runs on for the rest of the window.
 */
const reportingMs = 2000;

async function showAndReport(notification: ShownNotification): Promise<void> {
  const { title, options, appBadge, eventWindowMs, reportsShown, isForPage } = notification;
  // Rejects where the site is not installed as an app; nothing depends on it.
  if (appBadge !== undefined) navigator.setAppBadge?.(appBadge).catch(() => {});
  const browser = { scope, userAgent: navigator.userAgent };
  // A message that nobody took is shown.
  if (isForPage && (await giveToPage(notification, self.clients, browser).catch(() => false)))
    return;
  try {
    await show(title, options);
  } catch {
    // The permission was withdrawn: nothing was shown.
    return;
  }
  const { id, data, url } = options.data;
  if (id) {
    const { body, icon } = options;
    // Before pages read it. Storage that is denied or full is no reason to tell them nothing.
    await keepShown(scope, { id, title, body, url, icon, shownAt: timing.now() }).catch(() => {});
    announce(scope, { name: 'shown', detail: { id, data } });
  }
  if (!reportsShown) return;
  const reporting = report('shown', options.data, eventWindowMs);
  await Promise.race([reporting, environment.wait(reportingMs)]);
}

/** Reports an event, unless the page has said that this browser reports none, or that cannot be read. */
async function report(type: EventType, data: NotificationData, windowMs: number): Promise<void> {
  const known = await readRegistration(scope).catch(() => ({ events: false }));
  // 0 and 'false' were not meant as yes.
  if ((known?.events ?? true) === true) await reportEvent(type, data, windowMs, environment);
}

/** Chromium and Firefox show nothing while the server of an image does not respond. */
const showTimeoutMs = 3000;

async function show(title: string, options: ShownNotification['options']): Promise<void> {
  // With one tag, what is shown again takes the place of what was shown.
  const { icon, image, badge, tag = String(timing.random()), ...others } = options;
  const actions = others.actions.map((button) => ({ ...button, icon: undefined }));
  const withoutImages = { ...others, tag, actions };
  // WebKit replaces a declarative notification only by one with `navigate`. It opens that URL on a click without a
  // `notificationclick` event, so no beacon is sent.
  const withUrl = { ...withoutImages, navigate: others.data.url };
  const attempt = (next: NotificationOptions) =>
    within(showTimeoutMs, () => registration.showNotification(title, next));
  await attempt({ ...options, tag })
    .catch(() => attempt(withoutImages))
    .catch(() => attempt(withUrl));
}

/** The event's members. Some browsers leave them out or set them to null. */
interface SubscriptionChange {
  readonly oldSubscription?: PushSubscription | null;
}

/**
 * Replaces a subscription that the browser has ended, and registers the new one. Until then no push
 * arrives, and the next page view may be days away: so the worker retries for as long as it may run.
 */
function renewSubscription(change: SubscriptionChange): Promise<void> {
  return attemptWhileRunning(() => attemptInBackground(scope, () => renewOnce(change)), timing);
}

async function renewOnce({ oldSubscription }: SubscriptionChange): Promise<void> {
  const stored = await readRegistration(scope);
  // In a site's own worker, the change may concern another sender's subscription.
  if (!stored || (oldSubscription && !hasKey(oldSubscription, stored.applicationServerKey))) return;
  const subscription = await subscribeBrowser(pushManager, stored.applicationServerKey);
  await withLock(async () => {
    const earlier = await readRegistration(scope);
    // A page has unsubscribed meanwhile.
    if (!earlier) return endSubscription(subscription);
    const { choice, saidAt } = earlier;
    const registration = { ...stored, choice, saidAt };
    return registerSubscription(scope, registration, subscription, earlier, requestOnce, true);
  });
}
