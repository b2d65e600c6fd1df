import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Counts } from '../../contract/counts.ts';
import { type Failures, failureReasonNames, isForOwner } from '../../contract/failure-reasons.ts';
import { pushMetrics } from '../../contract/metrics.ts';
import { countChecker } from '../results/count-checker.ts';
import type { ShareObserver } from './deliver-share.ts';

type MetricValues = Partial<Record<keyof typeof pushMetrics, number>>;

/** The notification that a log line or a metric is about. */
export interface Subject {
  readonly projectId: string;
  readonly notificationId: string;
}

export type Publish = (subject: Subject, values: MetricValues) => void;

/**
 * Reports to CloudWatch in embedded metric format, with the ids of the logger. The project is a property of the log line, not a
 * dimension: every dimension value would be another metric to pay for.
 */
export function metricPublisher(metrics: Metrics, logger: Logger): Publish {
  return (subject, values) => {
    const properties = { ...logger.getPersistentLogAttributes(), ...logged(subject) };
    for (const [name, id] of Object.entries(properties)) metrics.addMetadata(name, String(id));
    for (const [name, value = 0] of Object.entries(values)) {
      metrics.addMetric(pushMetrics[name as keyof MetricValues], MetricUnit.Count, value);
    }
    metrics.publishStoredMetrics();
  };
}

/** The properties of log lines about a notification. */
export function logged({ projectId, notificationId }: Subject) {
  return { project_id: projectId, notification_id: notificationId };
}

/** The metrics of pushes with an unknown outcome, and of subscribers that were not attempted. */
export function notDelivered({ failures, unreached }: Counts): MetricValues {
  return { interrupted: failures.interrupted ?? 0, unreached };
}

function forOwner(failures: Failures): number {
  const reasons = failureReasonNames.filter((reason) => isForOwner[reason]);
  return reasons.reduce((sum, reason) => sum + (failures[reason] ?? 0), 0);
}

/** Logs errors of the code that pushes: at most one per second, because each push may have it. */
export function faultLogger(logger: Logger, clock: () => Date): (error: unknown) => void {
  let nextAt = 0;
  return (error) => {
    const now = clock().getTime();
    if (now < nextAt) return;
    nextAt = now + 1000;
    logger.error('push fault', { error: error as Error });
  };
}

/** Logs shares, and reports them as metrics. */
export function shareObserver(logger: Logger, publish: Publish): ShareObserver {
  const checker = countChecker(logger);
  return {
    delivered(share, { result, error }) {
      checker.notification(share.projectId, share.notificationId, result);
      const { attempted, delivered, removed, failed, failures } = result;
      const failedForOwner = forOwner(failures);
      const vapidRefused = failures.vapid_refused ?? 0;
      publish(share, {
        ...{ attempted, delivered, removed, failed, failedForOwner, vapidRefused },
        // Send adds up the shares that it waits for, and reports these itself.
        ...(share.deadline === undefined && notDelivered(result)),
      });
      const line = { ...logged(share), first_tally: share.firstTally, ...result };
      if (error instanceof Error) logger.error('delivery', { ...line, error });
      else logger.info('delivery', line);
    },

    failed(share, pushService, failures) {
      for (const [reason, number] of Object.entries(failures)) {
        const line = { ...logged(share), push_service: pushService, reason, failed: number };
        logger.info('failed pushes', line);
      }
    },

    refused(share) {
      publish(share, { invocationsRefused: 1 });
      logger.warn('invocation refused', { ...logged(share), first_tally: share.firstTally });
    },

    recordFailed(share, error) {
      publish(share, { resultsNotStored: 1 });
      logger.error('record failed', { ...logged(share), error: error as Error });
    },
  };
}
