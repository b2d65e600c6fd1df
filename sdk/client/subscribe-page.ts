import { CarillonError } from '../common/error.ts';
import { subscribeBrowser } from '../common/subscription.ts';
import type { Settings } from './options.ts';
import { registerWorker } from './service-worker.ts';

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
