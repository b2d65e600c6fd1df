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

/** Why a push failed: a row for every reason that is counted, logged and returned. */
export const failureReasons = {
  /** Too many messages to one browser, or its user blocks them. */
  dropped: {
    meaning: 'The push service accepted the message and dropped it (WNS).',
    cause: 'owner',
  },
  /** The site's key is wrong, or its list is older than the key. */
  key_mismatch: {
    meaning: 'The subscription was made with another application server key.',
    cause: 'owner',
  },
  vapid_refused: {
    meaning: 'The push service refused the VAPID token or its subject.',
    cause: 'refusal',
    statuses: [401, 403],
  },
  /** A shorter notification fits. */
  too_large: {
    meaning: 'The push service takes only smaller messages.',
    cause: 'owner',
    statuses: [413],
  },
  /** 501 is not implemented, 505 a version that is not supported: a retry would be refused too. */
  refused: {
    meaning: 'The push service refused the push for another reason.',
    cause: 'refusal',
    statuses: [400, 501, 505],
  },
  throttled: {
    meaning: 'The push service limited the rate (406 or 429) until the time was over.',
    cause: 'service',
    statuses: [406, 429],
    isRetried: true,
  },
  unavailable: {
    meaning: 'The push service had an error (408, 425 or 5xx), also after retries.',
    cause: 'service',
    statuses: [408, 425],
    isRetried: true,
  },
  no_response: {
    meaning:
      'There was no connection, a broken one, a malformed response or a time-out, also after retries.',
    cause: 'service',
  },
  /** The accepted push services are a setting of the deployment, and so is its DNS resolver. */
  unsendable: {
    meaning:
      'The push service is no longer accepted, its host has a private address, or the stored keys or path are invalid.',
    cause: 'service',
  },
  gone_unconfirmed: {
    meaning:
      'The push service said that more than half of at least 50 subscriptions are gone: they are kept until it says so again a day later.',
    cause: 'gone',
  },
  not_removed: {
    meaning: 'The subscription is gone, and its deletion was not confirmed in time.',
    cause: 'service',
  },
  internal_error: {
    meaning: 'This service had a fault; its log has the error.',
    cause: 'service',
  },
  interrupted: {
    meaning: 'The function ended before the outcome was stored. The push may not have started.',
    cause: 'service',
  },
} as const satisfies Readonly<Record<string, FailureFacts>>;

interface FailureFacts {
  /** A sentence that may follow "because". */
  readonly meaning: string;
  /**
   * What an alarm may conclude. `owner`: only the project's owner can do something about it. `refusal`: the push service
   * refuses this push; of single subscriptions it concerns nobody else. `service`: the cause is at the push service or in this
   * deployment. `gone`: perhaps nothing is wrong.
   */
  readonly cause: 'owner' | 'refusal' | 'service' | 'gone';
  /** Statuses of the push service's response that mean it. Any other 5xx is `unavailable`, anything else `refused`. */
  readonly statuses?: readonly number[];
  /** Whether a push is repeated before it fails for this reason. */
  readonly isRetried?: true;
}

export type FailureReason = keyof typeof failureReasons;

/** The facts of a reason. */
export const failureFacts = (reason: FailureReason): FailureFacts => failureReasons[reason];

export const failureReasonNames = Object.keys(failureReasons) as [FailureReason];

/** Failures by their reason; reasons without a failure are absent. */
export type Failures = Readonly<Partial<Record<FailureReason, number>>>;
