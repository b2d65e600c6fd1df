import * as z from 'zod/mini';
import { encodeBase64url } from '../../contract/base64url.ts';
import { issuesOf } from '../../contract/issues.ts';
import { type Subscription, subscribeSchema } from '../../contract/schemas/subscription.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import {
  endpointHash,
  projectUser,
  subscriptionKey,
} from '../../lambdas/store/subscription-keys.ts';

/** Reads a line as the item to store. */
export type ReadLine = (text: string) => SubscriptionItem | { readonly mistake: string };

const time = z.pipe(
  z.iso.datetime({ error: 'must be an ISO 8601 time in UTC' }),
  z.transform((text) => Date.parse(text)),
);

/**
 * Reads lines with the JSON of a `PushSubscription`, as users of the web-push library store it, or with what
 * {@link exportLine} writes. Other fields are ignored, as subscribe does.
 * @param extraOrigins origins of further push services.
 */
export function lineReader(
  projectId: string,
  extraOrigins: readonly string[],
  clock: () => Date,
): ReadLine {
  const schema = z.extend(subscribeSchema(extraOrigins), {
    createdAt: z.optional(time),
    updatedAt: z.optional(time),
  });
  return (text) => {
    const value = parseJson(text);
    if (value === undefined) return { mistake: 'is not JSON' };
    const parsed = schema.safeParse(value);
    if (parsed.success) return itemOf(projectId, parsed.data, clock().getTime());
    const issues = issuesOf(parsed.error, schema);
    return { mistake: issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; ') };
  };
}

/** A subscription as a line has it. Times are epoch ms; other services' files have none. */
interface Line extends Subscription {
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
}

function itemOf(projectId: string, line: Line, now: number): SubscriptionItem {
  const { endpoint, keys, userId, createdAt = now, updatedAt = now } = line;
  return {
    ...subscriptionKey(projectId, endpointHash(endpoint.href)),
    origin: endpoint.origin,
    path: endpoint.path,
    ...keys,
    ...(userId === undefined ? {} : { projectUser: projectUser(projectId, userId) }),
    createdAt,
    updatedAt,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A stored subscription as one line, which {@link lineReader} reads. */
export function exportLine(projectId: string, item: SubscriptionItem): string {
  return JSON.stringify({
    endpoint: item.origin + item.path,
    expirationTime: null,
    keys: { p256dh: encodeBase64url(item.p256dh), auth: encodeBase64url(item.auth) },
    // `projectUser` is `projectId#userId`.
    userId: item.projectUser?.slice(projectId.length + 1),
    createdAt: new Date(item.createdAt).toISOString(),
    updatedAt: new Date(item.updatedAt).toISOString(),
  });
}
