import * as z from 'zod/mini';
import { decodeBase64 } from './base64url.ts';
import { failureReasonNames } from './failure-reasons.ts';
import { limits, projectIdPattern } from './limits.ts';
import { isUncompressedPoint } from './p256.ts';
import { readEndpoint, readEndpointUrl } from './push-services.ts';

/** The message for a value of the wrong type, or for a missing one. */
const wrong =
  (message: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : message;

/** Text of `min` to `max` characters without lone surrogates, which UTF-8 cannot encode. */
function text(min: number, max: number) {
  const message = `must be text of ${min === 0 ? 'at most' : `${min} to`} ${max} characters`;
  return z.string({ error: wrong(message) }).check(
    z.minLength(min, message),
    z.maxLength(max, message),
    z.refine((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );
}

/** Bytes in base64 or base64url, padded or not. */
function bytes(isRight: (decoded: Uint8Array) => boolean, message: string) {
  const decode = z.transform((value: string, context) => {
    const decoded = decodeBase64(value);
    if (decoded !== undefined && isRight(decoded)) return decoded;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
  return z.pipe(z.string({ error: wrong(message) }), decode);
}

const webUrl = text(1, limits.urlLength).check(
  z.refine(
    (value) => /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value),
    'must be an absolute http or https URL',
  ),
);

const userId = text(1, limits.userIdLength);

function endpoint(read: (value: string) => URL | { refusal: string }) {
  const readUrl = z.transform((value: string, context) => {
    const url = read(value);
    const refusal = url instanceof URL ? lengthRefusal(url.href) : url.refusal;
    if (url instanceof URL && refusal === undefined) return endpointOf(url);
    context.issues.push({ code: 'custom', message: refusal, input: value });
    return z.NEVER;
  });
  return z.pipe(text(1, limits.urlLength), readUrl);
}

/** An endpoint, parsed. */
export interface Endpoint {
  /** The whole URL, as a URL parser spells it. */
  readonly href: string;
  readonly origin: string;
  /** The rest of the URL, from its first slash on. */
  readonly path: string;
}

function endpointOf({ href, origin }: URL): Endpoint {
  return { href, origin, path: href.slice(origin.length) };
}

/** Endpoints are stored percent-encoded: a character outside ASCII then takes up to 12. */
function lengthRefusal(normalised: string): string | undefined {
  return normalised.length > limits.urlLength
    ? `must have at most ${limits.urlLength} characters when it is percent-encoded`
    : undefined;
}

function object<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.object(shape, { error: wrong('must be an object') });
}

export const projectIdSchema = z.string().check(z.regex(projectIdPattern));
export const notificationIdSchema = z.uuid();

/**
 * Body of subscribe: the output of `PushSubscription.toJSON()` and an optional `userId`. Other
 * fields, such as its `expirationTime`, are ignored.
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
    userId: z.optional(userId),
  });
}

/**
 * Query of unsubscribe. Any URL is accepted: an unknown endpoint also returns 200, and one whose
 * push service is no longer accepted must still be removable.
 */
export const unsubscribeSchema = object({ endpoint: endpoint(readEndpointUrl) });

const content = {
  title: text(1, limits.titleLength),
  body: z.optional(text(0, limits.bodyLength)),
  url: z.optional(webUrl),
  icon: z.optional(webUrl),
  image: z.optional(webUrl),
  badge: z.optional(webUrl),
};

/** What a notification shows. */
export const notificationContentSchema = object(content);

/** Body of send. Unknown fields are refused: a mistyped `userIds` must never become a broadcast. */
export const sendSchema = z.strictObject(
  {
    ...content,
    userIds: z.optional(
      z.pipe(
        z.array(userId, { error: 'must be an array of user ids' }).check(
          // An empty list must never turn into a broadcast.
          z.minLength(1, 'must name at least one user id; leave the field out to broadcast'),
          z.maxLength(limits.userIds, `must name at most ${limits.userIds} user ids`),
        ),
        z.transform((ids) => [...new Set(ids)]),
      ),
    ),
  },
  { error: wrong('must be an object') },
);

/** Header of send: the caller's name for one request and its repetitions. */
export const idempotencyKeySchema = z.optional(
  z
    .string()
    .check(
      z.regex(
        new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyLength}}$`),
        `must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters without spaces`,
      ),
    ),
);

/** Body of track. */
export const trackSchema = object({
  type: z.enum(['shown', 'clicked'], { error: wrong('must be "shown" or "clicked"') }),
});

/** Query of track: the tally that counts the event. Messages of small audiences have none. */
export const tallySchema = z.pipe(
  z._default(z.string().check(z.regex(/^\d{1,4}$/)), '0'),
  z.transform(Number),
);

/** A validated subscription: its endpoint parsed, its keys decoded. */
export type Subscription = z.infer<ReturnType<typeof subscribeSchema>>;
export type SendRequest = z.infer<typeof sendSchema>;
export type NotificationContent = z.infer<typeof notificationContentSchema>;
export type EventType = z.infer<typeof trackSchema>['type'];

const count = z.int().check(z.nonnegative());

/** Outcomes of a notification's pushes. `attempted = delivered + removed + failed`. */
export const deliveryCountsSchema = z.object({
  attempted: count,
  /** The push service accepted the message. */
  delivered: count,
  /** The push service reported the subscription as gone; it was deleted. */
  removed: count,
  /** Everything else. */
  failed: count,
});
export type DeliveryCounts = z.infer<typeof deliveryCountsSchema>;

export const okSchema = z.object({ ok: z.literal(true) });
export const sendResultSchema = z.extend(deliveryCountsSchema, {
  id: z.uuid(),
  /** At least this many subscribers were not attempted. Present only if any. */
  unreached: z.optional(z.int().check(z.positive())),
});
export type SendResult = z.infer<typeof sendResultSchema>;

/**
 * `sending`: functions work on it. `sent`: they have ended. `interrupted`: one of them ended early, and
 * nobody continues its work.
 */
export const notificationStatusSchema = z.enum(['sending', 'sent', 'interrupted']);
export type NotificationStatus = z.infer<typeof notificationStatusSchema>;

/** Response of send to `Prefer: respond-async`. */
export const acceptedSchema = z.object({ id: z.uuid(), status: notificationStatusSchema });

/** A notification and what has become of it so far. */
export const notificationSchema = z.extend(deliveryCountsSchema, {
  ...content,
  id: z.uuid(),
  /** Everyone, or how many user ids. */
  audience: z.union([z.literal('everyone'), z.object({ users: z.int().check(z.positive()) })]),
  status: notificationStatusSchema,
  sentAt: z.iso.datetime(),
  /** As in the response of send. */
  unreached: z.optional(z.int().check(z.positive())),
  /** Failures by their reason, adding up to `failed`. Present only if any. */
  failures: z.optional(z.partialRecord(z.enum(failureReasonNames), z.int().check(z.positive()))),
  /** Events counted. */
  shown: count,
  clicked: count,
});
export type NotificationResult = z.infer<typeof notificationSchema>;
