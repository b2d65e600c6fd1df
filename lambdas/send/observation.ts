import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { pushMetrics } from '../../contract/metrics.ts';
import type { SendParts } from './send.ts';

/**
 * Logs deliveries, and reports them to CloudWatch in embedded metric format. The project is a property
 * of the log line, not a dimension: every dimension value would be another metric to pay for.
 */
export function observation(logger: Logger, metrics: Metrics): SendParts['observe'] {
  return {
    delivered({ projectId }, id, { failures, interruption, ...counts }) {
      metrics.addMetadata('project_id', projectId);
      metrics.addMetadata('notification_id', id);
      const { attempted, delivered, removed, failed } = counts;
      const values = {
        attempted,
        delivered,
        removed,
        failed,
        vapidRefused: failures.vapid_refused,
      };
      for (const [name, value = 0] of Object.entries(values)) {
        metrics.addMetric(pushMetrics[name as keyof typeof values], MetricUnit.Count, value);
      }
      metrics.publishStoredMetrics();

      const line = { project_id: projectId, notification_id: id, ...counts, failures };
      if (interruption instanceof Error) logger.error('delivery', { ...line, error: interruption });
      else logger.info('delivery', line);
    },

    recordFailed({ projectId }, id, error) {
      const line = { project_id: projectId, notification_id: id };
      logger.error('record failed', { ...line, error: error as Error });
    },
  };
}
