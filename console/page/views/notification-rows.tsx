import { deliveryVerdict, hasNoSubscriber } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { audienceText } from '../delivery/delivery-text.ts';
import { VerdictLabel } from '../delivery/verdict.tsx';
import { countText, rateText, timeText } from '../format.ts';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';

/** Notifications, each a link with its counts. */
export function NotificationRows({
  notifications,
}: {
  notifications: readonly NotificationResult[];
}) {
  if (notifications.length === 0) return <p class="empty">No notification has been sent yet.</p>;
  return (
    <ol class="rows">
      {notifications.map((notification) => (
        <Row key={notification.id} notification={notification} />
      ))}
    </ol>
  );
}

function Row({ notification }: { readonly notification: NotificationResult }) {
  const { client } = useSession();
  const { id, title, sentAt, status, attempted, delivered, removed, failed, shown, clicked } =
    notification;
  const verdict = deliveryVerdict(notification);
  const place = fragmentOf({
    view: 'notification',
    projectId: client.projectId,
    notificationId: id,
  });
  return (
    <li class="row" data-id={id}>
      <div class="row-what">
        <a href={place}>{title}</a>
        <p class="row-meta">
          <time dateTime={sentAt}>{timeText(sentAt)}</time> · to {audienceText(notification)}
          {status !== 'sent' && status !== 'interrupted' && (
            <>
              {' · '}
              <strong>{status}</strong>
            </>
          )}
        </p>
        <VerdictLabel verdict={verdict} />
      </div>
      {hasNoSubscriber(notification) ? (
        <p class="row-nobody">{verdict.text}</p>
      ) : (
        <dl class="row-counts">
          <Count name="Attempted" count={attempted} />
          <Count name="Delivered" count={delivered} of={attempted} />
          <Count name="Removed" count={removed} />
          <Count name="Failed" count={failed} />
          <Count name="Shown" count={shown} of={delivered} />
          <Count name="Clicked" count={clicked} of={shown} />
        </dl>
      )}
    </li>
  );
}

function Count({ name, count, of }: { name: string; count: number; of?: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd data-count={name.toLowerCase()} data-zero={count === 0 || undefined}>
        {countText(count)} {of !== undefined && <small>{rateText(count, of)}</small>}
      </dd>
    </div>
  );
}
