import { Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { countText } from '../../../contract/count-text.ts';
import { limits } from '../../../contract/limits.ts';
import { pushMessage } from '../../../contract/message.ts';
import type { Platform } from '../../../contract/openapi/field-texts.ts';
import { pathOf } from '../../../contract/path-of.ts';
import { rendered, type Values } from '../../../contract/placeholders.ts';
import { routes } from '../../../contract/routes.ts';
import type { SendRequest } from '../../../contract/schemas/notification.ts';
import { contentOf } from '../../../contract/send-fields.ts';
import { codeSample, type SampleLanguage, sampleLanguages } from '../code/code-samples.ts';
import { Card } from '../components/card.tsx';
import { Copy } from '../components/copy.tsx';
import { NotificationPreview } from '../preview/notification-preview.tsx';
import { platformTabs } from '../preview/platforms.ts';
import { useSession } from '../session.ts';

interface SendAsideProps {
  readonly notification: SendRequest;
  readonly respondAsync: boolean;
}

/** What browsers show of the form, and the code that sends it. */
export function SendAside({ notification, respondAsync }: SendAsideProps) {
  const { projectId } = useSession();
  const baseUrl = location.origin;
  const [first] = notification.recipients ?? [];
  const shown = first ? rendered(notification, valuesOf(first)) : notification;
  const eventsUrl = `${baseUrl}${pathOf(routes.track, { projectId, notificationId })}`;
  const bytes = messageBytes(shown, eventsUrl);
  return (
    <Stack component="aside" className="send-aside" aria-label="Preview and code">
      <Card title="Preview">
        <Choice label="Platform" tabs={platformTabs}>
          {(platform) => (
            <NotificationPreview notification={shown} platform={platform as Platform} />
          )}
        </Choice>
        {first !== undefined && <Text size="sm">With the values of {first.userId}.</Text>}
        {bytes > limits.messageBytesEverywhere && (
          <Text size="sm" id="message-bytes">
            About {countText(bytes)} of {countText(limits.messageBytes)} bytes. Above{' '}
            {countText(limits.messageBytesEverywhere)}, Firefox for Android may not receive it.
          </Text>
        )}
      </Card>
      <Card title="Code">
        <Text size="sm" c="dimmed">
          Sends exactly this notification. Set CARILLON_SECRET_KEY first.
        </Text>
        <Choice label="Language" tabs={sampleLanguages}>
          {(language) => {
            const send = { baseUrl, projectId, notification, respondAsync };
            const code = codeSample(language as SampleLanguage, send);
            return (
              <>
                <Group justify="flex-end" mb="xs">
                  <Copy text={code} label="Copy" />
                </Group>
                {/* Keyboards must be able to scroll it. */}
                <Code block tabIndex={0} className="code">
                  {code}
                </Code>
              </>
            );
          }}
        </Choice>
      </Card>
    </Stack>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** The text of each tab. */
  readonly tabs: Readonly<Record<string, string>>;
  readonly children: (selected: string) => React.ReactNode;
}

function Choice({ label, tabs, children }: ChoiceProps) {
  const names = Object.keys(tabs);
  return (
    <Tabs defaultValue={names[0]!} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {names.map((name) => (
          <Tabs.Tab key={name} value={name} px="xs">
            {tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map((name) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          {children(name)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Any notification's id is as long. */
const notificationId = '00000000-0000-0000-0000-000000000000';

/** About as many bytes as the message of a notification will have. */
function messageBytes(notification: SendRequest, eventsUrl: string): number {
  const message = JSON.stringify(pushMessage(notificationId, contentOf(notification), eventsUrl));
  return new TextEncoder().encode(message).length;
}

/** The form makes values of texts only. */
function valuesOf({ values = {} }: NonNullable<SendRequest['recipients']>[number]): Values {
  return values as Values;
}
