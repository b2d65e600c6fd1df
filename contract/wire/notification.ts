import * as z from 'zod/mini';
import { conditionsSchema } from './conditions.ts';
import { contentCombinations, contentShape, templateSchema } from './content.ts';
import { failureReasonNames } from './counts.ts';
import { deliveryCountsSchema } from './delivery-counts.ts';
import { count, object, userId, wrong } from './fields.ts';
import { limits } from './limits.ts';
import { notificationStatuses } from './notification-status.ts';
import { checkRecipients, recipientsSchema } from './recipients.ts';

/** Content of a notification, and its options. */
export const notificationContentSchema = object(contentShape);

/** Body of send. Unknown fields are refused: a mistyped `userIds` must never become a broadcast. */
export const sendSchema = z
  .strictObject(
    {
      ...contentShape,
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
      recipients: z.optional(recipientsSchema),
      ...conditionsSchema.shape,
    },
    { error: wrong('must be an object') },
  )
  .check(...contentCombinations, checkRecipients(templateSchema));

/** The body of send as a caller writes it. */
export type SendRequest = z.input<typeof sendSchema>;
/** A send request of callers whose lists are readonly. */
export type ReadonlySendRequest = Immutable<SendRequest>;
type Immutable<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
  : Value;
/** The body of send as the service reads it. */
export type ParsedSendRequest = z.infer<typeof sendSchema>;
export type NotificationContent = z.infer<typeof notificationContentSchema>;

/** Failures by their reason, adding up to `failed`. Present only if any. */
const failures = z.optional(
  z.partialRecord(z.enum(failureReasonNames), z.int().check(z.positive())),
);

/** Bytes of the largest message. Present only above `limits.messageBytesEverywhere`. */
const messageBytes = z.optional(z.int().check(z.positive()));

export const sendResultSchema = z.extend(deliveryCountsSchema, {
  id: z.uuid(),
  failures,
  /** At least this many subscribers were not attempted. Present only if any. */
  unreached: z.optional(z.int().check(z.positive())),
  /** Present only if the notification was stopped. */
  status: z.optional(z.literal('stopped')),
  /** User ids of the request to which no push was delivered, in its order. Present only if any. */
  usersNotReached: z.optional(z.array(z.string())),
  messageBytes,
});
export type SendResult = z.infer<typeof sendResultSchema>;

const status = z.enum(notificationStatuses);

/** Response of send to `Prefer: respond-async`. */
export const acceptedSendSchema = z.object({ id: z.uuid(), status, messageBytes });
export type AcceptedSend = z.infer<typeof acceptedSendSchema>;

/** A notification and its results so far. */
export const notificationSchema = z.extend(deliveryCountsSchema, {
  ...contentShape,
  id: z.uuid(),
  /** Everyone, or how many user ids and which conditions. */
  audience: z.union([
    z.literal('everyone'),
    z.object({ users: z.optional(z.int().check(z.positive())), ...conditionsSchema.shape }),
  ]),
  status,
  sentAt: z.iso.datetime(),
  /** The name of the member who sent it. Absent: it was sent with the secret key. */
  sentBy: z.optional(z.string()),
  /** At least this many subscribers were not attempted. Absent: all were. */
  unreached: z.optional(z.int().check(z.positive())),
  failures,
  /** User ids to which a push was delivered. Present for user ids only, once the delivery has ended. */
  usersReached: z.optional(count),
  /** Events counted; of a sample, times `shownSample`. */
  shown: count,
  clicked: count,
  /** One browser in this many reports `shown`. Absent: every browser. */
  shownSample: z.optional(z.int().check(z.positive())),
});
export type NotificationResult = z.infer<typeof notificationSchema>;

/** A page of the list, the newest notification first. */
export const notificationListSchema = z.object({
  notifications: z.array(notificationSchema),
  /** Where the next page starts; absent on the last page. */
  nextCursor: z.optional(z.string()),
});
export type NotificationList = z.infer<typeof notificationListSchema>;
