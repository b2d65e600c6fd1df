import { report } from './beacon.ts';
import {
  isCarillonData,
  isCarillonMessage,
  parseText,
  readMessage,
  type ShownNotification,
} from './message.ts';
import { openUrl } from './open-url.ts';
import { renew } from './renew.ts';

/**
 * The service worker. As a worker of its own, under its own name, it answers every push. Imported
 * into a site's worker it answers Carillon's, keeps the site's listeners out of those, and leaves
 * everything else to them.
 */
declare const self: ServiceWorkerGlobalScope;

const isAlone = /\/carillon-sw[^/]*\.js$/.test(self.location.pathname);
const { registration } = self;

// No page depends on a version of this worker: a new one may take over at once.
if (isAlone) self.addEventListener('install', () => void self.skipWaiting());

self.addEventListener('push', (event) => {
  const message = messageOf(event);
  const isOurs = isCarillonMessage(message);
  if (!isOurs && !isAlone) return;
  event.stopImmediatePropagation();
  event.waitUntil(showAndReport(readMessage(message, registration.scope)));
});

self.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  const data: unknown = notification.data;
  if (!isCarillonData(data) && !isAlone) return;
  event.stopImmediatePropagation();
  notification.close();
  const { url = registration.scope } = { ...(data as { readonly url?: string } | null) };
  event.waitUntil(openUrl(url).catch(() => {}));
  if (isCarillonData(data)) event.waitUntil(report('clicked', data));
});

self.addEventListener('pushsubscriptionchange', (event) => {
  // What fails here, the next page of the site repairs.
  event.waitUntil(renew(registration, event).catch(() => {}));
});

/** A browser that shows declarative messages hands over the notification instead of the text. */
function messageOf(event: PushEvent & { readonly notification?: unknown }): unknown {
  const { data, notification } = event;
  return data ? parseText(data.text()) : { notification };
}

async function showAndReport({ title, options }: ShownNotification): Promise<void> {
  try {
    await show(title, options);
  } catch {
    // Not allowed any more: nothing was shown.
    return;
  }
  await report('shown', options.data);
}

async function show(title: string, options: ShownNotification['options']): Promise<void> {
  try {
    await registration.showNotification(title, options);
  } catch {
    // WebKit lets only a notification with `navigate` take a declarative one's place. It then
    // follows a click by itself, with no event for a beacon: so this is the second choice.
    const { url: navigate } = options.data;
    await registration.showNotification(title, { ...options, navigate } as NotificationOptions);
  }
}
