import * as z from 'zod/mini';
import { choiceIn, encodeBase64url, issuesOf, userId, wrong } from '../../contract/wire/fields.ts';
import type { Project, ProjectRef } from '../../contract/wire/project.ts';
import { type SubscribeBody, subscribeSchema } from '../../contract/wire/subscription.ts';
import {
  choiceOf,
  endpointHash,
  type KeyedProject,
  type SubscriptionItem,
  storedChoice,
  subscriptionKey,
} from '../../lambdas/store/items.ts';
import { CommandError } from '../errors.ts';
import type { ImportedSubscription } from '../store/subscription-import.ts';

/** Reads the value of a line as the subscription to store. */
export type ReadLine = (
  value: unknown,
) => ImportedSubscription | { readonly mistake: string; readonly isOtherKey?: boolean };

const time = z.pipe(
  z.iso.datetime({ error: 'must be an ISO 8601 time in UTC' }),
  z.transform((text) => Date.parse(text)),
);

/**
 * Reads lines with the JSON of a `PushSubscription`, as users of the web-push library store it, or with what
 * {@link exportLine} writes. Other fields are refused: a mistyped `userId` would leave nobody reachable.
 * @param extraOrigins origins of further push services.
 * @param assumedKey application server key of lines that have none. Default: unknown.
 * @throws {CommandError} if the project does not have this key.
 */
export function lineReader(
  project: KeyedProject & Pick<Project, 'vapid'>,
  extraOrigins: readonly string[],
  clock: () => Date,
  assumedKey?: string,
): ReadLine {
  // Of a request, and not of a subscription.
  const {
    userIdSignature: _,
    renewal: __,
    replaces: ___,
    ...fields
  } = subscribeSchema(extraOrigins).shape;
  const shape = {
    ...fields,
    // Nobody is not said, but left out.
    userId: z.optional(userId),
    createdAt: z.optional(time),
    updatedAt: z.optional(time),
    firstAt: z.optional(time),
    // Browsers, and other libraries for web push, have them.
    expirationTime: z.optional(z.unknown()),
    contentEncoding: z.optional(z.unknown()),
  };
  const schema = z.strictObject(shape, { error: wrong('must be an object') });
  const { current, previous = current } = project.vapid;
  const numbers = new Map([previous, current].map(({ publicKey, number }) => [publicKey, number]));
  if (assumedKey !== undefined && !numbers.has(assumedKey)) {
    const message = `The project does not have the application server key ${assumedKey}: see carillon show.`;
    throw new CommandError('unknown_application_server_key', message);
  }
  return (value) => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      const issues = issuesOf(parsed.error, schema, 'a line');
      return { mistake: issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; ') };
    }
    const { applicationServerKey: key = assumedKey, ...line } = parsed.data;
    const vapidPairNumber = key === undefined ? undefined : numbers.get(key);
    if (key !== undefined && vapidPairNumber === undefined) {
      const mistake = 'applicationServerKey must be a key of the project: see carillon show';
      return { mistake, isOtherKey: true };
    }
    return { ...itemOf(project, line, clock().getTime()), vapidPairNumber };
  };
}

/** A subscription as a line has it. Times are epoch ms; other services' files have none. */
interface Line extends SubscribeBody {
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
  readonly firstAt?: number | undefined;
}

/** A time of another clock may be in the future: then no later request of the browser would count. */
function itemOf(project: KeyedProject, line: Line, now: number) {
  const { endpoint, keys, createdAt = now, updatedAt = now, firstAt } = line;
  return {
    ...subscriptionKey(project.ref, endpointHash(project, endpoint.href)),
    origin: endpoint.origin,
    path: endpoint.path,
    ...keys,
    ...storedChoice(project.ref, choiceIn(line)),
    imported: true as const,
    createdAt: Math.min(createdAt, now),
    updatedAt: Math.min(updatedAt, now),
    firstAt: firstAt !== undefined && firstAt < createdAt ? firstAt : undefined,
    isUntimed: line.updatedAt === undefined,
  };
}

/**
 * A stored subscription as one line, which {@link lineReader} reads.
 * @param applicationServerKey the key that it was made with.
 */
export function exportLine(
  project: ProjectRef,
  item: SubscriptionItem,
  applicationServerKey: string,
): string {
  const { endpoint, ...others } = portableSubscription(project, item);
  return JSON.stringify({ endpoint, expirationTime: null, ...others, applicationServerKey });
}

/** A stored subscription with the keys as the browser sent them, base64url, and times in ISO 8601. */
export function portableSubscription(project: ProjectRef, item: SubscriptionItem) {
  return {
    endpoint: item.origin + item.path,
    keys: { p256dh: encodeBase64url(item.p256dh), auth: encodeBase64url(item.auth) },
    ...choiceOf(project, item),
    createdAt: new Date(item.createdAt).toISOString(),
    updatedAt: new Date(item.updatedAt).toISOString(),
    firstAt: new Date(item.firstAt ?? item.createdAt).toISOString(),
  };
}
