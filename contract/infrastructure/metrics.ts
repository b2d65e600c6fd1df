import type { ErrorCode } from '../wire/errors.ts';

export const metricNamespace = 'Carillon';

/**
 * CloudWatch metrics that send and deliver emit, for the dashboard and the alarms. Their only
 * dimension is `service`, the stack's name, which Powertools reads from POWERTOOLS_SERVICE_NAME.
 */
export const pushMetrics = {
  attempted: 'PushesAttempted',
  delivered: 'PushesDelivered',
  removed: 'PushesRemoved',
  failed: 'PushesFailed',
  /** Pushes that failed at push services which fail. These three are judged by push service: see `SuspectPushes`. */
  failing: 'PushesFailing',
  /** Pushes that a push service refused, which refuses all of many. */
  refused: 'PushesRefused',
  /**
   * A push service refused the project's VAPID token or subject (401, 403), and accepted nothing. Every push of that
   * project to it fails until someone corrects the keys or the subject.
   */
  vapidRefused: 'VapidRefusals',
  /** Pushes to subscriptions that are kept, although a push service says that they are gone: see `GoneInMasses`. */
  unconfirmed: 'RemovalsUnconfirmed',
  /** Subscribers that were not attempted, because the time was over or reading them failed. */
  unreached: 'SubscribersUnreached',
  /** Pushes whose outcome is unknown, because their function died. They also count as failed. */
  interrupted: 'PushesInterrupted',
  /** Slices whose invocations Lambda did not take, also after repetitions. */
  invocationsThrottled: 'InvocationsThrottled',
  /** Times that the counts of a slice, or the cancellation of a send, could not be stored. */
  resultsNotStored: 'ResultsNotStored',
} as const;

/**
 * Events of browsers. CloudWatch adds up what the log lines of track count, so that an event costs no line of
 * its own. These metrics have no dimension: log lines do not contain the stack's name.
 */
export const eventMetrics = { shown: 'EventsShown', clicked: 'EventsClicked' } as const;

/**
 * Counts that contradict each other, which is a fault of Carillon. CloudWatch counts the lines with this message
 * in the logs of all functions that read or return counts.
 */
export const disagreement = { message: 'counts disagree', metric: 'CountsDisagree' } as const;

/** Refusals of the caps. CloudWatch counts the lines with these codes in the logs of subscribe and send. */
export const refusals = {
  subscribe: { code: 'subscriber_cap_reached' satisfies ErrorCode, metric: 'SubscribersRefused' },
  send: { code: 'send_cap_reached' satisfies ErrorCode, metric: 'SendsRefused' },
} as const;

/** The namespace of a stack's metrics that are counted in logs. */
export function logNamespace(stackName: string): string {
  return `${metricNamespace}/${stackName}`;
}
