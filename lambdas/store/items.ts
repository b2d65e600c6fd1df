import type { Plan } from '../../contract/project.ts';

/**
 * The items of the tables as they are stored. The stack takes the names of keys from here.
 */

/** Projects, keyed by `projectId`. */
export interface ProjectItem {
  readonly projectId: string;
  readonly name: string;
  /** SHA-256 of the secret key, hex. The key itself is not stored. */
  readonly apiKeyHash: string;
  /** The hash before the last rotation, and the end of its grace period: ISO 8601. */
  readonly previousKeyHash?: string;
  readonly previousKeyUntil?: string;
  /** The application server key: the public VAPID key (RFC 8292), base64url. */
  readonly vapidPublicKey: string;
  /** Overrides the deployment's settings; null means no limit. */
  readonly plan: Plan;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** VapidKeys, keyed by `projectId`: a separate table, so that only one function can read it. */
export interface VapidKeyItem {
  readonly projectId: string;
  /** The private VAPID key, base64url. */
  readonly privateKey: string;
}

/** Subscriptions, keyed by `projectId` and `endpointHash`. */
export interface SubscriptionItem {
  readonly projectId: string;
  /** SHA-256 of the endpoint, hex: short enough for a key, and evenly distributed. */
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
 * Usage, keyed by `projectId` and `period`: a UTC month (`2026-11`) counts accepted sends, and
 * `subscribers` counts the items in Subscriptions. The latter is created with the project; without
 * its attribute `used`, no subscription can be added.
 */
export interface UsageItem {
  readonly projectId: string;
  readonly period: string;
  readonly used: number;
}
export const subscribersPeriod = 'subscribers';

/** The subscriber counter while its project is being removed: the last item to be deleted. */
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
  /** Id of the request that delivers it; absent before that. */
  readonly claimedBy?: string;
  readonly claimedAt?: string;
  /** Absent until the send has ended. */
  readonly attempted?: number;
  readonly delivered?: number;
  readonly removed?: number;
  readonly failed?: number;
  readonly unreached?: number;
  /** Events counted. */
  readonly shown: number;
  readonly clicked: number;
}

/** In Notifications, under the key of a notification whose send was cancelled. */
export interface CancelledItem {
  readonly projectId: string;
  readonly notificationId: string;
  readonly cancelled: true;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * Also in Notifications, under {@link idempotencyId}: the request that used an `Idempotency-Key`.
 */
export interface IdempotencyItem {
  readonly projectId: string;
  readonly notificationId: string;
  readonly requestHash: string;
  /** The id of the request's notification. */
  readonly sendId: string;
  readonly sentAt: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Not a UUID, so it cannot be a notification's id. @param keyHash SHA-256 of the key, hex. */
export function idempotencyId(keyHash: string): string {
  return `key#${keyHash}`;
}

/** RateLimits, keyed by `bucket` (`project#action#address#minute`); TTL on `expiresAt`. */
export interface RateLimitItem {
  readonly bucket: string;
  readonly hits: number;
  readonly expiresAt: number;
}
