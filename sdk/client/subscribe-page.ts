import { CarillonError } from '../common/error.ts';
import { subscribeBrowser } from '../common/subscription.ts';

/**
 * Returns the browser's subscription for this key, as {@link subscribeBrowser} does.
 * @throws {CarillonError} `permission_denied`, `push_service_failed`, `timeout`.
 */
export function subscribePage(manager: PushManager, key: string): Promise<PushSubscription> {
  return subscribeBrowser(manager, key).catch((cause: Error) => {
    const { name, message } = cause;
    if (name === 'NotAllowedError') throw permissionDenied(cause);
    const code = name === 'TimeoutError' ? 'timeout' : 'push_service_failed';
    throw new CarillonError(code, `The browser cannot subscribe: ${message}`, { cause });
  });
}

export function permissionDenied(cause?: unknown): CarillonError {
  const sentence = 'Allow notifications in the browser settings.';
  return new CarillonError('permission_denied', sentence, { cause });
}
