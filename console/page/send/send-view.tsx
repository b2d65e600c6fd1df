import { Alert, Button, Fieldset, Grid, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { countOf } from '../../../contract/count-text.ts';
import { deliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { Issue } from '../../../contract/errors.ts';
import { fieldGroups } from '../../../contract/field-kinds.ts';
import type { SendRequest, SendResult } from '../../../contract/schemas/notification.ts';
import { contentOf } from '../../../contract/send-fields.ts';
import { sliceSizes } from '../../../contract/slice-sizes.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { useProject } from '../calls/queries.ts';
import { subscribedUserId } from '../calls/this-browser.ts';
import { useConfirm } from '../components/confirm.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { AudienceFields } from './audience-fields.tsx';
import { audienceSizeText } from './audience-size.ts';
import { fieldAt, type GroupName, isIn, namesIn } from './fields.ts';
import { FormContext } from './form-context.ts';
import { SendAside } from './send-aside.tsx';
import { SendField } from './send-field.tsx';
import { emptySendForm, readSendForm, type SendForm } from './send-form.ts';

const audienceGroups: readonly GroupName[] = ['To', 'Only some of them'];
const optionGroups = fieldGroups.filter(
  (group) => group !== 'Message' && !audienceGroups.includes(group),
);

/** Writes and sends a notification: first what, then to whom. */
export function SendView() {
  const { client, projectId, isLocal, draft, setDraft } = useSession();
  const change = (changes: Partial<SendForm>) =>
    setDraft((current) => ({ ...current, ...changes }));
  const { data: project } = useProject();
  const { notification, issues } = readSendForm(draft);
  const [attempts, setAttempts] = useState(0);
  const [isTest, setTest] = useState(false);
  const [testUserId, setTestUserId] = useState('');
  const [refused, setRefused] = useState<readonly Issue[]>([]);
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
  const onError = (error: unknown) => setRefused(issuesIn(error));
  // The page of the notification shows the delivery while it goes on, and can stop it.
  const send = useMutation({
    mutationFn: () => post(notification, true),
    onSuccess: ({ id }) => {
      setDraft(() => emptySendForm);
      location.hash = fragmentOf({ view: 'notification', projectId, notificationId: id });
    },
    onError,
  });
  const test = useMutation({
    mutationFn: async () => {
      const userId = testUserId || (await subscribedUserId(client));
      return (await post(testOf(notification, userId), false)) as SendResult;
    },
    onError,
  });

  /** A test does not go to the audience of the form. */
  const issuesOf = (ofTest: boolean) =>
    ofTest
      ? issues.filter(({ path }) => !audienceGroups.some((group) => isIn(path, group)))
      : issues;
  const shownIssues = attempts > 0 ? [...issuesOf(isTest), ...refused] : [];
  const hasOptionIssue = shownIssues.some(({ path }) =>
    optionGroups.some((group) => isIn(path, group)),
  );

  // The fields have their errors by then.
  useLayoutEffect(() => {
    if (hasOptionIssue) setOpen(true);
  }, [attempts, refused]);
  useLayoutEffect(() => {
    form.current!.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempts, refused, isOpen && hasOptionIssue]);

  const audience = audienceSizeText(draft, project?.subscribers, project?.sample);
  function attempt(ofTest: boolean) {
    setRefused([]);
    test.reset();
    send.reset();
    setTest(ofTest);
    setAttempts(attempts + 1);
    if (issuesOf(ofTest).length > 0) return;
    if (ofTest) test.mutate();
    else {
      ask({
        title: `Send to ${audience}?`,
        text: `“${draft.title}” is sent at once. You can stop it while it is being sent, but delivered messages stay delivered.`,
        confirm: 'Send now',
        onConfirm: () => send.mutate(),
      });
    }
  }

  const error = send.error ?? test.error;
  const set = optionGroups
    .flatMap(namesIn)
    .filter((name) => String(draft[name]) !== String(emptySendForm[name])).length;
  return (
    <View title="Send">
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <form
            ref={form}
            noValidate
            aria-label="Notification"
            onSubmit={(event) => {
              event.preventDefault();
              attempt(false);
            }}
          >
            <FormContext.Provider value={{ form: draft, change, issues: shownIssues }}>
              <Stack>
                <Paper withBorder p="md">
                  <Stack gap="sm">
                    {namesIn('Message').map((name) => (
                      <SendField key={name} name={name} />
                    ))}
                  </Stack>
                </Paper>
                <Paper withBorder p="md">
                  <AudienceFields />
                </Paper>
                <Button
                  variant="default"
                  justify="start"
                  id="more"
                  aria-expanded={isOpen}
                  aria-controls="options"
                  onClick={() => setOpen(!isOpen)}
                >
                  More options{set > 0 && `: ${set} set`}
                </Button>
                <Stack id="options" hidden={!isOpen} display={isOpen ? undefined : 'none'}>
                  {optionGroups.map((group) => (
                    <Fieldset key={group} legend={group}>
                      <Stack gap="sm">
                        {namesIn(group).map((name) => (
                          <SendField key={name} name={name} />
                        ))}
                      </Stack>
                    </Fieldset>
                  ))}
                </Stack>
                <Paper withBorder p="md">
                  <Group align="end">
                    <TextInput
                      label="Test: your own user id"
                      description={
                        isLocal ? 'Empty: this browser.' : 'As your site passes it to the SDK.'
                      }
                      autoComplete="off"
                      spellCheck={false}
                      value={testUserId}
                      onChange={(event) => setTestUserId(event.currentTarget.value)}
                      flex="1 1 12rem"
                    />
                    <Button
                      variant="default"
                      id="send-test"
                      loading={test.isPending}
                      onClick={() => {
                        if (isLocal || testUserId !== '') attempt(true);
                      }}
                      aria-disabled={!isLocal && testUserId === ''}
                    >
                      Send a test
                    </Button>
                  </Group>
                  <div role="status" id="test-result">
                    {test.data !== undefined && (
                      <Alert variant="outline" title="The test was sent." mt="sm">
                        {deliveryVerdict({ ...test.data, audience: { users: 1 } }).text}
                      </Alert>
                    )}
                  </div>
                </Paper>
                <Text role="status" id="issues" c="var(--mantine-color-error)">
                  {shownIssues.length > 0 && `${countOf(shownIssues.length, 'field')} to correct.`}
                </Text>
                <Problem error={issuesIn(error).some(hasField) ? undefined : error} />
                <Group>
                  <Button type="submit" id="send" loading={send.isPending}>
                    Send to {audience}
                  </Button>
                </Group>
              </Stack>
            </FormContext.Provider>
          </form>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <SendAside
            notification={notification}
            respondAsync={
              draft.to === 'everyone' && (project?.subscribers ?? 0) > sliceSizes.recipients
            }
          />
        </Grid.Col>
      </Grid>
      {dialog}
    </View>
  );
}

function issuesIn(error: unknown): readonly Issue[] {
  return (error instanceof CarillonError && error.issues) || [];
}

/** Whether a field of the form shows the issue. */
const hasField = ({ path }: Issue) => fieldAt(path) !== undefined;

/** The notification for one user only. Placeholders get the values of the first recipient. */
function testOf(notification: SendRequest, userId: string): SendRequest {
  const [content, { recipients }] = [contentOf(notification), notification];
  if (recipients === undefined) return { ...content, userIds: [userId] };
  return { ...content, recipients: [{ userId, values: recipients[0]?.values }] };
}
