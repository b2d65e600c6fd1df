import { limits } from '../../../contract/limits.ts';
import { pushMessage } from '../../../contract/message.ts';
import { rendered, type Values } from '../../../contract/placeholders.ts';
import { pathOf, routes } from '../../../contract/routes.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { codeSample, sampleLanguages } from '../code/code-samples.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Tabs } from '../components/tabs.tsx';
import { countText } from '../format.ts';
import { NotificationPreview } from '../preview/notification-preview.tsx';
import { platformTabs } from '../preview/platforms.ts';
import { useSession } from '../session.ts';

interface SendAsideProps {
  readonly notification: SendRequest;
  readonly respondAsync: boolean;
}

/** What browsers show of the form, and the code that sends it. */
export function SendAside({ notification, respondAsync }: SendAsideProps) {
  const { settings, client } = useSession();
  const { baseUrl } = settings;
  const { projectId } = client;
  const [first] = notification.recipients ?? [];
  const shown = first ? rendered(notification, valuesOf(first)) : notification;
  const bytes = messageBytes(
    shown,
    `${baseUrl}${pathOf(routes.track, { projectId, notificationId })}`,
  );
  return (
    <aside class="send-aside" aria-label="Preview and code">
      <section class="card" aria-labelledby="preview-title">
        <h2 id="preview-title">Preview</h2>
        <Tabs label="Platform" tabs={platformTabs}>
          {(platform) => <NotificationPreview notification={shown} platform={platform} />}
        </Tabs>
        {first !== undefined && <p class="hint">With the values of {first.userId}.</p>}
        {bytes > limits.messageBytesEverywhere && (
          <p class="hint" id="message-bytes">
            About {countText(bytes)} of {countText(limits.messageBytes)} bytes. Above{' '}
            {countText(limits.messageBytesEverywhere)}, Firefox for Android may not receive it.
          </p>
        )}
      </section>
      <section class="card send-code" aria-labelledby="code-title">
        <h2 id="code-title">Code</h2>
        <p class="hint">Sends exactly this notification. Set CARILLON_SECRET_KEY first.</p>
        <Tabs label="Language" tabs={sampleLanguages}>
          {(language) => {
            const code = codeSample(language, { baseUrl, projectId, notification, respondAsync });
            return (
              <div class="code">
                <CopyButton text={code} label="Copy" />
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it. */}
                <pre tabIndex={0}>
                  <code>{code}</code>
                </pre>
              </div>
            );
          }}
        </Tabs>
      </section>
    </aside>
  );
}

/** Any notification's id is as long. */
const notificationId = '00000000-0000-0000-0000-000000000000';

/** About as many bytes as the message of a notification will have. */
function messageBytes({ userIds, recipients, ...content }: SendRequest, eventsUrl: string): number {
  const { channels, seenWithinDays, ...shown } = content;
  const message = JSON.stringify(pushMessage(notificationId, shown, eventsUrl));
  return new TextEncoder().encode(message).length;
}

/** The form makes values of texts only. */
function valuesOf({ values = {} }: NonNullable<SendRequest['recipients']>[number]): Values {
  return values as Values;
}
