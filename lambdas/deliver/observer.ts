import type { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNamespace, pushMetrics } from '../../contract/infrastructure/metrics.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { Counts } from '../../contract/wire/counts.ts';
import type { ServiceOutcome } from '../push/pushing/push-service.ts';
import { countChecker } from '../results/count-checker.ts';
import type { Progress } from '../store/slices.ts';
import { pushServiceHealth } from './push-service-health.ts';

/** The notification that a log line or a metric is about. */
type Subject = Pick<Slice, 'projectId' | 'notificationId'>;

/** What operators see of sends and their slices. */
export type Observer = ReturnType<typeof observer>;

/**
 * Logs sends and slices, and reports them to CloudWatch in embedded metric format. The project is a
 * property of a metric's line, not a dimension: every dimension value would be another metric to pay for.
 */
export function observer(
  logger: Logger,
  clock: () => Date,
  metrics = new Metrics({ namespace: metricNamespace }),
) {
  const checker = countChecker(logger);
  const suspectIn = pushServiceHealth(clock);
  let nextFaultAt = 0;

  function publish(subject: Subject, values: MetricValues): void {
    const properties = { ...logger.getPersistentLogAttributes(), ...logged(subject) };
    for (const [name, id] of Object.entries(properties)) metrics.addMetadata(name, String(id));
    for (const [name, value = 0] of Object.entries(values)) {
      metrics.addMetric(pushMetrics[name as keyof MetricValues], MetricUnit.Count, value);
    }
    metrics.publishStoredMetrics();
  }

  /** Publishes the values above 0. */
  function publishSome(subject: Subject, values: MetricValues): void {
    const some = Object.entries(values).filter(([, value]) => value > 0);
    if (some.length > 0) publish(subject, Object.fromEntries(some));
  }

  return {
    /** A slice has ended. @param error why it ended early, if a call failed. */
    delivered(
      slice: Slice,
      { counts, unjudged, isRead }: Pick<Progress, 'counts' | 'unjudged' | 'isRead'>,
      isStopped: boolean,
      error?: unknown,
    ): void {
      checker.notification(slice.projectId, slice.notificationId, counts);
      const { attempted, delivered, removed, failed } = counts;
      publish(slice, {
        attempted,
        delivered,
        removed,
        failed,
        // Send adds up the slices that it waits for, and reports these itself.
        ...(slice.awaitedSince === undefined && notDelivered(counts, unjudged, isStopped)),
      });
      const line = { ...logged(slice), slice: slice.slice, ...counts, isRead, isStopped };
      if (error instanceof Error) logger.error('delivery', { ...line, error });
      else logger.info('delivery', line);
    },

    /** An invocation has pushed what it can of a slice. */
    pushed(slice: Slice, outcomes: readonly ServiceOutcome[]): void {
      for (const { pushService, failures } of outcomes) {
        for (const [reason, number] of Object.entries(failures)) {
          const line = { ...logged(slice), push_service: pushService, reason, failed: number };
          logger.info('failed pushes', line);
        }
      }
      publishSome(slice, { ...suspectIn(outcomes) });
    },

    /** Lambda did not take the invocation of deliver for this slice, also after repetitions. */
    notTaken(slice: Slice): void {
      publish(slice, { invocationsThrottled: 1 });
      logger.warn('invocation throttled', { ...logged(slice), slice: slice.slice });
    },

    /** Counts could not be stored, also after repetitions. */
    recordFailed(slice: Subject, error: unknown): void {
      publish(slice, { resultsNotStored: 1 });
      logger.error('record failed', { ...logged(slice), error: error as Error });
    },

    /** An error of the code that pushes. */
    fault(error: unknown): void {
      // At most once per second, because every push may have it.
      const now = clock().getTime();
      if (now < nextFaultAt) return;
      nextFaultAt = now + 1000;
      logger.error('push fault', { error: error as Error });
    },

    /** A send for whose counts the caller has waited. */
    responded(notification: Subject, counts: Counts, unjudged: number, isStopped: boolean): void {
      publishSome(notification, notDelivered(counts, unjudged, isStopped));
    },

    /** A send could not be undone. */
    cancelFailed(notification: Subject, error: unknown): void {
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
 * The metrics of pushes with an unknown outcome and of subscribers that were not attempted. Alarms watch them, so they
 * leave out stopped notifications, and recipients whom anybody could have subscribed.
 */
function notDelivered({ failures, unreached }: Counts, unjudged = 0, isStopped: boolean) {
  const judged = isStopped ? 0 : Math.max(0, unreached - unjudged);
  return { interrupted: failures.interrupted ?? 0, unreached: judged };
}
