import * as z from 'zod/mini';
import { conditionsSchema, contentCombinations, contentShape, templateSchema } from './content.ts';
import { type DeliveryCounts, failureReasonNames } from './counts.ts';
import { count, isWebUrl, notWebUrl, object, pathText, text, userId, wrong } from './fields.ts';
import { limits } from './limits.ts';
import { notificationStatuses } from './notification-status.ts';
import {
  filledUrl,
  hasMalformed,
  namesIn,
  placeholderIn,
  rendered,
  type Template,
  textsOf,
  type Values,
  withAll,
} from './placeholders.ts';

const values = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .check(
    z.refine(
      (record) => Object.keys(record).length <= limits.values,
      `must have at most ${limits.values} values`,
    ),
  );

/** A user who gets a text of their own: the content is a template, and these are its values. Or a number of their own. */
const recipient = z.strictObject(
  { userId, values: z.optional(values), appBadge: contentShape.appBadge },
  { error: wrong('must be an object') },
);

const recipientsSchema = z
  .array(recipient, { error: 'must be an array of recipients' })
  .check(
    z.minLength(1, 'must have at least one recipient; leave the field out to broadcast'),
    z.maxLength(limits.userIds, `must have at most ${limits.userIds} recipients`),
  );

type Recipients = z.infer<typeof recipientsSchema>;

/** A value that a placeholder uses. */
const usedValue = text(0, limits.valueLength);

type Issue = { readonly path: (string | number)[]; readonly message: string };

type Body = Template & {
  readonly userIds?: unknown;
  readonly recipients?: Recipients | undefined;
};

/**
 * Checks the recipients of a send, its template, and what becomes of the template for each recipient.
 * Without recipients nothing has a placeholder, and other double braces are literal.
 */
function checkRecipients() {
  return z.check<Body>(({ value, issues }) => {
    // What else is wrong comes first: here all fields have their types and bounds.
    if (issues.length > 0) return;
    for (const issue of issuesIn(value)) {
      issues.push({ code: 'custom', input: value, ...issue });
      // Each recipient can have one, and is expensive to check.
      if (issues.length === limits.issues) return;
    }
  });
}

function* issuesIn(body: Body): Iterable<Issue> {
  const { recipients } = body;
  if (recipients === undefined) {
    for (const { path, text, isUrl } of textsOf(body)) {
      const placeholder = placeholderIn(text);
      if (placeholder !== undefined) {
        const message = `has the placeholder ${placeholder}, but there are no "recipients" with values for it`;
        yield { path: [...path], message };
      } else if (isUrl && !isWebUrl(text)) {
        yield { path: [...path], message: notWebUrl };
      }
    }
    return;
  }
  if (body.userIds !== undefined) {
    yield { path: ['recipients'], message: 'cannot be combined with "userIds"' };
  }
  const ofTemplate = [...templateIssues(body)];
  yield* ofTemplate;
  yield* repeatedIds(recipients);
  if (ofTemplate.length > 0) return;
  const names = namesIn(body);
  if (names.length === 0) {
    yield* unusedValues(recipients);
    return;
  }
  for (const [index, { values = {} }] of recipients.entries()) {
    const missing = [...valueIssues(index, names, values)];
    if (missing.length > 0) yield* missing;
    else yield* renderedIssues(index, body, values as Values);
  }
}

function* templateIssues(body: Body): Iterable<Issue> {
  for (const { path, text, isUrl } of textsOf(body)) {
    if (hasMalformed(text)) {
      yield {
        path: [...path],
        message:
          'has double braces that are not a placeholder; write {{name}} with 1 to 32 letters, digits or underscores',
      };
    } else if (isUrl && !isOriginLiteral(text)) {
      const message = 'may have placeholders after the host only';
      yield { path: [...path], message };
    }
  }
  for (const { path, text } of textsOf(body, 'refused')) {
    if (text.includes('{{')) yield { path: [...path], message: 'cannot have placeholders' };
  }
}

/** Whether no value can change where a URL leads: its scheme, user info, host and port. */
function isOriginLiteral(template: string): boolean {
  const [one, other] = ['a', 'b'].map((value) => URL.parse(withAll(template, value)));
  if (!one || !other) return false;
  return (
    one.origin === other.origin &&
    one.username === other.username &&
    one.password === other.password
  );
}

