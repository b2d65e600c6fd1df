import {
  Anchor,
  Box,
  Button,
  Flex,
  Paper,
  Progress,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { countOf, countText } from '../../../contract/text/text.ts';
import type { Issue } from '../../../contract/wire/errors.ts';
import { limits } from '../../../contract/wire/limits.ts';
import type { SendRequest, SendResult } from '../../../contract/wire/notification.ts';
import { rendered, type Values } from '../../../contract/wire/placeholders.ts';
import { contentOf, type FieldGroup, fieldGroups } from '../../../contract/wire/send-fields.ts';
import { deliveryVerdict } from '../../../contract/wording/delivery-verdict.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { useProject } from '../calls.ts';
import { CodeSample } from '../code-sample.tsx';
import { Icon } from '../icons.tsx';
import { subscribedUserId } from '../local-view.tsx';
import { messageBytes, NotificationPreview, PlatformPreview } from '../preview.tsx';
import { useSession } from '../session.ts';
import { Disclosure, Hint, Problem, submitting, useConfirm, View } from '../view.tsx';
import { AudienceFields, type AudienceSize, audienceSize, sizeText } from './audience-fields.tsx';
import { Fields, IssuesContext, SendField } from './send-field.tsx';
import {
  emptySendForm,
  fieldAt,
  fields,
  isIn,
  namesIn,
  readSendForm,
  type SendForm,
} from './send-form.ts';

const audienceGroups: readonly FieldGroup[] = ['To', 'Only some of them'];
const optionGroups = fieldGroups.filter(
  (group) => group !== 'Message' && !audienceGroups.includes(group),
);

/** Writes and sends a notification: first what, then to whom. */
export function SendView() {
  const { client, projectId, isLocal, href, draft, change, testUserId, setTestUserId } =
    useSession();
  const { data: project } = useProject();
  const { notification, issues } = readSendForm(draft);
  const [first] = notification.recipients ?? [];
  const shown = first ? rendered(notification, (first.values ?? {}) as Values) : notification;
  const size = audienceSize(draft, project?.subscribers, project?.sample);
  /** The last one to send, or to send a test. */
  const [attempt, setAttempt] = useState<{ readonly isTest: boolean }>();
  const [isOpen, setOpen] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { ask, dialog } = useConfirm();
  /** By the body, until it is sent: a repeated attempt never sends it twice. */
  const keys = useRef(new Map<string, string>()).current;

  async function post(request: SendRequest, respondAsync: boolean) {
    const body = JSON.stringify(request);
    const idempotencyKey = keys.get(body) ?? crypto.randomUUID();
    keys.set(body, idempotencyKey);
    const result = await client.send(request, { idempotencyKey, respondAsync });
    keys.delete(body);
    return result;
  }
  // The page of the notification shows the delivery while it goes on, and can stop it.
  const send = useMutation({
    mutationFn: () => post(notification, true),
    onSuccess: ({ id }) => {
      change(emptySendForm);
      location.hash = href({ notificationId: id });
    },
  });
  const test = useMutation({
    mutationFn: async (userId: string | undefined) => {
      const to = userId ?? (await subscribedUserId(client));
      return (await post(testOf(notification, to), false)) as SendResult;
    },
  });
  const error = send.error ?? test.error;

  /** A test does not go to the audience of the form. */
  const issuesOf = (ofTest: boolean) =>
    ofTest ? issues.filter(({ path }) => !isIn(path, audienceGroups)) : issues;
  const shownIssues = attempt ? [...issuesOf(attempt.isTest), ...issuesIn(error)] : [];
  const hasOptionIssue = shownIssues.some(({ path }) => isIn(path, optionGroups));

  // The fields have their errors by then.
  useLayoutEffect(() => {
    if (hasOptionIssue) setOpen(true);
  }, [attempt, error]);
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>(':is([aria-invalid=true], [data-invalid])')?.focus();
  }, [attempt, error, isOpen && hasOptionIssue]);

  /** @returns whether the form has no issue. */
  function check(isTest: boolean): boolean {
    test.reset();
    send.reset();
    setAttempt({ isTest });
    return issuesOf(isTest).length === 0;
  }
  function attemptSend() {
    if (!check(false) || size.nobody !== undefined) return;
    ask({
      title: `Send to ${sizeText(size, true)}?`,
      text: (
        <>
          <NotificationPreview notification={shown} />
          <Text mt="sm">It goes out now. You can stop it, but what is delivered stays.</Text>
        </>
      ),
      confirm: `Send to ${sizeText(size)}`,
      onConfirm: () => send.mutate(),
    });
  }
  function attemptTest() {
    if (!check(true)) return;
    if (isLocal || testUserId !== undefined) test.mutate(testUserId);
    else askForUserId();
  }
  function askForUserId() {
    ask({
      title: 'Send a test to yourself',
      text: (
        <TextInput
          label="Your user id"
          description="As your site passes it to the SDK. It is asked for once."
          name="userId"
          data-autofocus
          required
          withAsterisk={false}
        />
      ),
      confirm: 'Send a test',
      onConfirm: (values) => {
        const userId = String(values.get('userId'));
        setTestUserId(userId);
        test.mutate(userId);
      },
    });
  }

  const bytes = messageBytes(shown, location.origin, projectId);
  const actions = {
    size,
    isSending: send.isPending,
    isTesting: test.isPending,
    onTest: attemptTest,
    messages: (
      <>
        <Text role="status" className="issues" c="var(--mantine-color-error)">
          {shownIssues.length > 0 && `${countOf(shownIssues.length, 'field')} to correct.`}
        </Text>
        <Problem error={issuesIn(error).some(({ path }) => fieldAt(path)) ? undefined : error} />
        <Text role="status" className="test-result" c="dimmed">
          {test.data !== undefined &&
            `Test: ${deliveryVerdict({ ...test.data, audience: { users: 1 } }).sentence} `}
          {test.data !== undefined && !isLocal && (
            <Anchor component="button" type="button" onClick={askForUserId}>
              Another user id
            </Anchor>
          )}
        </Text>
      </>
    ),
  };
  return (
    <View title="New notification">
      <Box
        component="form"
        ref={form}
        noValidate
        aria-label="Notification"
        display={{ lg: 'grid' }}
        pb={{ base: 96, lg: 0 }}
        style={{ gridTemplateColumns: 'minmax(0, 1fr) 364px', columnGap: 40, alignItems: 'start' }}
        onSubmit={submitting(attemptSend)}
      >
        <IssuesContext.Provider value={shownIssues}>
          <Section title="Message">
            <SendFields group="Message" />
          </Section>
          <Box
            component="aside"
            aria-label="Preview and send"
            pos={{ lg: 'sticky' }}
            top={32}
            mt={{ base: 'xl', lg: 0 }}
            mb="xl"
            style={{ gridArea: '1 / 2 / 9 / 2' }}
          >
            <PlatformPreview notification={shown} />
            {first !== undefined && (
              <Hint>
                With the values of <bdi>{first.userId}</bdi>.
              </Hint>
            )}
            {bytes > limits.messageBytesEverywhere && (
              <Hint id="message-bytes">
                About {countText(bytes)} of {countText(limits.messageBytes)} bytes. Above{' '}
                {countText(limits.messageBytesEverywhere)}, Firefox for Android may not receive it.
              </Hint>
            )}
            <Paper mt="md" p={18} visibleFrom="lg">
              <SendActions {...actions} />
            </Paper>
          </Box>
          <Section title="Audience">
            <AudienceFields />
          </Section>
          <Section>
            <Disclosure
              title="Options"
              hint={optionsText(draft)}
              isOpen={isOpen}
              onToggle={setOpen}
            >
              {optionGroups.map((group) => (
                <Box key={group} mt="lg">
                  <Fields legend={group}>
                    <SendFields group={group} />
                  </Fields>
                </Box>
              ))}
            </Disclosure>
          </Section>
          <Section>
            <Disclosure title="Code" hint="Send exactly this from your server">
              <CodeSample notification={notification} />
            </Disclosure>
          </Section>
        </IssuesContext.Provider>
        <Box
          hiddenFrom="lg"
          pos="fixed"
          bottom={0}
          right={0}
          left={{ base: 0, sm: '14.5rem' }}
          p="10px 16px"
          bg="var(--mantine-color-default)"
          className="send-bar ruled"
          style={{ zIndex: 5 }}
        >
          <SendActions {...actions} isBar />
        </Box>
      </Box>
      {dialog}
    </View>
  );
}

