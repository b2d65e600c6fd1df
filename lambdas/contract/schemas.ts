import * as z from 'zod';
import { limits, projectIdPattern } from './limits.ts';
import { isUncompressedPoint } from './p256.ts';
import { readEndpoint, readEndpointUrl } from './push-services.ts';

/** Of the type asked for, or an issue that tells an absent value from a wrong one. */
const wrong =
  (message: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : message;

/** Text of `min` to `max` characters that survives UTF-8: a lone surrogate would not. */
function text(min: number, max: number) {
  const message = `must be text of ${min === 0 ? 'at most' : `${min} to`} ${max} characters`;
  return z
    .string({ error: wrong(message) })
    .min(min, message)
    .max(max, message)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
}

/** Bytes in base64, either alphabet, padded or not; comes out as base64url without padding. */
function bytes(isRight: (decoded: Buffer) => boolean, message: string) {
  return z.string({ error: wrong(message) }).transform((value, context) => {
    const decoded = Buffer.from(value, 'base64');
    if (/^[A-Za-z0-9+/_-]{1,128}={0,2}$/.test(value) && isRight(decoded)) {
      return decoded.toString('base64url');
    }
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

const webUrl = text(1, limits.urlLength).refine(
  (value) => /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value),
  'must be an absolute http or https URL',
);

const userId = text(1, limits.userIdLength);

function endpoint(read: (value: string) => URL | { refusal: string }) {
  return text(1, limits.urlLength).transform((value, context) => {
    const url = read(value);
    if (url instanceof URL) return url.href;
    context.addIssue({ code: 'custom', message: url.refusal });
    return z.NEVER;
  });
}

function object<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, { error: wrong('must be an object') });
}

export const projectIdSchema = z.string().regex(projectIdPattern);
export const notificationIdSchema = z.uuid();

/**
 * Body of subscribe: what `PushSubscription.toJSON()` yields, and an optional `userId`. Fields
 * beyond these, such as its `expirationTime`, are ignored.
 */
export function subscribeSchema(extraOrigins: readonly string[]) {
  return object({
    endpoint: endpoint((value) => readEndpoint(value, extraOrigins)),
    keys: object({
      p256dh: bytes(
        isUncompressedPoint,
        'must be base64url of an uncompressed P-256 point (65 bytes)',
      ),
      auth: bytes((decoded) => decoded.length === 16, 'must be base64url of 16 bytes'),
    }),
    userId: userId.optional(),
  });
}

/**
 * Query of unsubscribe. Any URL will do: one that was never subscribed is as absent as asked for,
 * and one whose push service is no longer admitted must still be removable.
 */
export const unsubscribeSchema = object({ endpoint: endpoint(readEndpointUrl) });

/** Body of send. */
export const sendSchema = object({
  title: text(1, limits.titleLength),
  body: text(0, limits.bodyLength).optional(),
  url: webUrl.optional(),
  icon: webUrl.optional(),
  image: webUrl.optional(),
  badge: webUrl.optional(),
  // An empty list must never turn into a broadcast.
  userIds: z
    .array(userId, { error: 'must be an array of user ids' })
    .min(1, 'must name at least one user id; leave the field out to broadcast')
    .max(limits.userIds, `must name at most ${limits.userIds} user ids`)
    .transform((ids) => [...new Set(ids)])
    .optional(),
});

/** Header of send: a name, chosen by the caller, for one request and its repetitions. */
export const idempotencyKeySchema = z
  .string()
  .regex(
    new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyLength}}$`),
    `must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters without spaces`,
  )
  .optional();

/** Body of track. */
export const trackSchema = object({
  type: z.enum(['shown', 'clicked'], { error: wrong('must be "shown" or "clicked"') }),
});

/** A subscription as a browser states it, checked and in one spelling. */
export type Subscription = z.infer<ReturnType<typeof subscribeSchema>>;
export type SendRequest = z.infer<typeof sendSchema>;
/** What a person will see: a send request without its recipients. */
export type NotificationContent = Omit<SendRequest, 'userIds'>;
export type BeaconType = z.infer<typeof trackSchema>['type'];

/** What became of the pushes of one notification. `attempted = delivered + removed + failed`. */
export const deliveryCountsSchema = z.object({
  attempted: z.int().nonnegative(),
  /** The push service accepted the message. */
  delivered: z.int().nonnegative(),
  /** The push service said that the subscription is gone; it was deleted. */
  removed: z.int().nonnegative(),
  /** Everything else. */
  failed: z.int().nonnegative(),
});
export type DeliveryCounts = z.infer<typeof deliveryCountsSchema>;

export const okSchema = z.object({ ok: z.literal(true) });
export const sendResultSchema = deliveryCountsSchema.extend({
  id: z.uuid(),
  /** Subscribers that the deadline left out. Present only where there are any. */
  unreached: z.int().positive().optional(),
});
export type SendResult = z.infer<typeof sendResultSchema>;
