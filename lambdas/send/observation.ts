import type { Logger } from '@aws-lambda-powertools/logger';
import { logged, notDelivered, type Publish } from '../deliver/observation.ts';
import type { SendObserver } from './sending.ts';

/** Logs what becomes of sends, and reports it as metrics. */
export function sendObserver(logger: Logger, publish: Publish): SendObserver {
  return {
    sent({ projectId }, notificationId, total) {
      const values = notDelivered(total);
      if (Object.values(values).some((value) => value > 0)) {
        publish({ projectId, notificationId }, values);
      }
    },

    cancelFailed({ projectId }, notificationId, error) {
      const subject = { projectId, notificationId };
      publish(subject, { resultsNotStored: 1 });
      logger.error('cancellation failed', { ...logged(subject), error: error as Error });
    },
  };
}
