import { ServiceError } from '../../contract/errors.ts';
import type { NewNotification } from '../store/send-writes.ts';
import type { SendDependencies, Sending } from './sending.ts';

/** Undoes what may have begun, so that a repeated request starts from the beginning. */
export async function cancel(
  { sends, observe }: SendDependencies,
  { invocation, signal }: Sending,
  begun: NewNotification,
): Promise<void> {
  try {
    await sends.cancel(begun, invocation.id, signal);
  } catch (error) {
    observe.cancelFailed({ projectId: begun.projectId, notificationId: begun.id }, error);
  }
}

/** The response to a send that was cancelled because no time was left. */
export function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}
