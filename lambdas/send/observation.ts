import type { Logger } from '@aws-lambda-powertools/logger';
import { logged, type Publish } from '../shares/observation.ts';
import type { SendObserver } from './send.ts';

/** Logs what becomes of sends, and reports it as metrics. */
export function sendObserver(logger: Logger, publish: Publish): SendObserver {
  return {
    sent({ projectId }, notificationId, { unreached, failures }) {
      const interrupted = failures.interrupted ?? 0;
      if (unreached === 0 && interrupted === 0) return;
      publish({ projectId, notificationId }, { unreached, interrupted });
    },

    cancelFailed({ projectId }, notificationId, error) {
      const subject = { projectId, notificationId };
      publish(subject, { resultsNotStored: 1 });
      logger.error('cancellation failed', { ...logged(subject), error: error as Error });
    },
  };
}
