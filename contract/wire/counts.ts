/** Outcomes of a notification's pushes. `attempted = delivered + removed + failed`. */
export interface DeliveryCounts {
  readonly attempted: number;
  /** The push service accepted the message. */
  readonly delivered: number;
  /** The push service reported the subscription as gone; it was deleted. */
  readonly removed: number;
  /** Everything else. */
  readonly failed: number;
}

/** Outcomes of recipients: of a slice, of what an invocation has delivered of it, or of a notification. */
export interface Counts extends DeliveryCounts {
  /** Failures by their reason, adding up to `failed`. */
  readonly failures: Failures;
  /** Removed subscriptions by push service, adding up to `removed`. */
  readonly removals: ByPushService;
  /** Recipients that were not attempted. */
  readonly unreached: number;
}

export const noCounts: Counts = {
  attempted: 0,
  delivered: 0,
  removed: 0,
  failed: 0,
  failures: {},
  removals: {},
  unreached: 0,
};

export function addCounts(left: Counts, right: Counts): Counts {
  return {
    attempted: left.attempted + right.attempted,
    delivered: left.delivered + right.delivered,
    removed: left.removed + right.removed,
    failed: left.failed + right.failed,
    failures: sumsOf(left.failures, right.failures),
    removals: sumsOf(left.removals, right.removals),
    unreached: left.unreached + right.unreached,
  };
}

function sumsOf<Numbers extends Readonly<Partial<Record<string, number>>>>(
  left: Numbers,
  right: Numbers,
): Numbers {
  const sums = Object.entries(right).map(([name, number = 0]) => [
    name,
    (left[name] ?? 0) + number,
  ]);
  return { ...left, ...Object.fromEntries(sums) };
}

/** By the name of a push service; those without any are absent. */
export type ByPushService = Readonly<Record<string, number>>;

/**
 * Why a push failed: every reason that is counted, logged and returned, with its meaning. Each is a sentence that may
 * follow "because".
 */
export const failureReasons = {
  dropped: 'The push service accepted the message and dropped it (WNS).',
  key_mismatch: 'The subscription was made with another application server key.',
  vapid_refused: 'The push service refused the VAPID token or its subject.',
  too_large: 'The push service takes only smaller messages.',
  refused: 'The push service refused the push for another reason.',
  throttled: 'The push service limited the rate (406 or 429) until the time was over.',
  unavailable: 'The push service had an error (408, 425 or 5xx), also after retries.',
  no_response:
    'There was no connection, a broken one, a malformed response or a time-out, also after retries.',
  unsendable:
    'The push service is no longer accepted, its host has a private address, or the stored keys or path are invalid.',
  gone_unconfirmed:
    'The push service said that more than half of at least 50 subscriptions are gone: they are kept until it says so again a day later.',
  not_removed: 'The subscription is gone, but could not be deleted in time.',
  internal_error: 'This service had a fault; its log has the error.',
  interrupted: 'The function ended before the outcome was stored. The push may not have started.',
} as const;

export type FailureReason = keyof typeof failureReasons;

/**
 * What an alarm may conclude from a failure. `owner`: only the project's owner can do something about it. `refusal`: the push
 * service refuses this push; of single subscriptions it concerns nobody else. `service`: the cause is at the push service or
 * in this deployment. `gone`: perhaps nothing is wrong.
 */
export const failureCauses: Readonly<
  Record<FailureReason, 'owner' | 'refusal' | 'service' | 'gone'>
> = {
  /** Too many messages to one browser, or its user blocks them. */
  dropped: 'owner',
  /** The site's key is wrong, or its list is older than the key. */
  key_mismatch: 'owner',
  /** A shorter notification fits. */
  too_large: 'owner',
  vapid_refused: 'refusal',
  refused: 'refusal',
  throttled: 'service',
  unavailable: 'service',
  no_response: 'service',
  /** The accepted push services are a setting of the deployment, and so is its DNS resolver. */
  unsendable: 'service',
  gone_unconfirmed: 'gone',
  not_removed: 'service',
  internal_error: 'service',
  interrupted: 'service',
};

export const failureReasonNames = Object.keys(failureReasons) as [FailureReason];

/** Failures by their reason; reasons without a failure are absent. */
export type Failures = Readonly<Partial<Record<FailureReason, number>>>;
