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
  sending: Sending,
  begun: NewNotification,
): Promise<SendOutcome | undefined> {
  const { invocation, signal } = sending;
  try {
    const outcome = await sends.cancel(begun, invocation.id, signal);
    if (outcome === 'stopped') return stopped(sending, begun);
  } catch (error) {
    observe.cancelFailed({ projectId: begun.projectId, notificationId: begun.id }, error);
  }
  return undefined;
}

function stopped(sending: Sending, begun: NewNotification): SendOutcome {
  if (begun.division.respondedAsync) return { kind: 'accepted', id: begun.id, status: 'stopped' };
  return sentOutcome(sending, begun, { results: [storedResult(undefined)], isStopped: true });
}

/** The response to a send that was cancelled because no time was left. */
export function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}
