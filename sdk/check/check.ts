import { helpOf, type TextsOf, withTexts } from '../bell/texts.ts';
import { type UnsupportedReason, unsupportedReason } from '../client/environment.ts';
import {
  type CarillonOptions,
  optionNames,
  readOptions,
  type Settings,
} from '../client/options.ts';
import { askWorker, fetchFile, findRegistration, responseText } from '../client/service-worker.ts';
import { expectKnown } from '../common/option-checks.ts';
import { type Failure, postSubscription, requestOnce } from '../common/service.ts';
import { readRegistration } from '../common/storage.ts';
import { hasKey, isDead } from '../common/subscription.ts';
import { timing, within } from '../common/timing.ts';
import { type CheckName, type CheckTexts, english, fill } from './texts.ts';

/** One of the things that must be right for notifications to arrive here. */
export interface CheckResult {
  readonly name: CheckName;
  /** `advice`: a page cannot find it out, a person can. */
  readonly level: 'ok' | 'problem' | 'advice';
  /** What was found, and what to do about it. */
  readonly message: string;
}

const unsupportedTexts: Readonly<Record<UnsupportedReason, keyof CheckTexts>> = {
  no_origin: 'noOrigin',
  insecure_context: 'insecure',
  embedded: 'embedded',
  storage_denied: 'storageDenied',
  ios_not_installed: 'install',
  no_push: 'noPush',
};

/**
 * Finds out why notifications may not arrive in this browser. It asks the service worker for its version, and sends the
 * stored registration to the service again. A browser without a subscription is subscribed for a moment. The visitor is
 * asked nothing. It reports nothing that it could not read, and no consequence of another problem.
 * @param options as for `init`.
 * @param texts replaces texts, such as with translations.
 */
export async function check(
  options: CarillonOptions,
  texts: TextsOf<CheckTexts> = {},
): Promise<readonly CheckResult[]> {
  const all = withTexts(english, texts);
  // The page's client does not know what was meant by an unknown one.
  expectKnown(Object(options), optionNames);
  const settings = readOptions(options, document.baseURI, location.origin);
  const { project, scope } = settings;
  const results: CheckResult[] = [];
  const add = (name: CheckName, problem: string | undefined, found: string) => {
    const level = problem === undefined ? 'ok' : 'problem';
    results.push({ name, level, message: problem ?? found });
    return problem === undefined;
  };

  const reason = unsupportedReason(window);
  if (!add('page', reason && all[unsupportedTexts[reason]], all.supported)) return results;
  const isAllowed = add('permission', permissionProblem(all), all.allowed);
  // Null: it could not be read.
  const registration = await findRegistration(scope).catch(() => null);
  const [kind, url = ''] = registration ? await askWorker(scope) : [];
  if (kind === 'carillon') {
    add('service worker', undefined, fill(all.workerActive, { file: pathOf(url) }));
  } else if (kind === 'other') {
    const waits = registration?.waiting ? ` ${all.workerInactive}` : '';
    const values = { other: pathOf(url), scope };
    add('service worker', fill(all.workerOther + waits, values), '');
  } else {
    const problem = await problemOfFile(settings, all);
    if (problem || registration) add('service worker', problem ?? all.workerInactive, '');
    else if (registration === undefined && isAllowed) {
      add('service worker', await missingWorker(settings, all), '');
    }
  }
  const subscription =
    isAllowed && (await registration?.pushManager.getSubscription().catch(() => undefined));
  if (isAllowed && !subscription && kind === 'carillon') {
    const problem = await problemOfSubscribing(registration!, settings, all);
    // It may have one that could not be read.
    if (subscription === null || problem !== all.notSubscribed) add('subscription', problem, '');
  }
  if (subscription) {
    const isOwn = hasKey(subscription, project.applicationServerKey);
    add('subscription', isOwn ? undefined : all.otherKey, all.subscribed);
    if (isOwn) {
      const { problem, text } = await pushServiceText(subscription.endpoint, navigator, all);
      add('push service', problem, text);
      await addRegistration(subscription);
    }
  }
  if (!results.some(({ name }) => name === 'registration')) {
    results.push({ name: 'registration', level: 'advice', message: all.serviceNotAsked });
  }
  if (isAllowed) {
    const message = fill(all.hidden, { advice: systemAdvice(navigator.userAgent, all) });
    results.push({ name: 'system', level: 'advice', message });
  }
  return results;

  async function addRegistration(asked: PushSubscription): Promise<void> {
    const { baseUrl, projectId } = project;
    const stored = await readRegistration(scope).catch(() => false as const);
    // Nobody knows what the service has.
    if (stored === false) return;
    let problem: string | undefined;
    if (stored?.endpoint !== asked.endpoint || stored.projectId !== projectId) {
      problem = fill(all.notRegistered, { baseUrl });
    } else {
      const { choice } = stored;
      const request = postSubscription(project, asked.toJSON(), choice, requestOnce, true);
      await request.catch(async ({ response }: Failure) => {
        const { error } = Object(await response?.json().catch(() => null));
        const message = error?.message ?? response?.status ?? all.noResponse;
        problem = fill(all.refused, { baseUrl, message });
      });
    }
    add('registration', problem, fill(all.registered, { baseUrl }));
  }
}

/**
 * Shows a notification without a push, so that only the browser and the system can hide it.
 * @param texts replaces texts, such as with translations.
 * @returns false if this page may not show one.
 */
