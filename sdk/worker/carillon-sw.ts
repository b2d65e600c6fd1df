import { announce } from '../common/page-events.ts';
import { timing } from '../common/timing.ts';
import { giveToPage } from './give-to-page.ts';
import {
  isCarillonData,
  isCarillonMessage,
  type NotificationData,
  parseText,
  readMessage,
  type ShownNotification,
} from './message.ts';
import { openUrl } from './open-url.ts';
import { renewSubscription } from './renew-subscription.ts';
import { reportEvent } from './report-event.ts';
import { updateEvents } from './stored-events.ts';

/**
 * The service worker. As the registered script it handles every push. Imported into a site's own worker
 * it handles only Carillon's pushes and clicks, and stops these from reaching the site's listeners.
 */
declare const self: ServiceWorkerGlobalScope;

const isStandalone = /\/carillon-sw[^/]*\.js$/.test(self.location.pathname);
const { registration } = self;
const environment = { ...timing, update: updateEvents };

// No page depends on the version of this worker, so a new version takes over at once.
if (isStandalone) self.addEventListener('install', () => void self.skipWaiting());

self.addEventListener('push', (event) => {
  const message = messageOf(event);
  if (!isCarillonMessage(message) && !isStandalone) return;
  event.stopImmediatePropagation();
  event.waitUntil(showAndReport(readMessage(message, registration.scope)));
});

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event;
  const data: unknown = notification.data;
  if (!isCarillonData(data) && !isStandalone) return;
  event.stopImmediatePropagation();
  notification.close();
  const { url = registration.scope, urls }: Partial<NotificationData> = Object(data);
  const target = urls?.[action] ?? url;
  if (isCarillonData(data)) {
    if (data.id !== undefined) {
      const detail = { id: data.id, data: data.data, url: target, action };
      announce(registration.scope, { name: 'clicked', detail });
    }
    event.waitUntil(reportEvent('clicked', data, 0, environment));
  }
  event.waitUntil(openUrl(self.clients, target, self.location.href).catch(() => {}));
});

self.addEventListener('pushsubscriptionchange', (event) => {
  // If this fails, the next page view of the site subscribes again.
  event.waitUntil(renewSubscription(registration, event).catch(() => {}));
});

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
  const browser = { scope: registration.scope, userAgent: navigator.userAgent };
  if (isForPage && (await giveToPage(notification, self.clients, browser))) return;
  try {
    await show(title, options);
  } catch {
    // The permission was withdrawn: nothing was shown.
    return;
  }
  const { id, data } = options.data;
  if (id !== undefined) announce(registration.scope, { name: 'shown', detail: { id, data } });
  if (!reportsShown) return;
  const reporting = reportEvent('shown', options.data, eventWindowMs, environment);
  await Promise.race([reporting, environment.wait(reportingMs)]);
}

async function show(title: string, options: ShownNotification['options']): Promise<void> {
  try {
    await registration.showNotification(title, options);
  } catch {
    // WebKit replaces a declarative notification only by one with `navigate`. It opens that URL on a
    // click without a `notificationclick` event, so no beacon is sent: therefore only as a fallback.
    const { url: navigate } = options.data;
    await registration.showNotification(title, { ...options, navigate } as NotificationOptions);
  }
}
