import { isInProgress } from '../../../contract/notification-status.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { receivedCount } from '../calls/simulated-browsers.ts';
import { useLoad } from '../calls/use-load.ts';
import { countText } from '../format.ts';
import { useSession } from '../session.ts';
import { Delivery } from './delivery.tsx';

/**
 * The delivery, with the size of the audience while that tells the progress. With `npm start`, its
 * end is compared with what the simulated browsers received; real ones do not tell.
 */
export function LiveDelivery({ notification }: { readonly notification: NotificationResult }) {
  const { client, settings } = useSession();
  const needsSize = isInProgress(notification.status) && notification.audience === 'everyone';
  const { value: project } = useLoad(
    async () => (needsSize ? client.project() : undefined),
    [client, needsSize],
  );
  const isComparable = settings.local && !isInProgress(notification.status);
  const { value: received = 0 } = useLoad(
    async () => (isComparable ? receivedCount(notification.id) : 0),
    [notification.id, isComparable],
  );
  return (
    <>
      <Delivery notification={notification} audienceSize={project?.subscribers} />
      {received > 0 && (
        <p class="remark" data-count="received">
          Simulated browsers received {countText(received)} of {countText(notification.delivered)}{' '}
          delivered messages.
        </p>
      )}
    </>
  );
}
