import type { Share } from '../../contract/share.ts';
import { totalOf } from '../results/results.ts';
import type { NewNotification } from '../store/send-writes.ts';
import { cancel, outOfTime } from './cancel.ts';
import { startShares } from './run-shares.ts';
import type { SendDependencies, Sending, SendOutcome } from './sending.ts';
import { deadlineOf } from './shares-of-notification.ts';

/** Hands a notification that has begun to functions that deliver it when this one has returned. */
export async function handOver(
  deps: SendDependencies,
  sending: Sending,
  begun: NewNotification,
  shares: readonly Share[],
): Promise<SendOutcome> {
  const { project, invocation } = sending;
  const { id } = begun;
  const started = await startShares(deps, project, shares, deadlineOf(sending), invocation);
  if (!started.isStarted) {
    const stopped = await cancel(deps, sending, begun);
    if (stopped !== undefined) return stopped;
    throw outOfTime();
  }
  await markQueued(deps, sending, shares[0]!);
  if (started.results.length > 0) {
    const isStopped = started.results.some((share) => share.isStopped);
    deps.observe.sent(shares[0]!, { ...totalOf(started.results, undefined), isStopped });
  }
  return { kind: 'accepted', id, status: 'sending' };
}

/** Tells a repeated request that functions will deliver the notification. */
async function markQueued(
  deps: SendDependencies,
  { signal }: Sending,
  share: Share,
): Promise<void> {
  try {
    await deps.tallies.open(share, share.firstTally, signal);
  } catch (error) {
    deps.observe.recordFailed(share, error);
  }
}