function* repeatedIds(recipients: Recipients): Iterable<Issue> {
  const indexOf = new Map<string, number>();
  for (const [index, { userId }] of recipients.entries()) {
    const first = indexOf.get(userId);
    if (first === undefined) indexOf.set(userId, index);
    else {
      const message = `is the user id of recipients[${first}] too; each may occur once`;
      yield { path: ['recipients', index, 'userId'], message };
    }
  }
}

/** Values without a placeholder in any text: most likely it is written in another way. */
function* unusedValues(recipients: Recipients): Iterable<Issue> {
  const index = recipients.findIndex(({ values = {} }) => Object.keys(values).length > 0);
  if (index === -1) return;
  const message = 'are used by no text; write a placeholder as {{name}}, such as in "title"';
  yield { path: ['recipients', index, 'values'], message };
}

function* valueIssues(
  index: number,
  names: readonly string[],
  values: Readonly<Record<string, unknown>>,
): Iterable<Issue> {
  for (const name of names) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const { error } = usedValue.safeParse(value);
    const message = error?.issues[0]?.message;
    if (message !== undefined) yield { path: ['recipients', index, 'values', name], message };
  }
}

/** What is wrong with the notification of one recipient. */
function* renderedIssues(index: number, body: Body, values: Values): Iterable<Issue> {
  const path = ['recipients', index];
  const { error } = templateSchema.safeParse(rendered(body, values));
  for (const issue of error?.issues ?? []) {
    yield { path, message: `makes an invalid "${pathText(issue.path)}": it ${issue.message}` };
  }
  for (const { path: at, text, isUrl } of textsOf(body)) {
    if (isUrl && makesDotSegment(text, values)) {
      yield {
        path,
        message: `makes an invalid "${pathText(at)}": a path segment becomes "." or ".."`,
      };
    }
  }
}

/** Whether values make a segment of the path that browsers resolve: `.`, `..`, or these with `%2e`. */
function makesDotSegment(template: string, values: Values): boolean {
  const [beforeQuery = ''] = template.split(/[?#]/, 1);
  return beforeQuery.split('/').some((segment) => {
    const filled = filledUrl(segment, values);
    return filled !== segment && /^(\.|%2e){1,2}$/i.test(filled);
  });
}

export const deliveryCountsSchema = z.object({
  attempted: count,
  delivered: count,
  removed: count,
  failed: count,
} satisfies Record<keyof DeliveryCounts, unknown>);

/** Content of a notification, and its options. */
export const notificationContentSchema = object(contentShape);

/** What is in no rate must not be a broadcast. */
const isSmallTest = z.refine<{
  readonly test?: boolean | undefined;
  readonly userIds?: readonly string[] | undefined;
  readonly recipients?: Recipients | undefined;
}>(
  ({ test, userIds, recipients }) =>
    test !== true || ((userIds ?? recipients)?.length ?? Infinity) <= limits.testUsers,
  {
    error: `needs "userIds" or "recipients" with at most ${limits.testUsers} users`,
    path: ['test'],
  },
);

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
      test: z.optional(z.boolean({ error: 'must be true or false' })),
      ...conditionsSchema.shape,
    },
    { error: wrong('must be an object') },
  )
  .check(...contentCombinations, checkRecipients(), isSmallTest);

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
  /** Whether it was sent as a test. Absent: it was not. */
  test: z.optional(z.literal(true)),
  /** At least this many subscribers were not attempted. Absent: all were. */
  unreached: z.optional(z.int().check(z.positive())),
  failures,
  /** Removed subscriptions by push service, adding up to `removed`. Present only if any. */
  removals: z.optional(z.record(z.string(), z.int().check(z.positive()))),
  /** User ids to which a push was delivered. Present for user ids only, once the delivery has ended. */
  usersReached: z.optional(count),
  /** Events counted; of a sample, times `shownSample`. Null: browsers were not asked for them. */
  shown: z.nullable(count),
  clicked: z.nullable(count),
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
