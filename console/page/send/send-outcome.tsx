import { useEffect, useRef } from 'preact/hooks';
import type { NotificationStatus } from '../../../contract/notification-status.ts';
import type { AcceptedSend, SendResult } from '../../../contract/schemas/notification.ts';
import { useNotification } from '../calls/use-notification.ts';
import { Problem } from '../components/problem.tsx';
import { type Audience, deliveryText } from '../delivery/delivery-text.ts';
import { LiveDelivery } from '../delivery/live-delivery.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';

/** The response of a send. */
export type Sent = (SendResult | AcceptedSend) & { readonly audience: Audience };

const titles = {
  sending: 'Sending',
  sent: 'Sent',
  interrupted: 'Interrupted',
  stopping: 'Stopping',
  stopped: 'Stopped',
} as const satisfies Record<NotificationStatus, string>;

/** What became of the send that has just been made. Gets the focus, and is updated from then on. */
export function SendOutcome({ sent }: { readonly sent: Sent }) {
  const { client } = useSession();
  const { notification, error } = useNotification(client, sent.id);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current!.focus({ preventScroll: true }), []);
  const isRead = notification !== undefined;
  // Again with the counts, which need more space, if the person is still there.
  useEffect(() => {
    const section = heading.current!.closest('section')!;
    if (section.contains(document.activeElement)) section.scrollIntoView({ block: 'nearest' });
  }, [isRead]);
  const place = fragmentOf({
    view: 'notification',
    projectId: client.projectId,
    notificationId: sent.id,
  });
  return (
    <section class="card outcome" aria-labelledby="outcome-title">
      <h2 id="outcome-title" ref={heading} tabIndex={-1} aria-describedby="outcome-text">
        {titles[notification?.status ?? sent.status ?? 'sent']}
      </h2>
      {notification === undefined ? (
        <p id="outcome-text">
          {'attempted' in sent
            ? deliveryText(sent, sent.audience)
            : 'The service is delivering the notification.'}
        </p>
      ) : (
        <LiveDelivery notification={notification} />
      )}
      <Problem error={error} />
      <p>
        <a href={place}>Open this notification</a>
      </p>
    </section>
  );
}
