import type { NewNotification } from '../store/send-writes.ts';
import type { Sending, SendParts } from './sending.ts';

/** Undoes what may have begun, so that a repeated request starts from the beginning. */
export async function cancel(
  { sends, observeSend }: SendParts,
  { project, requestId, signal }: Sending,
  begun: NewNotification,
): Promise<void> {
  try {
    await sends.cancel(begun, requestId, signal);
  } catch (error) {
    observeSend.cancelFailed(project, begun.id, error);
  }
}
