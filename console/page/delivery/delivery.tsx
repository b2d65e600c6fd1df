import { deliveryVerdict, hasNoSubscriber } from '../../../contract/delivery-verdict.ts';
import { type FailureReason, failureReasons } from '../../../contract/failure-reasons.ts';
import { isInProgress } from '../../../contract/notification-status.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { countOf, countText } from '../format.ts';
import { Funnel } from './funnel.tsx';
import { Verdict } from './verdict.tsx';

interface DeliveryProps {
  readonly notification: NotificationResult;
  /** About how many subscribers the audience has, if that is known. */
  readonly audienceSize?: number | undefined;
}

/** What became of a notification: progress, funnel, and why pushes failed. */
export function Delivery({ notification, audienceSize }: DeliveryProps) {
  const { status, removed, failed, failures = {}, unreached, audience } = notification;
  return (
    <div class="delivery">
      <Verdict verdict={deliveryVerdict(notification)} />
      {isInProgress(status) && <Progress {...notification} audienceSize={audienceSize} />}
      {!hasNoSubscriber(notification) && <Funnel notification={notification} />}
      {notification.usersReached !== undefined && audience !== 'everyone' && (
        <p class="remark" data-count="users">
          <strong>
            {countText(notification.usersReached)} of {countOf(audience.users ?? 0, 'user')} reached
          </strong>{' '}
          in at least one browser. The response of a send names the others:{' '}
          <code>usersNotReached</code>.
        </p>
      )}
      {removed > 0 && (
        <p class="remark" data-count="removed">
          <strong>{countText(removed)} removed.</strong> The push service reported these
          subscriptions as gone, and Carillon deleted them: the browser or the person unsubscribed.
        </p>
      )}
      {failed > 0 && (
        <div class="remark" data-count="failed">
          <p>
            <strong>{countText(failed)} failed:</strong>
          </p>
          <ul class="failures">
            {Object.entries(failures).map(([reason, count]) => (
              <li key={reason}>
                <strong>{countText(count)} ×</strong> {failureReasons[reason as FailureReason]}
              </li>
            ))}
          </ul>
        </div>
      )}
      {unreached !== undefined && (
        <p class="remark" data-count="unreached">
          <strong>At least {countOf(unreached, 'subscriber')} not attempted:</strong>{' '}
          {status === 'stopped'
            ? 'the notification was stopped.'
            : 'the time ran out, or the database failed. For a large audience, choose “Respond before the delivery”.'}
        </p>
      )}
    </div>
  );
}

function Progress({
  attempted,
  audienceSize,
}: {
  attempted: number;
  audienceSize?: number | undefined;
}) {
  return (
    <div class="progress">
      <label for="progress">
        {audienceSize === undefined
          ? `${countText(attempted)} attempted so far`
          : `${countText(attempted)} of about ${countText(audienceSize)} attempted`}
      </label>
      <progress
        id="progress"
        max={Math.max(audienceSize ?? 0, attempted, 1)}
        value={audienceSize && attempted}
      />
    </div>
  );
}
