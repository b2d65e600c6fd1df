import type { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Counts } from '../../contract/counts.ts';
import { type Failures, failureReasonNames, isForOwner } from '../../contract/failure-reasons.ts';
import { metricNamespace, pushMetrics } from '../../contract/metrics.ts';
import type { Share, ShareResult } from '../../contract/share.ts';
import { countChecker } from '../results/count-checker.ts';

/** The notification that a log line or a metric is about. */
type Subject = Pick<Share, 'projectId' | 'notificationId'>;

type ShareTotal = Counts & Pick<ShareResult, 'isStopped'>;

/** What operators see of sends and their shares. */
export interface Observer {
  /** A share has ended. The error is why it ended early, if a call failed. */
  delivered(share: Share, outcome: { result: ShareResult; error?: unknown }): void;
  /** Pushes of a share to one push service failed. */
  failed(share: Share, pushService: string, failures: Failures): void;
  /** Lambda throttled the invocations of deliver for this share, also after repetitions. */
  throttled(share: Share): void;
  /** Counts could not be stored, also after repetitions. */
  recordFailed(share: Share, error: unknown): void;
  /** An error of the code that pushes. */
  fault(error: unknown): void;
  /** The send has its response. The total is that of the shares that it waited for. */
  sent(notification: Subject, total: ShareTotal): void;
  /** A send could not be undone. */
  cancelFailed(notification: Subject, error: unknown): void;
}

/**
 * Logs sends and shares, and reports them to CloudWatch in embedded metric format. The project is a
 * property of a metric's line, not a dimension: every dimension value would be another metric to pay for.
 */
export function observer(
  logger: Logger,
  clock: () => Date,
  metrics = new Metrics({ namespace: metricNamespace }),
): Observer {
  const checker = countChecker(logger);
  let nextFaultAt = 0;

  function publish(subject: Subject, values: MetricValues): void {
    const properties = { ...logger.getPersistentLogAttributes(), ...logged(subject) };
    for (const [name, id] of Object.entries(properties)) metrics.addMetadata(name, String(id));
    for (const [name, value = 0] of Object.entries(values)) {
      metrics.addMetric(pushMetrics[name as keyof MetricValues], MetricUnit.Count, value);
    }
    metrics.publishStoredMetrics();
  }

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

    throttled(share) {
      publish(share, { invocationsThrottled: 1 });
      logger.warn('invocation throttled', { ...logged(share), first_tally: share.firstTally });
    },

    recordFailed(share, error) {
      publish(share, { resultsNotStored: 1 });
      logger.error('record failed', { ...logged(share), error: error as Error });
    },

    fault(error) {
      // At most once per second, because every push may have it.
      const now = clock().getTime();
      if (now < nextFaultAt) return;
      nextFaultAt = now + 1000;
      logger.error('push fault', { error: error as Error });
    },

    sent(notification, total) {
      const values = notDelivered(total);
      if (Object.values(values).some((value) => value > 0)) publish(notification, values);
    },

    cancelFailed(notification, error) {
      publish(notification, { resultsNotStored: 1 });
      logger.error('cancellation failed', { ...logged(notification), error: error as Error });
    },
  };
}

type MetricValues = Partial<Record<keyof typeof pushMetrics, number>>;

function logged({ projectId, notificationId }: Subject) {
  return { project_id: projectId, notification_id: notificationId };
}

/**
 * The metrics of pushes with an unknown outcome, and of subscribers that were not attempted: unless their
 * owner has stopped the notification, because an alarm watches them.
 */
function notDelivered({ failures, unreached, isStopped = false }: ShareTotal) {
  return { interrupted: failures.interrupted ?? 0, unreached: isStopped ? 0 : unreached };
}

function forOwner(failures: Failures): number {
  const reasons = failureReasonNames.filter((reason) => isForOwner[reason]);
  return reasons.reduce((sum, reason) => sum + (failures[reason] ?? 0), 0);
}
