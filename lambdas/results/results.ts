import { addCounts, type Counts, noCounts } from '../../contract/counts.ts';
import type { ShareResult } from '../../contract/share.ts';
import type { Division } from '../store/items.ts';
import type { Tally } from '../store/tallies.ts';
import { isStopped } from './status.ts';

/**
 * The counts of a share whose invocation ended during a chunk. Nobody knows which of the chunk's pushes
 * were sent, so those without a stored outcome count as failed and are not repeated.
 */
export function interruptedCounts({ counts, pending }: Tally): Counts {
  if (pending === 0) return counts;
  const interrupted = { attempted: pending, failed: pending, failures: { interrupted: pending } };
  return addCounts(counts, { ...noCounts, ...interrupted });
}

/** The result of a share of which nothing else is known than its first tally. */
export function storedResult(tally: Tally | undefined): ShareResult {
  if (tally === undefined) return { ...noCounts, isComplete: false };
  const isComplete = tally.ended === 'complete' || (tally.ended === undefined && !!tally.isRead);
  return { ...interruptedCounts(tally), isComplete, isStopped: isStopped(tally) || undefined };
}

/**
 * How many subscribers a notification is for, if that was known when it was sent: nobody has counted the
 * subscriptions that have conditions or user ids.
 */
export function expectedSubscribers({
  subscribers,
  channels,
  seenWithinDays,
}: Division): number | undefined {
  return channels === undefined && seenWithinDays === undefined ? subscribers : undefined;
}

/**
 * Adds up the results of a notification's shares.
 * @param subscribers see {@link expectedSubscribers}. Where a share was not read to its end, this tells how many were not reached.
 */
export function totalOf(results: readonly ShareResult[], subscribers: number | undefined): Counts {
  const total = results.reduce<Counts>(addCounts, noCounts);
  if (results.every(({ isComplete }) => isComplete)) return total;
  const { attempted, unreached } = total;
  const missing = (subscribers ?? 0) - attempted;
  // Some may have subscribed since they were counted: they must not hide who was not reached.
  return { ...total, unreached: Math.max(unreached, missing, 1) };
}
