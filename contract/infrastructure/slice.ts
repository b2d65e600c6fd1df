import * as z from 'zod/mini';
import { conditionsSchema } from '../wire/content.ts';
import { notificationIdSchema, projectIdSchema } from '../wire/fields.ts';
import { notificationContentSchema } from '../wire/notification.ts';
import type { ProjectRef } from '../wire/project.ts';
import { sliceSizes } from './delivery.ts';

/** A subscription to push to. */
export interface Recipient {
  /** What the subscription is stored under: a keyed hash of its endpoint. */
  readonly endpointHash: Uint8Array;
  /** Scheme, host and port of the endpoint. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on, percent-encoded. */
  readonly path: string;
  /** The browser's public key: an uncompressed point on P-256, 65 bytes. */
  readonly p256dh: Uint8Array;
  /** The browser's authentication secret, 16 bytes. */
  readonly auth: Uint8Array;
  /** Number of the VAPID key pair that the subscription was made with. Absent: 0. */
  readonly vapidPairNumber?: number;
  /** Whether it was imported, and the browser has not chosen since: it may still have another service's worker. */
  readonly imported?: true;
  /** Since when its push service has reported it as gone, though it was kept: epoch ms. */
  readonly goneSince?: number;
  /** The language that its visitor reads. */
  readonly locale?: string;
  /** Index of its user among those that were asked for; absent in a broadcast. */
  readonly user?: number;
}

const count = z.int().check(z.nonnegative());
const positive = z.int().check(z.positive());

/**
 * A slice of a notification's audience: what one function delivers. Send invokes deliver with it, or delivers it
 * itself. Strict: code that does not know a member of it must not deliver.
 */
export const sliceSchema = z.strictObject({
  projectId: projectIdSchema,
  /** Reference of the project that sent it: a later project of the same id does not deliver it. */
  project: z.pipe(
    z.string(),
    z.transform((ref) => ref as ProjectRef),
  ),
  notificationId: notificationIdSchema,
  /** Its number, from 0. */
  slice: count,
  /** The gateway's id of the request that sent the notification, for log lines. */
  requestId: z.string(),
  /** Epoch ms. */
  sentAt: positive,
  content: notificationContentSchema,
  /** Absolute address to which the service worker reports events, without an event counter. */
  eventsUrl: z.string(),
  /** Seconds over which browsers spread their `shown` events. */
  eventWindowSeconds: count,
  /** One browser in this many reports `shown`. Absent: each. */
  shownSample: z.optional(positive),
  /** Its event counters: the number of the first, and how many. */
  firstCounter: count,
  counters: positive.check(z.maximum(sliceSizes.counters)),
  /** The user ids of the slice; absent in a broadcast. */
  userIds: z.optional(z.array(z.string())),
  /** The values of each of them, if the content has placeholders. */
  values: z.optional(z.array(z.record(z.string(), z.string()))),
  /** The number on the icon of each one's app, if any has its own. */
  appBadges: z.optional(z.array(z.nullable(count))),
  conditions: conditionsSchema,
  /** Origins that were accepted as push services when it was sent, besides those known by name. */
  extraOrigins: z._default(z.readonly(z.array(z.string())), []),
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
  /** Epoch seconds at which its items are deleted. */
  expiresAt: positive,
  pushesPerSecond: z.number().check(z.positive()),
  /**
   * Epoch ms at which the request began whose caller waits for the counts. Absent: the slice takes as long as it
   * takes, and Lambda's retry continues it.
   */
  awaitedSince: z.optional(positive),
});
export type Slice = z.infer<typeof sliceSchema>;
