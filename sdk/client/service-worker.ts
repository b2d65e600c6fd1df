import { ask, type VersionAnswer, versionQuestion } from '../common/ask.ts';
import { CarillonError, type CarillonErrorCode } from '../common/error.ts';
import { subscribeBrowser } from '../common/subscription.ts';
import { timing, within } from '../common/timing.ts';
import { policyRefusal, workersOf } from './environment.ts';
import type { Settings } from './options.ts';

/** For what a browser does by itself. */
export const browserTimeoutMs = 5000;

/** The registration of exactly this scope. The browser would also return one of a wider scope. */
export async function findRegistration(
  scope: string,
): Promise<ServiceWorkerRegistration | undefined> {
  const registration = await within(browserTimeoutMs, () =>
    navigator.serviceWorker.getRegistration(scope),
  );
  return registration?.scope === scope ? registration : undefined;
}

/** The URLs of workers that have answered as Carillon's, and the workers that have not. Undefined matches none. */
export type Heard = Set<string | ServiceWorker | undefined>;

/** The service worker that gets the pushes, as it has answered, and its URL. */
export type AskedWorker = readonly [kind: 'carillon' | 'other' | 'none', url?: string];

/** It is doubled with each question: a worker has 10 s to start and to answer. */
const firstAnswerTimeoutMs = 320;
const lastAnswerTimeoutMs = 5120;

/**
 * Asks the service worker that gets the pushes for its version: the URL of a script does not tell what it does. One that
 * takes its place meanwhile is asked too.
 * @param heard one that has answered is not asked again while its URL stays the same.
 */
export async function askWorker(
  scope: string,
  heard: Heard = new Set(),
  timeoutMs = firstAnswerTimeoutMs,
): Promise<AskedWorker> {
  const registration = await findRegistration(scope);
  const [first, newer] = workersOf(registration);
  const active = registration?.active;
  const isOver = timeoutMs > lastAnswerTimeoutMs;
  // Until the first worker is active, nobody gets pushes. Firefox has no worker at all for seconds after a reload.
  if (!active && (!registration || first || isOver)) return ['none'];
  if (active) {
    const { scriptURL: url } = active;
    if (heard.has(url)) return ['carillon', url];
    if (isOver) heard.add(active);
    if (heard.has(active)) return ['other', url];
  }
  // In Chromium, a question keeps a worker for 30 s from being replaced by a newer one.
  const isAsked = active && !(newer && timeoutMs < lastAnswerTimeoutMs);
  const answer = isAsked
    ? await ask<VersionAnswer>(timeoutMs, active, versionQuestion)
    : ((await timing.wait(timeoutMs)) as undefined);
  if (answer?.version) heard.add(active!.scriptURL);
  return askWorker(scope, heard, timeoutMs * 2);
}

/** What is wrong with a worker that does not answer as Carillon's. */
export const otherWorkerText = (scope: string, other: string) =>
  `${scope} has the service worker ${other}. It does not answer as Carillon's: import carillon-sw.js, or see check().`;

/**
 * Registers the service worker, and returns the browser's subscription as {@link subscribeBrowser} does, with the
 * worker's URL.
 * @param found the registration of the scope.
 * @param isRepeated whether a worker that was registered here has gone.
 * @throws {CarillonError} `service_worker_failed`, `permission_denied`, `push_service_failed`, `timeout`.
 */