function Section({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Box component="section" py={title === 'Message' ? 0 : 28} miw={0} className="section">
      {title && (
        <Title order={2} mb={14}>
          {title}
        </Title>
      )}
      {children}
    </Box>
  );
}

/** The fields of a group. */
function SendFields({ group }: { readonly group: FieldGroup }) {
  return (
    <Stack>
      {namesIn(group).map((name) => (
        <SendField key={name} name={name} />
      ))}
    </Stack>
  );
}

interface SendActionsProps {
  readonly size: AudienceSize;
  readonly isSending: boolean;
  readonly isTesting: boolean;
  readonly onTest: () => void;
  /** What is wrong, and what became of a test. */
  readonly messages: ReactNode;
  /** Whether they are in one row, at the lower edge of a small screen. */
  readonly isBar?: boolean;
}

/** How many get the notification, and the buttons that send it. Without a recipient, the form is checked only. */
function SendActions({ size, isBar = false, messages, ...rest }: SendActionsProps) {
  const { data: project } = useProject();
  const { precision, number, noun, part = 0, nobody } = size;
  const isToUsers = noun.startsWith('user');
  const whole = !isToUsers && project && `of ${countOf(project.subscribers, 'subscriber')}`;
  const send = isBar ? 'Send…' : `Send to ${sizeText(size)}`;
  const figure = isBar ? 'lg' : 'figure';
  return (
    <>
      {isBar && messages}
      <Flex {...(isBar ? { wrap: 'wrap', align: 'center' } : { direction: 'column' })} gap={10}>
        <Box role="status" c="dimmed" flex={isBar ? '1 1 5rem' : undefined}>
          {precision}{' '}
          <Text component="b" fz={figure} lh={figure} fw={600} c="var(--mantine-color-text)">
            {number}
          </Text>{' '}
          {isToUsers && noun}
          {!isBar && !isToUsers && <Progress value={100 * part} my={8} aria-hidden />}
          <Hint>{nobody ?? whole}</Hint>
        </Box>
        <Button
          type="submit"
          size="md"
          style={{ order: 2 }}
          loading={rest.isSending}
          leftSection={isBar ? undefined : <Icon name="send" />}
          {...(nobody !== undefined && { 'aria-disabled': true, 'data-disabled': true })}
        >
          {nobody === undefined ? send : 'Nobody to send to'}
        </Button>
        <Button
          variant="default"
          size="md"
          loading={rest.isTesting}
          onClick={rest.onTest}
          style={{ order: isBar ? 1 : 3 }}
        >
          {isBar ? 'Test' : 'Send a test to me'}
        </Button>
      </Flex>
      {!isBar && messages}
    </>
  );
}

/** What is set among the options: `2 buttons, icon and 1 more`. */
function optionsText(form: SendForm): string {
  const set = optionGroups
    .flatMap(namesIn)
    .filter((name) => String(form[name]) !== String(emptySendForm[name]))
    .map((name) =>
      name === 'actions'
        ? countOf(form.actions.length, 'button')
        : fields[name].label.toLowerCase(),
    );
  const named = set.length > 3 ? [...set.slice(0, 2), `${set.length - 2} more`] : set;
  return new Intl.ListFormat('en').format(named);
}

function issuesIn(error: unknown): readonly Issue[] {
  return (error instanceof CarillonError && error.issues) || [];
}

/** The notification for one user only. Placeholders get the values of the first recipient. */
function testOf(notification: SendRequest, userId: string): SendRequest {
  const { recipients } = notification;
  const to = recipients ? { recipients: [{ ...recipients[0], userId }] } : { userIds: [userId] };
  return { ...contentOf(notification), ...to };
}
