import { finalCounts, isReached, isStopped } from '../results/outcome.ts';
import type { StoredSlice } from '../store/slices.ts';
import type { Sending, SendOutcome } from './sending.ts';

/** The response with the counts, as if nobody worked on the slices any more. @param slices all of them. */
export function sentOutcome(
  { call, notification }: Sending,
  slices: readonly (StoredSlice | undefined)[],
): SendOutcome {
  const { audience } = call;
  const userIds = 'userIds' in audience ? audience.userIds : [];
  // Users for whose counts a caller waits are in one slice.
  const usersNotReached = userIds.filter((_, index) => !isReached(slices[0]?.reached, index));
  const { attempted, delivered, removed, failed, failures, unreached } = finalCounts(
    notification,
    slices,
  );
  return {
    kind: 'sent',
    result: {
      ...{ id: notification.id, attempted, delivered, removed, failed },
      failures: failed > 0 ? failures : undefined,
      unreached: unreached || undefined,
      usersNotReached: usersNotReached.length > 0 ? usersNotReached : undefined,
      status: isStopped(notification, slices) ? 'stopped' : undefined,
    },
  };
}
