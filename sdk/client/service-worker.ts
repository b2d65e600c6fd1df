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

/**
 * The URL of the worker that gets the pushes, if it is not Carillon's. Carillon's has the path of the option, or the
 * name of the SDK's file. Undefined also if the browser does not tell.
 */
export function otherWorker(
  registration: ServiceWorkerRegistration | undefined,
  { serviceWorker }: Settings,
): string | undefined {
  const url = workersOf(registration)[0]?.scriptURL;
  const isOwn = url?.startsWith(serviceWorker.split('?')[0]!) || /carillon-sw[^/]*$/.test(url!);
  return isOwn ? undefined : url;
}

export const otherWorkerText = (scope: string, other: string, file: string) =>
  `${scope} has the service worker ${other}, not ${file}. Import carillon-sw.js there, or serve it in another folder.`;

/**
 * Registers the service worker, and returns the browser's subscription as {@link subscribeBrowser} does.
 * @param found the registration of the scope.
 * @throws {CarillonError} `service_worker_failed`, `permission_denied`, `push_service_failed`, `timeout`.
 */
export async function subscribePage(
  settings: Settings,
  found: ServiceWorkerRegistration | undefined,
): Promise<PushSubscription> {
  const { serviceWorker: file, url, scope, replaceWorker, project } = settings;
  const failed = (sentence: string, cause?: unknown) =>
    new CarillonError('service_worker_failed', sentence, { cause });
  // One that has this file is used as it is.
  const isKept = !file || workersOf(found).some(({ scriptURL }) => scriptURL === file);
  const other = otherWorker(found, settings);
  if (other && !isKept && !replaceWorker) throw failed(otherWorkerText(scope, other, file));
  const starting = within(installationTimeoutMs, async (signal) => {
    const registration = isKept
      ? found!
      : await navigator.serviceWorker.register(trusted(url), { scope });
    // Unlike `navigator.serviceWorker.ready`, this also ends on a page outside the scope. A worker that waits until the
    // tabs of another one are closed is not waited for.
    while (!registration.active) {
      signal.throwIfAborted();
      if (workersOf(registration).length === 0) throw new Error('its installation failed');
      await timing.wait(activationPollMs);
    }
    return registration;
  });
  const { pushManager } = await starting.catch(async (cause) => {
    throw failed(await faultText(settings, cause.message), cause);
  });
  return subscribeBrowser(pushManager, project.applicationServerKey).catch((cause) => {
    throw browserError(cause, 'push_service_failed');
  });
}

const codes: Readonly<Record<string, CarillonErrorCode>> = {
  TimeoutError: 'timeout',
  NotAllowedError: 'permission_denied',
};

/** What a browser has thrown, as an error of the SDK. */
export function browserError(cause: unknown, code: CarillonErrorCode): CarillonError {
  if (cause instanceof CarillonError) return cause;
  const { name, message } = Object(cause);
  return new CarillonError(codes[name] ?? code, `The browser failed: ${message}`, { cause });
}

/** A site's own worker may fill its caches before. */
const installationTimeoutMs = 30_000;
const activationPollMs = 50;

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

/** Each browser reports the fault in other words, and Firefox not at all. */
async function faultText({ serviceWorker: file, scope }: Settings, message: string) {
  const refusal = await policyRefusal(file, 'trusted-types');
  const isAbove = !scope.startsWith(new URL('.', file).href);
  const reason =
    (await unusableResponse(file)) ??
    (isAbove ? 'its scope needs the header "Service-Worker-Allowed"' : (refusal ?? message));
  return `${file} failed to start; see check(): ${reason}`;
}

/**
 * What the file of a service worker responds with, if browsers refuse that. Undefined also if the page may not read
 * it. A development server may respond to a missing file with 200 and a page.
 */
export async function unusableResponse(file: string): Promise<string | undefined> {
  const response = await fetchFile(file, 'manual');
  const type = response?.headers.get('content-type') ?? '';
  return !response || (response.ok && /script/i.test(type))
    ? undefined
    : `${response.status || 'a redirect'} ${type}`;
}

export function fetchFile(file: string, redirect: RequestRedirect): Promise<Response | undefined> {
  return within(browserTimeoutMs, () => fetch(file, { redirect })).catch(() => undefined);
}
