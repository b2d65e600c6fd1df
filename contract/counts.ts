import type { FailureReason, Failures } from './failure-reasons.ts';
import type { DeliveryCounts } from './schemas/delivery-counts.ts';

/** Outcomes of recipients: of a slice, of what an invocation has delivered of it, or of a notification. */
export interface Counts extends DeliveryCounts {
  /** Failures by their reason, adding up to `failed`. */
  readonly failures: Failures;
  /** Recipients that were not attempted. */
  readonly unreached: number;
}

export const noCounts: Counts = {
  attempted: 0,
  delivered: 0,
  removed: 0,
  failed: 0,
  failures: {},
  unreached: 0,
};

export function addCounts(left: Counts, right: Counts): Counts {
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
