import type { Plan } from '../../contract/project.ts';

/**
 * The tables' items, as they lie in DynamoDB, and the names the tables are read by.
 * Keys are named here so that the stack and the stores cannot disagree.
 */

/** Projects, keyed by `projectId`. */
export interface ProjectItem {
  readonly projectId: string;
  readonly name: string;
  /** SHA-256 of the secret key, hex. The key itself is stored nowhere. */
  readonly apiKeyHash: string;
  /** The hash before the last rotation, and until when it is as good: ISO 8601. */
  readonly previousKeyHash?: string;
  readonly previousKeyUntil?: string;
  /** The application server key: public half of the VAPID pair (RFC 8292), base64url. */
  readonly vapidPublicKey: string;
  /** Overrides the deployment's settings; null means no limit. */
  readonly plan: Plan;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** VapidKeys, keyed by `projectId`: a table of its own, so that one function can read it alone. */
export interface VapidKeyItem {
  readonly projectId: string;
  /** Private half of the VAPID pair, base64url. */
  readonly privateKey: string;
}

/** Subscriptions, keyed by `projectId` and `endpointHash`. */
export interface SubscriptionItem {
  readonly projectId: string;
  /** SHA-256 of the endpoint, hex: fits the key whatever the URL's length, and spreads evenly. */
  readonly endpointHash: string;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  readonly userId?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Index of Subscriptions by `projectId` and `userId`; sparse. */
export const byUserIndex = 'byUser';

/**
 * Usage, keyed by `projectId` and `period`: a UTC month (`2026-11`) counts its accepted sends,
 * `subscribers` counts the items in Subscriptions. The latter is made with the project; without
 * its tally, no subscription can be added.
 */
export interface UsageItem {
  readonly projectId: string;
  readonly period: string;
  readonly tally: number;
}
export const subscribersPeriod = 'subscribers';

/** The counter of subscribers while its project is being removed: the last item to be deleted. */
export interface ClosedCounterItem {
  readonly projectId: string;
  readonly period: typeof subscribersPeriod;
  /** Tells this removal from that of another project of the same id. */
  readonly removal: string;
}

/** Notifications, keyed by `projectId` and `notificationId`; TTL on `expiresAt`. */
export interface NotificationItem {
  readonly projectId: string;
  readonly notificationId: string;
  readonly title: string;
  readonly body?: string;
  readonly url?: string;
  readonly icon?: string;
  readonly image?: string;
  readonly badge?: string;
  readonly sentAt: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
  /** Id of the request that delivers it; absent until that begins. */
  readonly claimedBy?: string;
  readonly claimedAt?: string;
  /** Absent until the send has ended. */
  readonly attempted?: number;
  readonly delivered?: number;
  readonly removed?: number;
  readonly failed?: number;
  readonly unreached?: number;
  /** Beacons received. */
  readonly shown: number;
  readonly clicked: number;
}

/** Takes the key of a notification in Notifications whose send was cancelled. */
export interface CancelledItem {
  readonly projectId: string;
  readonly notificationId: string;
  readonly barred: true;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * Lies in Notifications as well, under {@link idempotencyId}: the request that an `Idempotency-Key`
 * stands for.
 */
export interface IdempotencyItem {
  readonly projectId: string;
  readonly notificationId: string;
  readonly requestHash: string;
  /** The notification that the request made. */
  readonly sendId: string;
  readonly sentAt: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** No UUID, so that it is no notification's. @param keyHash SHA-256 of the key, hex. */
export function idempotencyId(keyHash: string): string {
  return `key#${keyHash}`;
}

/** RateLimits, keyed by `bucket` (`project#action#address#minute`); TTL on `expiresAt`. */
export interface RateLimitItem {
  readonly bucket: string;
  readonly hits: number;
  readonly expiresAt: number;
}
