import type { OldWorker } from './message.ts';
import { type MemberRole, type RouteName, routeNames } from './routes.ts';

/** The rate limits of single actions, by the route's name: `trackPerMinute`. They precede `rateLimitPerMinute`. */
type ActionLimits = { readonly [Name in RouteName as `${Name}PerMinute`]?: number | null };

/** Requests per minute by action. Null: no limit. */
export type RateLimits = Partial<Readonly<Record<RouteName, number | null>>>;

/** A project's own limits. Absent: the deployment's setting. Null: no limit. */
export interface Plan extends ActionLimits {
  readonly subscriberCap?: number | null;
  readonly monthlySendCap?: number | null;
  readonly rateLimitPerMinute?: number | null;
  /** One browser in this many reports `shown` of a large broadcast. Absent: each. */
  readonly shownSample?: number;
}

/** A person who has a key of their own. */
export interface Member {
  readonly name: string;
  readonly role: MemberRole;
  /** SHA-256 of the member key, hex. */
  readonly keyHash: string;
  /** The end of the key. */
  readonly until?: Date | undefined;
}

/** VAPID key pair (RFC 8292), base64url. The public key is the application server key. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The public half of a project's VAPID key pair. */
export interface PublicVapidPair {
  /** The pairs of a project are numbered from 0, in the order in which they became current. */
  readonly number: number;
  /** The application server key, base64url. */
  readonly publicKey: string;
}

export interface VapidPair extends PublicVapidPair, VapidKeys {}

/** A project's pairs. The previous one is kept after a rotation, until the operator drops it. */
export interface VapidPairs<Pair extends PublicVapidPair = PublicVapidPair> {
  readonly current: Pair;
  readonly previous?: Pair | undefined;
}

/**
 * Names a project among all that ever had its id: everything that a project owns is stored under it. A function
 * that remembers a deleted project therefore finds and changes nothing of a later one with the same id.
 */
export type ProjectRef = string & { readonly _: 'ProjectRef' };

/** A project as all functions know it. */
export interface Project {
  readonly projectId: string;
  readonly ref: ProjectRef;
  /**
   * 256 random bits that key the HMACs of texts that callers choose: nobody outside can predict these. In no response,
   * push message or log line.
   */
  readonly internalKey: Uint8Array;
  readonly name: string;
  /** SHA-256 of the secret key, hex. */
  readonly secretKeyHash: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousKey?: { readonly hash: string; readonly until: Date } | undefined;
  readonly members: readonly Member[];
  readonly plan: Plan;
  readonly vapid: VapidPairs;
  readonly oldWorker?: OldWorker | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Since when it sends nothing: ISO 8601. */
  readonly pausedAt?: string | undefined;
}

/** Whether a subscription can have any user id, or only one with a signature. */
export const userIdModes = ['open', 'signed'] as const;
export type UserIdMode = (typeof userIdModes)[number];

/** A project with the keys that sign user ids, for the function that checks the signatures. */
export interface IdentityProject extends Project {
  readonly userIds: UserIdMode;
  readonly identityKey: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousIdentityKey?: { readonly key: string; readonly until: Date } | undefined;
}

/** A project with its private keys, for the functions that sign pushes. */
export interface SigningProject extends Project {
  readonly vapid: VapidPairs<VapidPair>;
}

/** A project's limit: its plan's, or else the deployment's. Null: no limit. */
export function limitOf(
  planned: number | null | undefined,
  deployed: number | null,
): number | null {
  return planned === undefined ? deployed : planned;
}

/** Requests per minute of an address that a project allows for an action. @param deployed the deployment's limit. */
export function rateLimitOf(plan: Plan, action: RouteName, deployed: number): number | null {
  return limitOf(plan[`${action}PerMinute`], limitOf(plan.rateLimitPerMinute, deployed));
}

/** The rate limits of a project: of all actions, and of those that differ. @param deployed the deployment's limit. */
export function rateLimitsOf(plan: Plan, deployed: number) {
  const rateLimitPerMinute = limitOf(plan.rateLimitPerMinute, deployed);
  const different = routeNames
    .map((action) => [action, rateLimitOf(plan, action, deployed)] as const)
    .filter(([, limit]) => limit !== rateLimitPerMinute);
  return {
    rateLimitPerMinute,
    ...(different.length > 0 && { rateLimits: Object.fromEntries(different) as RateLimits }),
  };
}
