import { helpOf } from '../bell/help.ts';
import { english } from '../bell/texts.ts';
import { type CarillonOptions, readOptions, type Settings } from '../client/options.ts';
import { findRegistration, problemOfFile } from '../client/service-worker.ts';
import { type UnsupportedReason, unsupportedReason } from '../client/unsupported-reason.ts';
import { readRegistration } from '../common/storage.ts';
import { hasKey } from '../common/subscription.ts';
import { pushServiceText } from './push-service.ts';
import { systemAdvice } from './system-advice.ts';

/** One of the things that must be right for notifications to arrive here. */
export interface CheckResult {
  readonly name:
    | 'page'
    | 'permission'
    | 'service worker'
    | 'subscription'
    | 'push service'
    | 'registration'
    | 'system';
  /** `advice`: a page cannot find it out, a person can. */
  readonly level: 'ok' | 'problem' | 'advice';
  /** What was found, and what to do about it. */
  readonly message: string;
}

const unsupportedTexts: Readonly<Record<UnsupportedReason, string>> = {
  insecure_context: 'This page is not https. Open it at an https address.',
  ios_not_installed: english.install,
  no_push:
    'This browser has no push on this page. It may be a private window, an in-app browser, or turned off in the settings. Open the page in a normal window of the browser.',
};

/**
 * Finds out why notifications may not arrive in this browser. It changes nothing, asks the visitor nothing, and sends
 * nothing anywhere.
 * @param options as for `init`.
 * @returns the results up to the first problem that makes the others meaningless, and advice.
 */
export async function check(options: CarillonOptions): Promise<readonly CheckResult[]> {
  const settings = readOptions(options, document.baseURI, self.origin);
  const results: CheckResult[] = [];
  const add = (name: CheckResult['name'], problem: string | undefined, found: string) => {
    const level = problem === undefined ? 'ok' : 'problem';
    results.push({ name, level, message: problem ?? found });
    return problem === undefined;
  };

  const reason = unsupportedReason(self);
  if (!add('page', reason && unsupportedTexts[reason], 'This page can receive pushes.')) {
    return results;
  }
  const { permission } = Notification;
  const isAllowed = add('permission', permissionProblem(permission), 'Notifications are allowed.');
  const worker = await findRegistration(settings.scope);
  const workerProblem = await problemOfWorker(worker, settings);
  add('service worker', workerProblem, `${settings.serviceWorker} is active.`);
  const subscription = (await worker?.pushManager.getSubscription()) ?? null;
  const isSubscribed = add(
    'subscription',
    problemOfSubscription(subscription, settings),
    'This browser is subscribed.',
  );
  if (subscription !== null && isSubscribed) {
    const { problem, text } = await pushServiceText(subscription.endpoint, navigator);
    add('push service', problem, text);
    const stored = await readRegistration(settings.scope);
    const { baseUrl, projectId } = settings.project;
    const isRegistered =
      stored?.endpoint === subscription.endpoint && stored.projectId === projectId;
    add(
      'registration',
      isRegistered
        ? undefined
        : `${baseUrl} has not confirmed this subscription. Reload the page. If this stays, the service cannot be reached from it: look at the browser's console, and check "baseUrl", "projectId" and the site's Content-Security-Policy.`,
      `${baseUrl} confirmed this subscription on ${new Date(stored?.registeredAt ?? 0).toLocaleString()}.`,
    );
  }
  if (isAllowed) {
    const message = `If the test notification does not appear: ${systemAdvice(navigator.userAgent)}`;
    results.push({ name: 'system', level: 'advice', message });
  }
  return results;
}

/**
 * Shows a notification without a push, so that only the browser and the system can hide it.
 * @returns false if this page may not show one.
 */
export async function showTestNotification(options: CarillonOptions): Promise<boolean> {
  const { scope } = readOptions(options, document.baseURI, self.origin);
  if (unsupportedReason(self) !== undefined || Notification.permission !== 'granted') return false;
  const worker = await findRegistration(scope);
  if (!worker?.active) return false;
  // The worker takes clicks only of notifications that Carillon sent.
  await worker.showNotification('Test', {
    body: 'This browser shows notifications of this site.',
    tag: 'carillon-check',
  });
  return true;
}

function permissionProblem(permission: NotificationPermission): string | undefined {
  if (permission === 'granted') return undefined;
  if (permission === 'default') {
    return 'Nobody has been asked yet, or the question was closed. Subscribe on this site, and allow notifications.';
  }
  return helpOf({ reason: undefined, permission }, english, self);
}

async function problemOfWorker(
  worker: ServiceWorkerRegistration | undefined,
  { serviceWorker, scope }: Settings,
): Promise<string | undefined> {
  const fileProblem = await problemOfFile(serviceWorker);
  if (fileProblem !== undefined) return fileProblem;
  if (worker === undefined) {
    const others = await navigator.serviceWorker.getRegistrations();
    const scopes = others.map((other) => other.scope).join(', ') || 'none';
    return `No service worker has the scope ${scope}; scopes here: ${scopes}. Subscribe on this site.`;
  }
  const { active } = worker;
  if (active === null) return 'The service worker is not active yet. Reload the page.';
  return active.scriptURL === serviceWorker
    ? undefined
    : `${active.scriptURL} has the scope ${scope}, in place of ${serviceWorker}. Two workers cannot share a scope: give one of them another, or import carillon-sw.js in the other one.`;
}

function problemOfSubscription(
  subscription: PushSubscription | null,
  { project }: Settings,
): string | undefined {
  if (subscription === null) return 'This browser is not subscribed. Subscribe on this site.';
  if (!hasKey(subscription, project.applicationServerKey)) {
    return 'This browser is subscribed with another application server key, perhaps that of another sender. Subscribe on this site again.';
  }
  return undefined;
}
