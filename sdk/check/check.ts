import { helpOf } from '../bell/texts.ts';
import { type UnsupportedReason, unsupportedReason } from '../client/environment.ts';
import { type CarillonOptions, readOptions, type Settings } from '../client/options.ts';
import { findRegistration, unusableResponse } from '../client/service-worker.ts';
import { readRegistration } from '../common/storage.ts';
import { hasKey, isDead } from '../common/subscription.ts';
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
  insecure_context: 'insecure',
  ios_not_installed: 'install',
  no_push: 'noPush',
};

/**
 * Finds out why notifications may not arrive in this browser. It changes nothing, asks the visitor nothing, and sends
 * nothing anywhere.
 * @param options as for `init`.
 * @param texts replaces texts, such as with translations.
 * @returns the results up to the first problem that makes the others meaningless, and advice.
 */
export async function check(
  options: CarillonOptions,
  texts: Partial<CheckTexts> = {},
): Promise<readonly CheckResult[]> {
  const all = { ...english, ...texts };
  const settings = readOptions(options, document.baseURI, self.origin);
  const results: CheckResult[] = [];
  const add = (name: CheckName, problem: string | undefined, found: string) => {
    const level = problem === undefined ? 'ok' : 'problem';
    results.push({ name, level, message: problem ?? found });
    return problem === undefined;
  };

  const reason = unsupportedReason(self);
  if (!add('page', reason && all[unsupportedTexts[reason]], all.supported)) return results;
  const isAllowed = add('permission', permissionProblem(all), all.allowed);
  const worker = await findRegistration(settings.scope);
  const workerProblem = await problemOfWorker(worker, settings, all);
  add('service worker', workerProblem, fill(all.workerActive, { file: settings.serviceWorker }));
  const subscription = (await worker?.pushManager.getSubscription()) ?? null;
  const subscriptionProblem = problemOfSubscription(subscription, settings, all);
  const isSubscribed = add('subscription', subscriptionProblem, all.subscribed);
  if (subscription !== null && isSubscribed) {
    const { problem, text } = await pushServiceText(subscription.endpoint, navigator, all);
    add('push service', problem, text);
    const stored = await readRegistration(settings.scope);
    const { baseUrl, projectId } = settings.project;
    const isRegistered =
      stored?.endpoint === subscription.endpoint && stored.projectId === projectId;
    const time = new Date(stored?.registeredAt ?? 0).toLocaleString();
    add(
      'registration',
      isRegistered ? undefined : fill(all.notRegistered, { baseUrl }),
      fill(all.registered, { baseUrl, time }),
    );
  }
  if (isAllowed) {
    const message = fill(all.hidden, { advice: systemAdvice(navigator.userAgent, all) });
    results.push({ name: 'system', level: 'advice', message });
  }
  return results;
}

/**
 * Shows a notification without a push, so that only the browser and the system can hide it.
 * @param texts replaces texts, such as with translations.
 * @returns false if this page may not show one.
 */
export async function showTestNotification(
  options: CarillonOptions,
  texts: Partial<CheckTexts> = {},
): Promise<boolean> {
  const { testTitle, testBody: body } = { ...english, ...texts };
  const { scope } = readOptions(options, document.baseURI, self.origin);
  if (unsupportedReason(self) !== undefined || Notification.permission !== 'granted') return false;
  const worker = await findRegistration(scope);
  if (!worker?.active) return false;
  // The worker takes clicks only of notifications that Carillon sent.
  await worker.showNotification(testTitle, { body, tag: 'carillon-check' });
  return true;
}

function permissionProblem(texts: CheckTexts): string | undefined {
  const { permission } = Notification;
  if (permission === 'granted') return undefined;
  if (permission === 'default') return texts.notAsked;
  return helpOf({ reason: undefined, permission }, texts, self);
}

async function problemOfWorker(
  worker: ServiceWorkerRegistration | undefined,
  { serviceWorker: file, scope }: Settings,
  texts: CheckTexts,
): Promise<string | undefined> {
  const response = await unusableResponse(file);
  if (response !== undefined) return fill(texts.workerFile, { file, response });
  if (worker === undefined) {
    const others = await navigator.serviceWorker.getRegistrations();
    const scopes = others.map((other) => other.scope).join(', ') || '–';
    return fill(texts.workerMissing, { scope, scopes });
  }
  const { active } = worker;
  if (active === null) return texts.workerInactive;
  const other = active.scriptURL;
  return other === file ? undefined : fill(texts.workerOther, { other, scope, file });
}

function problemOfSubscription(
  subscription: PushSubscription | null,
  { project }: Settings,
  texts: CheckTexts,
): string | undefined {
  if (subscription === null) return texts.notSubscribed;
  return hasKey(subscription, project.applicationServerKey) ? undefined : texts.otherKey;
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
  return { text: (await brave?.isBrave()) ? `${text} ${texts.brave}` : text };
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
