import { ServiceError } from '../../contract/errors.ts';
import { storedResult } from '../results/results.ts';
import type { NewNotification } from '../store/send-writes.ts';
import { type SendDependencies, type Sending, type SendOutcome, sentOutcome } from './sending.ts';

/**
 * Undoes what may have begun, so that a repeated request starts from the beginning.
 * @returns the outcome if the notification was stopped meanwhile: then it is kept.
 */
export async function cancel(
  { sends, observe }: SendDependencies,
  { invocation, signal }: Sending,
  begun: NewNotification,
): Promise<SendOutcome | undefined> {
  try {
    if ((await sends.cancel(begun, invocation.id, signal)) === 'stopped') return stopped(begun);
  } catch (error) {
    observe.cancelFailed({ projectId: begun.projectId, notificationId: begun.id }, error);
  }
  return undefined;
}

function stopped({ id, division }: NewNotification): SendOutcome {
  if (division.respondedAsync) return { kind: 'accepted', id, status: 'stopped' };
  return sentOutcome(id, [storedResult(undefined)], division, true);
}

/** The response to a send that was cancelled because no time was left. */
export function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}