export async function subscribePage(
  settings: Settings,
  found: ServiceWorkerRegistration | undefined,
  isRepeated = false,
): Promise<readonly [PushSubscription, worker: string | undefined]> {
  const { serviceWorker: file, url, scope, replaceWorker, project } = settings;
  const failed = (sentence: string, cause?: unknown) =>
    new CarillonError('service_worker_failed', sentence, { cause });
  const current = workersOf(found)[0]?.scriptURL ?? file;
  // Another version of Carillon's own file is replaced, and one of another file only if the page says so.
  const isOwn = current.split('?')[0] === file.split('?')[0] || /carillon-sw[^/]*$/.test(current);
  // One that has this file is used as it is, and so is another one, if it answers.
  const isKept =
    !file ||
    !(isOwn || replaceWorker) ||
    workersOf(found).some(({ scriptURL }) => scriptURL === file);
  let wasInstalled = isKept && found?.active;
  try {
    const start = async (signal: AbortSignal) => {
      // Browsers look for a new version of the file when a page of the scope is opened, which may have none.
      if (isKept && replaceWorker) await found?.update().catch(() => {});
      const registration = isKept
        ? found!
        : await navigator.serviceWorker.register(trusted(url), { scope });
      const worker = workersOf(registration).pop();
      // One whose installation fails has this event only when it has failed.
      worker?.addEventListener('statechange', () => {
        if (worker.state !== 'redundant') wasInstalled = worker;
      });
      // Unlike `navigator.serviceWorker.ready`, this also ends on a page outside the scope. A worker that waits until
      // the tabs of another one are closed is not waited for.
      while (!registration.active) {
        signal.throwIfAborted();
        if (!workersOf(registration)[0]) throw new Error('installation failed');
        await timing.wait(pollMs);
      }
      return registration;
    };
    const { pushManager } = await within(installationTimeoutMs, start).catch(async (cause) => {
      throw failed(await faultText(file, cause.message), cause);
    });
    const [kind, other] = await askWorker(scope);
    if (kind === 'other') throw failed(otherWorkerText(scope, other!));
    const subscribing = subscribeBrowser(pushManager, project.applicationServerKey);
    const subscription = await subscribing.catch((cause) => {
      throw browserError(cause, 'push_service_failed');
    });
    if (await findRegistration(scope)) return [subscription, other];
  } catch (error) {
    if (!wasInstalled || (await findRegistration(scope))) throw error;
  }
  if (!file || isRepeated) throw failed(`This page unregisters ${current}.`);
  return subscribePage(settings, undefined, true);
}

const codes: Readonly<Record<string, CarillonErrorCode>> = {
  TimeoutError: 'timeout',
  NotAllowedError: 'permission_denied',
};

/** What a browser has thrown, as an error of the SDK. */
export function browserError(cause: unknown, code: CarillonErrorCode): CarillonError {
  if (cause instanceof CarillonError) return cause;
  return new CarillonError(
    codes[Object(cause).name] ?? code,
    `The browser failed: ${Object(cause).message}`,
    { cause },
  );
}

/** A site's own worker may fill its caches before. */
const installationTimeoutMs = 30_000;
const pollMs = 50;

declare const trustedTypes: {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string };
};
let policy: ReturnType<typeof trustedTypes.createPolicy> | undefined;

/** A URL of the type that pages with Trusted Types require, if they allow the policy's name; elsewhere unchanged. */
function trusted(url: Settings['url']): string {
  try {
    if (typeof url === 'string') {
      policy ??= trustedTypes.createPolicy('carillon', { createScriptURL: String });
      return policy.createScriptURL(url);
    }
  } catch {
    // The page has no Trusted Types, or does not allow the name.
  }
  return url as string;
}

/**
 * What is known of a service worker that did not start: what its file responds with, what the page's policy refused, or
 * what the browser says, which Firefox does with the same words for every fault. `check()` draws conclusions.
 */
async function faultText(file: string, message: string): Promise<string> {
  const refusal = await policyRefusal(file, 'trusted-types');
  const response = await fetchFile(file, 'manual');
  const responded = response ? `${responseText(response)}: ` : '';
  return `${file} failed to start; see check(): ${responded}${refusal ?? message}`;
}

/** Status and type of a response. That of a redirect cannot be read. */
export function responseText({ status, headers }: Response): string {
  return `${status || 'a redirect'} ${headers.get('content-type') ?? ''}`.trim();
}

/** Undefined if the page may not read the response. */
export function fetchFile(file: string, redirect: RequestRedirect): Promise<Response | undefined> {
  return within(browserTimeoutMs, () => fetch(file, { redirect })).catch(() => undefined);
}
