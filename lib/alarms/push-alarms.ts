import type { PushMetrics } from '../push-metrics.ts';
import type { AlarmDefinitions } from './alarm-definition.ts';
import { percentage } from './metric-math.ts';

/** Alarms on subscribers and the delivery of notifications. */
export function pushAlarms(pushes: PushMetrics): AlarmDefinitions {
  const attempted = pushes.metricOf('attempted');
  return {
    FailedPushes: {
      severity: 'page',
      metric: percentage(
        {
          part: pushes.metricOf('failed'),
          whole: attempted,
          // Otherwise one project's old list would page, or hide that a push service is down.
          without: pushes.metricOf('failedForOwner'),
        },
        50,
      ),
      threshold: 20,
      description:
        'At least 20 % of the pushes failed. Failures that only the project can repair do not count.',
    },
    VapidRefusals: {
      severity: 'warning',
      metric: percentage({ part: pushes.metricOf('vapidRefused'), whole: attempted }, 10),
      threshold: 1,
      description: 'Push services refuse the VAPID keys or the VAPID subject of a project.',
    },
    UnreachedSubscribers: {
      severity: 'warning',
      metric: pushes.metricOf('unreached'),
      threshold: 1,
      description: 'A notification was not sent to all subscribers of its audience.',
    },
    InterruptedPushes: {
      severity: 'warning',
      metric: pushes.metricOf('interrupted'),
      threshold: 1,
      description: 'A function crashed while it pushed: the outcome of some pushes is unknown.',
    },
    ResultsNotStored: {
      severity: 'warning',
      metric: pushes.metricOf('resultsNotStored'),
      threshold: 1,
      description: 'The counts of a notification, or its cancellation, could not be stored.',
    },
    SubscribersRefused: {
      severity: 'warning',
      metric: pushes.refusals(),
      threshold: 1,
      description: 'A project has as many subscribers as its cap allows, and refuses new ones.',
    },
    CountsDisagree: {
      severity: 'warning',
      metric: pushes.disagreements(),
      threshold: 1,
      description: 'Counts of a notification or of a project contradict each other.',
    },
  };
}
