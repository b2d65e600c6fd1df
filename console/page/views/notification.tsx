import { useRef, useState } from 'preact/hooks';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { useAction } from '../calls/use-action.ts';
import { useNotification } from '../calls/use-notification.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { audienceText } from '../delivery/delivery-text.ts';
import { LiveDelivery } from '../delivery/live-delivery.tsx';
import { timeText } from '../format.ts';
import { fragmentOf } from '../routing/place.ts';
import { contentTexts, formOf } from '../send/send-form.ts';
import { useSession } from '../session.ts';

/** One notification: its results and its content. */
export function NotificationView({ notificationId }: { readonly notificationId: string }) {
  const { client, setDraft } = useSession();
  const { projectId } = client;
  const heading = useRef<HTMLHeadingElement>(null);
  const { notification, error, show } = useNotification(client, notificationId);
  return (
    <View
      title={notification?.title ?? 'Notification'}
      projectId={projectId}
      actions={<a href={fragmentOf({ view: 'notifications', projectId })}>All notifications</a>}
    >
      <Problem error={error} />
      {notification !== undefined && (
        <>
          <p class="lead">
            <time dateTime={notification.sentAt}>{timeText(notification.sentAt)}</time> · to{' '}
            {audienceText(notification)}
          </p>
          <section class="card" aria-labelledby="delivery-title">
            <h2 id="delivery-title" ref={heading} tabIndex={-1}>
              Delivery
            </h2>
            <LiveDelivery notification={notification} />
            <StopButton
              notification={notification}
              onStopped={(stopped) => {
                show(stopped);
                // The pressed button is gone.
                heading.current!.focus();
              }}
            />
          </section>
          <section class="card" aria-labelledby="content-title">
            <div class="card-head">
              <h2 id="content-title">Content and options</h2>
              <a
                href={fragmentOf({ view: 'send', projectId })}
                onClick={() => setDraft(() => formOf(notification))}
              >
                Edit and send again
              </a>
            </div>
            {notification.audience !== 'everyone' && notification.audience.users !== undefined && (
              <p class="hint">The user ids and their values are not stored.</p>
            )}
            <dl class="facts">
              {contentTexts(notification).map(([label, text]) => (
                <>
                  <dt>{label}</dt>
                  <dd>{text}</dd>
                </>
              ))}
              <dt>Id</dt>
              <dd>{notification.id}</dd>
            </dl>
          </section>
        </>
      )}
    </View>
  );
}

/** Stops the notification after a confirmation, while it is being sent. */
function StopButton({
  notification: { id, title, status },
  onStopped,
}: {
  readonly notification: NotificationResult;
  readonly onStopped: (notification: NotificationResult) => void;
}) {
  const { client } = useSession();
  const [isAsking, ask] = useState(false);
  const stop = useAction(async () => onStopped(await client.stop(id)));
  if (status !== 'sending') return null;
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          class="danger"
          aria-disabled={stop.isRunning}
          onClick={() => ask(true)}
        >
          Stop
        </button>
      </div>
      <Problem error={stop.error} />
      <ConfirmDialog
        isOpen={isAsking}
        question={`Stop ${title}?`}
        explanation="Nobody else gets it: no push starts later than 5 seconds from now. What was delivered stays delivered. It cannot be continued."
        confirmLabel="Stop sending"
        onConfirm={() => stop.run()}
        onClose={() => ask(false)}
      />
    </>
  );
}
