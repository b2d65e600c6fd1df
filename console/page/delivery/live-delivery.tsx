import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { useLoad } from '../calls/use-load.ts';
import { useSession } from '../session.ts';
import { Delivery } from './delivery.tsx';

/** The delivery, with the size of the audience while that tells the progress. */
export function LiveDelivery({ notification }: { readonly notification: NotificationResult }) {
  const { client } = useSession();
  const needsSize = notification.status === 'sending' && notification.audience === 'everyone';
  const { value: project } = useLoad(
    async () => (needsSize ? client.project() : undefined),
    [client, needsSize],
  );
  return <Delivery notification={notification} audienceSize={project?.subscribers} />;
}
