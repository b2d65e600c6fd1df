import type { Share } from '../../contract/share.ts';
import type { PreparedShare } from '../deliver/deliver-share.ts';
import { expectedSubscribers, totalOf } from '../results/results.ts';
import type { NewNotification } from '../store/send-writes.ts';
import { cancel, outOfTime } from './cancel.ts';
import { runShares } from './run-shares.ts';
import { type SendDependencies, type Sending, type SendOutcome, sentOutcome } from './sending.ts';

/** Runs the shares of a notification that has begun: the first one here, the others in functions. */
export async function awaitShares(
  deps: SendDependencies,
  sending: Sending,
  begun: NewNotification,
  first: PreparedShare,
  others: readonly Share[],
): Promise<SendOutcome> {
  const { project, invocation } = sending;
  const { id, division } = begun;
  const outcome = await runShares(deps, project, first, others, invocation);
  const total = totalOf(outcome.results, expectedSubscribers(division));
  const isStopped = outcome.results.some((share) => share.isStopped === true);
  if (total.attempted === 0 && total.unreached > 0 && !outcome.isUnknown && !isStopped) {
    const stopped = await cancel(deps, sending, begun);
    if (stopped !== undefined) return stopped;
    throw outcome.error ?? outOfTime();
  }
  deps.observe.sent({ projectId: begun.projectId, notificationId: id }, { ...total, isStopped });
  return sentOutcome(sending, begun, { ...outcome, isStopped });
}
