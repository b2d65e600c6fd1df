/** A project's own limits. Absent: the deployment's setting. Null: no limit. */
export interface Plan {
  readonly subscriberCap?: number | null;
  readonly monthlySendCap?: number | null;
  readonly rateLimitPerMinute?: number | null;
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
  /** SHA-256 of the secret key, hex. */
  readonly secretKeyHash: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousKey?: { readonly hash: string; readonly until: Date } | undefined;
  readonly plan: Plan;
  readonly vapid: VapidPairs;
}

/** A project with what its owner sees of it. */
export interface DescribedProject extends Project {
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
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
export function limitOf(planned: number | null | undefined, deployed: number): number | null {
  return planned === undefined ? deployed : planned;
}
