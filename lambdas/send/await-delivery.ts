import type { Share } from '../../contract/share.ts';
import type { PreparedShare } from '../deliver/deliver-share.ts';
import { totalOf } from '../results/results.ts';
import type { NewNotification } from '../store/send-writes.ts';
import { cancel, outOfTime } from './cancel.ts';
import { runShares } from './run-shares.ts';
import { type Sending, type SendOutcome, type SendParts, sentOutcome } from './sending.ts';

/** Delivers a notification that has begun: the first share here, the others in functions. */
export async function awaitDelivery(
  parts: SendParts,
  sending: Sending,
  begun: NewNotification,
  first: PreparedShare,
  others: readonly Share[],
): Promise<SendOutcome> {
  const { project, invocation } = sending;
  const { id, division } = begun;
  const outcome = await runShares(parts, project, first, others, invocation);
  const total = totalOf(outcome.results, division.subscribers);
  if (total.attempted === 0 && total.unreached > 0 && !outcome.isUnknown) {
    await cancel(parts, sending, begun);
    throw outcome.error ?? outOfTime();
  }
  parts.observe.sent({ projectId: begun.projectId, notificationId: id }, total);
  return sentOutcome(id, total);
}
