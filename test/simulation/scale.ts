import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import { inFlight } from '../../lambdas/push/pushing/push-service.ts';

/**
 * A simulated subscriber is as many as these. Sizes and paces are divided by it, and times stay: a chunk takes as many
 * seconds as on AWS, so that saves, pauses and deaths fall into it.
 */
export const subscribersEach = 2500;

/** Pushes per second of one function. */
export const functionPace = sliceSizes.pushesPerSecond / subscribersEach;

export function useSmallSizes(): void {
  Object.assign(sliceSizes, {
    recipients: 12,
    expectedRecipients: 11,
    chunk: 4,
    expectedChunk: 3,
    pushesPerSecond: functionPace,
    recipientsPerCounter: 4,
    pending: 80,
    // Not as small as that, but so small that there are several.
    users: 2,
    removalBatch: 3,
    markBatch: 3,
    shownPerSecond: 5,
  });
  Object.assign(inFlight, {
    ...{ overall: 4, perPushService: 3, others: 1, initial: 2, minimum: 1, refusalsInARow: 2 },
  });
}
