import type { FailureReason, Failures } from '../../contract/failure-reasons.ts';
import type { ShareResult } from '../../contract/share.ts';
import type { ShareCounts, Tally } from '../store/tallies.ts';

/** The counts of a share before its first push. */
export const noCounts: ShareCounts = {
  attempted: 0,
  delivered: 0,
  removed: 0,
  failed: 0,
  failures: {},
  unreached: 0,
};

export function addCounts(left: ShareCounts, right: ShareCounts): ShareCounts {
  return {
    attempted: left.attempted + right.attempted,
    delivered: left.delivered + right.delivered,
    removed: left.removed + right.removed,
    failed: left.failed + right.failed,
    failures: addFailures(left.failures, right.failures),
    unreached: left.unreached + right.unreached,
  };
}

function addFailures(left: Failures, right: Failures): Failures {
  const sum: Partial<Record<FailureReason, number>> = { ...left };
  for (const [reason, number] of Object.entries(right) as [FailureReason, number][]) {
    sum[reason] = (sum[reason] ?? 0) + number;
  }
  return sum;
}

/**
 * The counts of a share whose invocation ended during a chunk. Nobody knows which of the chunk's pushes
 * were sent, so those without a stored outcome count as failed and are not repeated.
 */
export function interruptedCounts({ counts, pending }: Tally): ShareCounts {
  if (pending === 0) return counts;
  const interrupted = { attempted: pending, failed: pending, failures: { interrupted: pending } };
  return addCounts(counts, { ...noCounts, ...interrupted });
}

/** The result of a share of which nothing else is known than its first tally. */
export function storedResult(tally: Tally | undefined): ShareResult {
  if (tally === undefined) return { ...noCounts, isComplete: false };
  const isComplete = tally.ended === 'complete' || (tally.ended === undefined && !!tally.isRead);
  return { ...interruptedCounts(tally), isComplete };
}

/**
 * Adds up the results of a notification's shares.
 * @param subscribers how many subscribers the project had; undefined if it was sent to user ids. Where
 *   a share was not read to its end, this tells how many were not reached.
 */
export function totalOf(
  results: readonly ShareResult[],
  subscribers: number | undefined,
): ShareCounts {
  const total = results.reduce<ShareCounts>(addCounts, noCounts);
  if (results.every(({ isComplete }) => isComplete)) return total;
  const { attempted, unreached } = total;
  const missing = (subscribers ?? 0) - attempted;
  // Some may have subscribed since they were counted: they must not hide who was not reached.
  return { ...total, unreached: Math.max(unreached, missing, 1) };
}
