import type { Logger } from '@aws-lambda-powertools/logger';
import { disagreement } from '../../contract/infrastructure/metrics.ts';
import type { Counts, DeliveryCounts } from '../../contract/wire/counts.ts';

/** Counts in a response. It leaves out `failures` and `unreached` if nothing failed or was unreached. */
type RespondedCounts = DeliveryCounts & {
  [Name in 'failures' | 'unreached']?: Counts[Name] | undefined;
};

export type CountChecker = ReturnType<typeof countChecker>;

/**
 * Checks counts that a function has read or is about to return, without a call to the database. Logs those that are
 * wrong: the alarm counts these lines.
 */
export function countChecker(logger: Pick<Logger, 'error'>) {
  const report = (subject: Record<string, string>, contradictions: readonly string[]) => {
    if (contradictions.length > 0)
      logger.error(disagreement.message, { ...subject, contradictions });
  };
  return {
    /** Counts of a notification or of one of its slices. */
    notification(project_id: string, notification_id: string, counts: RespondedCounts): void {
      report({ project_id, notification_id }, contradictionsIn(counts));
    },
    /** What a project has used, by the names of its counters. */
    usage(project_id: string, used: Readonly<Record<string, number>>): void {
      // Not whether a counter is above its cap: it stays there when the operator lowers the cap.
      report({ project_id }, negatives(used));
    },
  };
}

function contradictionsIn({
  failures = {},
  unreached = 0,
  ...counts
}: RespondedCounts): readonly string[] {
  const { attempted, delivered, removed, failed } = counts;
  const found = [...negatives({ attempted, delivered, removed, failed, unreached, ...failures })];
  if (attempted !== delivered + removed + failed) {
    found.push(`attempted is ${attempted}, not ${delivered} + ${removed} + ${failed}`);
  }
  const reasons = Object.values(failures).reduce((sum, number) => sum + number, 0);
  if (failed !== reasons) found.push(`failed is ${failed}, and the reasons add up to ${reasons}`);
  return found;
}

function negatives(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts)
    .filter(([, count]) => count < 0)
    .map(([name, count]) => `${name} is ${count}`);
}
