import { limits } from '../../contract/limits.ts';

/**
 * Scales the limits of numbers, not those of time, so that a dozen subscribers are as many as 30,000: they
 * are divided into shares, chunks, tallies and removals as a large audience is.
 */
export function useSmallLimits(): void {
  Object.assign(limits, { removalBatch: 3 });
  Object.assign(limits.share, {
    recipients: 12,
    expectedRecipients: 8,
    users: 2,
    recipientsPerTally: 5,
    shownPerSecond: 5,
  });
}
