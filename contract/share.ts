import * as z from 'zod/mini';
import { countsSchema } from './counts.ts';
import { notificationIdSchema, projectIdSchema } from './schemas/ids.ts';
import { notificationContentSchema } from './schemas/notification.ts';
import { shareSizes } from './share-sizes.ts';

/**
 * A share of a notification's audience: what one function delivers. Send passes it to deliver, or
 * delivers it itself.
 */

const count = z.int().check(z.nonnegative());
const positive = z.int().check(z.positive());

export const shareSchema = z.object({
  projectId: projectIdSchema,
  /** Of the project that sent it: a later one of the same id does not deliver it. */
  projectCreatedAt: z.string(),
  notificationId: notificationIdSchema,
  /** The gateway's id of the request that sent the share, for log lines. */
  requestId: z.string(),
  content: notificationContentSchema,
  /** Absolute address to which the service worker reports events, without a tally. */
  eventsUrl: z.string(),
  /** Seconds over which browsers spread their `shown` events. */
  eventWindowSeconds: count,
  /** The share's first tally and how many it has. */
  firstTally: count,
  tallies: positive.check(z.maximum(shareSizes.tallies)),
  /** The user ids of the share; absent in a broadcast. */
  userIds: z.optional(z.array(z.string())),
  /** The values of each of them, if the content has placeholders. */
  values: z.optional(z.array(z.record(z.string(), z.string()))),
  /** Only subscriptions with any of these channels, and seen since then: epoch ms. */
  channels: z.optional(z.readonly(z.array(z.string()).check(z.minLength(1)))),
  seenSince: z.optional(z.int()),
  /**
   * Positions in the audience, from `from` to before `to`: indexes of `userIds`, or else the first 32
   * bits of endpoint hashes.
   */
  from: count,
  to: positive,
  /** Positions that are expected to make one chunk. */
  step: positive,
  /** Whether recipients are read consistently. */
  consistent: z.boolean(),
  /** Epoch seconds at which the tallies are deleted. */
  expiresAt: positive,
  pushesPerSecond: z.number().check(z.positive()),
  /**
   * Epoch ms after which no push starts, and by which the share ends, because a caller waits for it.
   * Absent: it runs as long as its function may, and is resumed by Lambda's retry.
   */
  deadline: z.optional(z.object({ lastPushAt: positive, endAt: positive })),
});
export type Share = z.infer<typeof shareSchema>;

/** The counts of a share that has ended. */
export const shareResultSchema = z.extend(countsSchema, {
  /** Whether all recipients of the share were read. */
  isComplete: z.boolean(),
  /** Whether the notification was stopped before the share ended. */
  isStopped: z.optional(z.boolean()),
});
export type ShareResult = z.infer<typeof shareResultSchema>;

/** Response of deliver: the result, or nothing if another invocation has the share. */
export const deliverResponseSchema = z.object({ result: z.optional(shareResultSchema) });
export type DeliverResponse = z.infer<typeof deliverResponseSchema>;
