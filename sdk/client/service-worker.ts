import { CarillonError } from '../common/error.ts';
import { subscribeBrowser } from '../common/subscription.ts';
import type { Settings } from './options.ts';

/** The registration of exactly this scope. The browser would also return one of a wider scope. */
export async function findRegistration(
  scope: string,
): Promise<ServiceWorkerRegistration | undefined> {
  const registration = await navigator.serviceWorker.getRegistration(scope);
  return registration?.scope === scope ? registration : undefined;
}

/** @throws {CarillonError} `service_worker_failed`. */
export async function registerWorker({
  serviceWorker,
  scope,
}: Settings): Promise<ServiceWorkerRegistration> {
  try {
    const registration = await navigator.serviceWorker.register(serviceWorker, { scope });
    await activation(registration);
    return registration;
  } catch (cause) {
    const response = await unusableResponse(serviceWorker);
    const sentence = response
      ? unusableText(serviceWorker, response)
      : `${serviceWorker} failed to start: ${(cause as Error).message}`;
    throw new CarillonError('service_worker_failed', sentence, { cause });
  }
}

/** @param response of {@link unusableResponse}. */
export const unusableText = (file: string, response: string) =>
  `${file} responds with ${response}. Copy carillon-sw.js there, as text/javascript.`;

/**
 * Status and type of the file of a service worker, undefined if it can be loaded. Each browser reports the
 * fault in other words, and Firefox not at all. A development server may respond to a missing file with 200 and a page.
 */
export async function unusableResponse(url: string): Promise<string | undefined> {
  const file = await fetch(url).catch(() => undefined);
  const type = file?.headers.get('content-type') ?? '';
  return file?.ok && /javascript/.test(type) ? undefined : `${file?.status} ${type}`;
}

/** Unlike `navigator.serviceWorker.ready`, this also resolves on a page outside the scope. */
function activation({ active, waiting, installing }: ServiceWorkerRegistration): Promise<void> {
  const worker = active ?? waiting ?? installing!;
  return new Promise((resolve, reject) => {
    const check = () => {
      if (worker.state === 'activated') resolve();
      else if (worker.state === 'redundant') reject(new Error('not installed'));
    };
    worker.onstatechange = check;
    check();
  });
}

/**
 * Registers the service worker, and returns the browser's subscription as {@link subscribeBrowser} does.
 * @throws {CarillonError} `service_worker_failed`, `permission_denied`, `push_service_failed`, `timeout`.
 */
export async function subscribePage(settings: Settings): Promise<PushSubscription> {
  const { pushManager } = await registerWorker(settings);
  try {
    return await subscribeBrowser(pushManager, settings.project.applicationServerKey);
  } catch (cause) {
    const { name, message } = cause as Error;
    if (name === 'NotAllowedError') throw permissionDenied(cause);
    const code = name === 'TimeoutError' ? 'timeout' : 'push_service_failed';
    throw new CarillonError(code, `The browser cannot subscribe: ${message}`, { cause });
  }
}

export function permissionDenied(cause?: unknown): CarillonError {
  const sentence = 'Allow notifications in the browser settings.';
  return new CarillonError('permission_denied', sentence, { cause });
}
