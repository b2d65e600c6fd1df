/** A project's own limits. Absent: the deployment's setting holds. Null: no limit. */
export interface Plan {
  readonly subscriberCap?: number | null;
  readonly monthlySendCap?: number | null;
  readonly rateLimitPerMinute?: number | null;
}

/** VAPID pair (RFC 8292), base64url. The public half is the application server key. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** A project as every function knows it. */
export interface Project {
  readonly projectId: string;
  /** SHA-256 of the secret key, hex. */
  readonly apiKeyHash: string;
  /** The key before the last rotation, where it was given time to be replaced. */
  readonly previousKey?: { readonly hash: string; readonly until: Date } | undefined;
  readonly plan: Plan;
}

/** A project as the one function knows it that signs for it. */
export interface SigningProject extends Project {
  readonly vapid: VapidKeys;
}

/** What holds for one project: its plan's word, or the deployment's. Null means no limit. */
export function limitOf(planned: number | null | undefined, deployed: number): number | null {
  return planned === undefined ? deployed : planned;
}
