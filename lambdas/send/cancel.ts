import type { NewNotification } from '../store/send-writes.ts';
import type { Sending, SendParts } from './sending.ts';

/** Undoes what may have begun, so that a repeated request starts from the beginning. */
export async function cancel(
  { sends, observe }: SendParts,
  { requestId, signal }: Sending,
  begun: NewNotification,
): Promise<void> {
  try {
    await sends.cancel(begun, requestId, signal);
  } catch (error) {
    observe.cancelFailed({ projectId: begun.projectId, notificationId: begun.id }, error);
  }
}