export async function showTestNotification(
  options: CarillonOptions,
  texts: TextsOf<CheckTexts> = {},
): Promise<boolean> {
  const { testTitle, testBody: body } = withTexts(english, texts);
  const { scope } = readOptions(options, document.baseURI, location.origin);
  if (unsupportedReason(window) !== undefined || Notification.permission !== 'granted')
    return false;
  try {
    const registration = await findRegistration(scope);
    const [kind] = await askWorker(scope);
    if (!registration || kind === 'none') return false;
    // The worker takes clicks only of notifications that Carillon sent.
    await registration.showNotification(testTitle, { body, tag: 'carillon-check' });
    return true;
  } catch {
    return false;
  }
}

function permissionProblem(texts: CheckTexts): string | undefined {
  const { permission } = Notification;
  if (permission === 'granted') return undefined;
  if (permission === 'default') return texts.notAsked;
  return helpOf({ reason: undefined, permission }, texts, window);
}

async function problemOfFile(
  { serviceWorker }: Settings,
  texts: CheckTexts,
): Promise<string | undefined> {
  const file = pathOf(serviceWorker);
  const response = serviceWorker ? await fetchFile(serviceWorker, 'manual') : undefined;
  const isScript = /script/i.test(response?.headers.get('content-type') ?? '');
  // A development server may respond to a missing file with 200 and a page; a site's worker does that too, for files that
  // exist.
  const isUsable = response?.ok && (isScript || navigator.serviceWorker.controller);
  if (!response || isUsable) return undefined;
  // That of another site cannot be read.
  const followed = await fetchFile(serviceWorker, 'follow');
  const target = followed?.redirected ? ` to ${followed.url}` : '';
  return fill(texts.workerFile, { file, response: responseText(response) + target });
}

/** Chromium without a connection never settles `PushManager.subscribe()`. */
const subscribeTimeoutMs = 15_000;

/** Subscribes for a moment: nothing else tells whether the browser has a connection to its push service. */
async function problemOfSubscribing(
  { pushManager }: ServiceWorkerRegistration,
  { project, scope }: Settings,
  texts: CheckTexts,
): Promise<string> {
  const options = { ...project, userVisibleOnly: true };
  const attempt = () => within(subscribeTimeoutMs, () => pushManager.subscribe(options));
  try {
    // The first call fails while the browser is still connecting.
    const subscription = await attempt().catch(() => timing.wait(1000).then(attempt));
    const stored = await readRegistration(scope).catch(() => undefined);
    // Otherwise a page has registered it meanwhile.
    if (stored?.endpoint !== subscription?.endpoint) await subscription?.unsubscribe();
    return texts.notSubscribed;
  } catch (error) {
    return fill(texts.noPushService, { message: (error as Error).message });
  }
}

/** What there is in place of a worker of this scope, and what may prevent it. */
async function missingWorker(settings: Settings, texts: CheckTexts): Promise<string> {
  const { serviceWorker, scope } = settings;
  const response = await fetchFile(serviceWorker, 'manual');
  const allowed = response?.headers.get('service-worker-allowed') ?? '.';
  if (response && !scope.startsWith(new URL(allowed, serviceWorker).href)) {
    return fill(texts.workerScope, { file: pathOf(serviceWorker) });
  }
  const others = await navigator.serviceWorker.getRegistrations().catch(() => []);
  const scopes = others.map((other) => other.scope).join(', ') || '–';
  const missing = fill(texts.workerMissing, { scope, scopes });
  try {
    // Loads nothing: the element is not in the page.
    document.createElement('script').src = '/';
    return missing;
  } catch {
    return `${missing} ${texts.trustedTypes}`;
  }
}

/** The name by which people know the file. */
function pathOf(url: string): string {
  return url.replace(location.origin, '');
}

/** The part of `navigator` that Brave adds. */
interface PageNavigator {
  readonly brave?: { isBrave(): Promise<boolean> };
}

/** @returns the push service of an endpoint in words, and what is known to prevent deliveries through it. */
export async function pushServiceText(
  endpoint: string,
  navigator: object,
  texts: CheckTexts,
): Promise<{ readonly text: string; readonly problem?: string }> {
  const { host } = new URL(endpoint);
  if (isDead({ endpoint })) {
    return { text: host, problem: fill(texts.deadEndpoint, { service: host }) };
  }
  const [, service = host] = services.find(([pattern]) => pattern.test(host)) ?? [];
  const text = google.test(host) ? texts.pushServiceGoogle : fill(texts.pushService, { service });
  const { brave } = navigator as PageNavigator;
  const isBrave = await brave?.isBrave().catch(() => false);
  return { text: isBrave ? `${text} ${texts.brave}` : text };
}

const google = /(^|\.)googleapis\.com$|^jmt17\.google\.com$/;

const services: readonly (readonly [host: RegExp, name: string])[] = [
  [/\.push\.services\.mozilla\.com$/, 'Mozilla'],
  [/\.notify\.windows\.com$/, 'Microsoft (WNS)'],
  [/\.push\.apple\.com$/, 'Apple'],
];

/** The text about each system, by a part of the browser's user agent. The order matters. */
const systems = [
  [/Android/, 'android'],
  [/iPhone|iPad/, 'ios'],
  [/Mac OS X/, 'macos'],
  [/Windows/, 'windows'],
] as const;

/** What a person can look at when the browser shows a notification and the system hides it. */
export function systemAdvice(userAgent: string, texts: CheckTexts): string {
  const [, name = 'otherSystem'] = systems.find(([part]) => part.test(userAgent)) ?? [];
  return texts[name];
}
