import { CarillonError } from '../common/error.ts';
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
    const sentence = `${serviceWorker} failed to start: ${(cause as Error).message}`;
    throw new CarillonError('service_worker_failed', sentence, { cause });
  }
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
