import { sliceSizes } from '../../contract/infrastructure/delivery.ts';

/**
 * Scales the sizes, not the times, so that a dozen subscribers are as many as 30,000: they
 * are divided into slices, chunks, event counters and removals as a large audience is.
 */
export function useSmallLimits(): void {
  Object.assign(sliceSizes, {
    removalBatch: 3,
    recipients: 12,
    expectedRecipients: 8,
    users: 2,
    recipientsPerCounter: 5,
    shownPerSecond: 5,
  });
}
