import { useEffect, useRef } from 'preact/hooks';
import {
  deliveryVerdict,
  hasNoSubscriber,
  type Judged,
} from '../../../contract/delivery-verdict.ts';
import type { NotificationStatus } from '../../../contract/notification-status.ts';
import type { AcceptedSend, SendResult } from '../../../contract/schemas/notification.ts';
import { useNotification } from '../calls/use-notification.ts';
import { Problem } from '../components/problem.tsx';
import type { Audience } from '../delivery/delivery-text.ts';
import { LiveDelivery } from '../delivery/live-delivery.tsx';
import { Verdict } from '../delivery/verdict.tsx';
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
  const result = notification ?? resultOf(sent);
  const verdict = deliveryVerdict(result);
  const title = hasNoSubscriber(result) ? 'Sent to nobody' : titles[result.status ?? 'sent'];
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
      <h2 id="outcome-title" ref={heading} tabIndex={-1} aria-describedby="verdict">
        {verdict.label ?? title}
      </h2>
      {notification === undefined ? (
        <Verdict verdict={verdict} />
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

/** What the response of a send tells. That of an accepted send has no counts. */
function resultOf(sent: Sent): Judged {
  return 'attempted' in sent
    ? sent
    : { attempted: 0, delivered: 0, removed: 0, failed: 0, ...sent, status: 'sending' };
}
