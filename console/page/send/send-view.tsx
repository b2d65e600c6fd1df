import {
  Alert,
  Anchor,
  Box,
  Button,
  Flex,
  Group,
  Paper,
  Progress,
  Stack,
  Text,
  TextInput,
  Title,
  useMatches,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { sliceSizes } from '../../../contract/infrastructure/delivery.ts';
import { countOf, countText } from '../../../contract/text/text.ts';
import type { Issue } from '../../../contract/wire/errors.ts';
import { canonicalTag } from '../../../contract/wire/formats.ts';
import { languagesOf } from '../../../contract/wire/languages.ts';
import { limits } from '../../../contract/wire/limits.ts';
import type { NotificationList, SendRequest } from '../../../contract/wire/notification.ts';
import { rendered, type Values } from '../../../contract/wire/placeholders.ts';
import type { ProjectResult } from '../../../contract/wire/project-result.ts';
import { contentOf, type FieldGroup, fieldGroups } from '../../../contract/wire/send-fields.ts';
import { deliveryVerdict } from '../../../contract/wording/delivery-verdict.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { failureText, useNotifications, useProject } from '../calls.ts';
import { codeSample, type SampleLanguage, sampleLanguages } from '../code-samples.ts';
import { timeText } from '../format.ts';
import { Icon } from '../icons.tsx';
import { subscribedUserId } from '../local-view.tsx';
import { messageBytes, NotificationPreview, PlatformPreview } from '../preview.tsx';
import { type Question, useSession } from '../session.ts';
import { Choice, Copied, Disclosure, Hint, Problem, Step, submitting, View } from '../view.tsx';
import { AudienceFields, type AudienceSize, audienceSize, sizeText } from './audience-fields.tsx';
import { type Draft, earlierText, mayHave, saysNothingSent } from './draft.ts';
import type { Recipient } from './recipients.ts';
import { Fields, IssuesContext, issueAt, SendField } from './send-field.tsx';
import {
  emptySendForm,
  fieldAt,
  fields,
  isIn,
  languageName,
  namesIn,
  readSendForm,
  type SendForm,
  usersField,
  whomText,
} from './send-form.ts';

const audienceGroups: readonly FieldGroup[] = ['To', 'Only some of them'];
const messageGroups: readonly FieldGroup[] = ['Message', 'Languages'];
const optionGroups = fieldGroups.filter(
  (group) => ![...messageGroups, ...audienceGroups].includes(group),
);

/** Writes and sends a notification: first what, then to whom. */
export function SendView() {
  const { projectId, writing, ask, guardDraft } = useSession();
  const { draft, error, isUntouched, replace } = writing;
  const { form } = draft;
  const isLocked = draft.attemptedAt !== undefined;
  const [counted, listed] = [useProject(), useNotifications()];
  const project = counted.data;
  const { notification, issues } = readSendForm(form);
  const [index, setIndex] = useState(0);
  const [language, setLanguage] = useState(0);
  const recipients = notification.recipients ?? [];
  // A table may have become shorter.
  const recipient = recipients[index] ?? recipients.at(-1);
  const shown = recipient
    ? rendered(notification, (recipient.values ?? {}) as Values)
    : notification;
  const sizeOf = ({ project }: Known) => audienceSize(form, project);
  const reachOf = (known: Known) => (sizeOf(known).part ?? 0) * (known.project?.subscribers ?? 0);
  const known = { project, list: listed.data };
  const size = sizeOf(known);
  // What is wrong with the users is said at once: the preview and the button would show what is never sent.
  const wrong = form.to === 'users' ? issueAt(issues, usersField(form)) : undefined;
  /** The last one to send, or to send a test. */
  const [attempt, setAttempt] = useState<{ readonly isTest: boolean }>();
  const element = useRef<HTMLFormElement>(null);
  const isWide = useMatches({ base: false, lg: true }, { getInitialValueInEffect: false });
  const test = useTest(testOf(notification, recipient));

  /** A test does not go to the audience of the form. */
  const isShown = ({ path }: Issue, isTest: boolean) =>
    fieldAt(path) !== undefined && !(isTest && isIn(path, audienceGroups));
  const refused = [...issuesIn(error), ...issuesIn(test.error)];
  const found = attempt === undefined ? [] : [...issues, ...refused];
  const shownIssues = found.filter((issue) => isShown(issue, attempt!.isTest));
  const otherIssues = refused.filter((issue) => !isShown(issue, attempt?.isTest === true));
  /** What is not at a field. */
  const failure = [error, test.error].find((one) => one && issuesIn(one).length === 0);

  // The fields have their errors by then. One of the options opens them.
  useLayoutEffect(() => {
    const invalid = element.current!.querySelectorAll<HTMLElement>(
      ':is([aria-invalid=true], [data-invalid])',
    );
    for (const one of invalid) one.closest('details')?.setAttribute('open', '');
    invalid[0]?.focus();
  }, [attempt, error, test.error]);

  /** @returns whether the form has no issue. */
  function check(isTest: boolean): boolean {
    test.reset();
    writing.reset();
    setAttempt({ isTest });
    return !issues.some((issue) => isShown(issue, isTest));
  }
  /**
   * It is counted again before anything goes out: a question may be open for long.
   * @param doubt another draft whose outcome nobody knows.
   */
  function questionOf(known: Known, doubt?: Draft, news?: string): Question {
    const size = sizeOf(known);
    const earlier = earlierText(draft, known.list);
    const again = earlier === undefined ? '' : 'again ';
    const repeated = earlier && `${earlier}. Who has it may get it again`;
    const notes = [news, size.note, doubt && mayHave(doubt), repeated];
    return {
      title: `Send ${again}to ${sizeText(size, true)}?`,
      text: (
        <Stack gap="xs">
          <NotificationPreview notification={shown} isNow />
          <Text>
            To <bdi>{whomText(notification)}</bdi>. Project: <bdi>{project?.name ?? projectId}</bdi>
            .
          </Text>
          {notes.map((note) => note && <Text key={note} fw={600}>{`${note}.`}</Text>)}
          <Text>It goes out now. You can stop it, but what is delivered stays.</Text>
        </Stack>
      ),
      confirm: `Send ${again}to ${sizeText(size)}`,
      next: async () => {
        const [project, list] = await Promise.all([counted.refetch(), listed.refetch()]);
        const now = { project: project.data, list: list.data };
        const error = project.error ?? list.error;
        const failed = error && `${failureText(error).what} This was not counted again`;
        const former = `It was ${sizeText(size, true)} when you were asked`;
        if (failed) return { ...questionOf(known, doubt, failed), next: undefined };
        if (reachOf(now) > 1.1 * reachOf(known)) return questionOf(now, doubt, former);
        return earlierText(draft, now.list) === earlier ? undefined : questionOf(now, doubt);
      },
      onConfirm: writing.send,
    };
  }
  async function attemptSend() {
    if (isLocked || !check(false) || size.nobody !== undefined) return;
    ask(questionOf(known, await writing.otherDoubt()));
  }

  const languages = inLanguages(shown);
  const { tag, content: inLanguage } = (languages[language] ?? languages.at(-1))!;
  const bytes = Math.max(...languages.map(({ content }) => messageBytes(content, projectId)));
  const preview = (
    <Box mih="8rem" style={{ overflowY: 'auto' }}>
      <PlatformPreview notification={inLanguage} />
      {languages.length > 1 && (
        <Step at={language} of={languages.length} what="language" onStep={setLanguage}>
          {tag === undefined ? 'All other languages' : languageName(tag)}
        </Step>
      )}
      {recipient !== undefined && (
        <Step at={index} of={recipients.length} what="recipient" onStep={setIndex}>
          <bdi>{recipient.userId}</bdi>
        </Step>
      )}
      {bytes > limits.messageBytesEverywhere && (
        <Hint id="message-bytes">
          About {countText(bytes)} of {countText(limits.messageBytes)} bytes. Above{' '}
          {countText(limits.messageBytesEverywhere)}, Firefox for Android may not receive it.
        </Hint>
      )}
    </Box>
  );
  const actions = (
    <SendActions
      size={{ ...size, nobody: size.nobody ?? wrong }}
      isBar={!isWide}
      isTesting={test.isPending}
      onTest={() => check(true) && test.attempt()}
    >
      <Text role="status" className="issues" c="var(--mantine-color-error)">
        {shownIssues.length > 0 && `${countOf(shownIssues.length, 'field')} to correct. `}
        {otherIssues.map(({ path, message }) => `${fieldAt(path)?.label ?? path} ${message}. `)}
      </Text>
      <Problem error={failure} />
      <Text role="status" className="test-result" c="dimmed">
        {failure && failure === error && 'Nothing was sent. '}
        {failure &&
          failure === test.error &&
          !saysNothingSent(failure, false) &&
          'The test may have gone out. '}
        {test.data !== undefined &&
          `Test to ${test.variables ?? 'this browser'}: ${deliveryVerdict({ ...test.data, audience: { users: 1 } }).sentence} `}
      </Text>
    </SendActions>
  );
  const discard = (
    <Button
      variant="subtle"
      color="gray"
      onClick={() => guardDraft('Discard your draft?', 'Discard it', () => replace(emptySendForm))}
    >
      Discard
    </Button>
  );
  return (
    <View title="New notification" actions={!isUntouched && discard}>
      {isLocked && <Doubt />}
      <Box
        component="form"
        ref={element}
        noValidate
        aria-label="Notification"
        display={{ lg: 'grid' }}
        style={{ gridTemplateColumns: 'minmax(0, 1fr) 364px', columnGap: 40, alignItems: 'start' }}
        onSubmit={submitting(attemptSend)}
      >
        <IssuesContext.Provider value={shownIssues}>
          <div>
            <Section title="Message" isLocked={isLocked}>
              <Stack>{messageGroups.flatMap(fieldsIn)}</Stack>
            </Section>
            {!isWide && <Section>{preview}</Section>}
            <Section title="Audience" isLocked={isLocked}>
              <AudienceFields />
            </Section>
            <Section isLocked={isLocked}>
              <Disclosure title="Options" hint={optionsText(form)}>
                <Stack mt="lg" gap="lg">
                  {optionGroups.map((group) => (
                    <Fields key={group} legend={group}>
                      {fieldsIn(group)}
                    </Fields>
                  ))}
                </Stack>
              </Disclosure>
            </Section>
            <Section>
              <Disclosure title="Code" hint="Send exactly this from your server">
                <CodeSample notification={notification} />
              </Disclosure>
            </Section>
          </div>
        </IssuesContext.Provider>
        {isWide && (
          <Flex
            component="aside"
            aria-label="Preview and send"
            className="aside"
            direction="column"
            gap="md"
            top={32}
            // A preview that is too high scrolls: its buttons stay in sight.
            mah="calc(100vh - 7rem)"
          >
            {preview}
            {!isLocked && (
              <Paper p={18} flex="none">
                {actions}
              </Paper>
            )}
          </Flex>
        )}
        {!isWide && !isLocked && (
          <div className="send-bar ruled" style={bar}>
            {actions}
          </div>
        )}
      </Box>
    </View>
  );
}

/** What a question says is from these. */
interface Known {
  readonly project: ProjectResult | undefined;
  readonly list: NotificationList | undefined;
}

/** A draft whose outcome nobody knows: it is found out, or edited by who knows that some may get it twice. */
function Doubt() {
  const { writing, href, ask } = useSession();
  const { draft, error, isSending, send, replace } = writing;
  const element = useRef<HTMLDivElement>(null);
  // The pressed button is gone.
  useEffect(() => {
    if (document.activeElement === document.body) element.current!.focus();
  }, []);
  const have = mayHave(draft);
  const { form, attemptedAt = 0 } = draft;
  // Until then, a repetition under the same key finds out what became of it. With an hour for clocks.
  const isRecent = Date.now() < attemptedAt + (limits.idempotencyHours - 1) * 60 * 60_000;
  const edit = () =>
    ask({
      title: 'Edit it, to send it again?',
      text: `${have}, and gets it again if you send it.`,
      confirm: 'Edit, to send again',
      onConfirm: () => replace(form, { earlier: have }),
    });
  return (
    <Alert
      ref={element}
      tabIndex={-1}
      id="doubt"
      mb="xl"
      color="warning"
      title={isSending ? 'Sending…' : 'It may have gone out'}
    >
      <Text inherit>
        {have}. {error && `${failureText(error).what} `}
        {isRecent
          ? '“Find out” repeats the same request: what has gone out does not go out twice, and what has not goes out now.'
          : `It was sent on ${timeText(new Date(attemptedAt).toISOString(), 'long')}, and Carillon remembers a request for a day. Look under Notifications.`}
      </Text>
      <Group mt="sm">
        {isRecent && (
          <Button loading={isSending} onClick={send}>
            Find out
          </Button>
        )}
        <Button variant="default" disabled={isSending} onClick={edit}>
          Edit…
        </Button>
        <Anchor href={href('notifications')}>Look under Notifications</Anchor>
      </Group>
    </Alert>
  );
}

/** A test to the person who writes: of the local stack to this browser, otherwise to a user id, which is asked for. */
function useTest(testTo: (userId: string) => SendRequest) {
  const { client, isLocal, testUserId, setTestUserId, ask } = useSession();
  /** A key belongs to one exact body. It is kept until the outcome is known. */
  const last = useRef<{ readonly body: string; readonly key: string }>(undefined);
  const test = useMutation({
    mutationFn: async (userId: string | undefined) => {
      const request = testTo(userId ?? (await subscribedUserId(client)));
      const body = JSON.stringify(request);
      if (last.current?.body !== body) last.current = { body, key: crypto.randomUUID() };
      const result = await client.send(request, { idempotencyKey: last.current.key });
      last.current = undefined;
      if (userId !== undefined) setTestUserId(userId);
      return result;
    },
  });
  const question: Question = {
    title: 'Send a test to yourself',
    text: (
      <TextInput
        label="Your user id"
        description="As your site passes it to the SDK."
        name="userId"
        data-autofocus
        required
        withAsterisk={false}
        maxLength={limits.userIdLength}
        defaultValue={testUserId}
      />
    ),
    confirm: 'Send a test',
    // Whose it is, is asked once for each: what was typed may be somebody else's.
    next: async (values) => {
      const userId = String(values.get('userId'));
      if (userId === testUserId) return undefined;
      const text = await client.user(userId).then(
        ({ subscriptions }) => `It goes to ${countOf(subscriptions, 'browser')} with this user id.`,
        (error) => failureText(error).what,
      );
      return {
        title: `Send a test to “${userId}”?`,
        text: `${text} Is it you?`,
        confirm: `Send a test to ${userId}`,
        onConfirm: () => test.mutate(userId),
      };
    },
    onConfirm: () => test.mutate(testUserId),
  };
  return { ...test, attempt: () => (isLocal ? test.mutate(undefined) : ask(question)) };
}

/** To the edges of the page. */
const bar = {
  ...{ bottom: 0, zIndex: 5, margin: '0 -16px -48px', padding: '10px 16px' },
  background: 'var(--mantine-color-default)',
};

/** A part of the form. @param isLocked whether its fields cannot be changed. */
function Section(props: { title?: string; isLocked?: boolean; children: ReactNode }) {
  const { title, isLocked, children } = props;
  const padding = title === 'Message' ? '0 0 28px' : '28px 0';
  return (
    <fieldset disabled={isLocked} className="section" style={{ padding }}>
      {title && (
        <Title order={2} mb={14}>
          {title}
        </Title>
      )}
      {children}
    </fieldset>
  );
}

const fieldsIn = (group: FieldGroup) =>
  namesIn(group).map((name) => <SendField key={name} name={name} />);

interface SendActionsProps {
  readonly size: AudienceSize;
  readonly isTesting: boolean;
  readonly onTest: () => void;
  /** What is wrong, and what became of a test. */
  readonly children: ReactNode;
  /** Whether they are in one row, at the lower edge of a small screen. */
  readonly isBar: boolean;
}

/** How many get the notification, and the buttons that send it. Without a recipient, the form is checked only. */
function SendActions({ size, isBar, children, ...rest }: SendActionsProps) {
  const { draft, isSending } = useSession().writing;
  const earlier = earlierText(draft, useNotifications().data);
  const { data: project } = useProject();
  const { precision, number, noun, part = 0, note, nobody } = size;
  const isToUsers = noun.startsWith('user');
  const whole = !isToUsers && project && `of ${countOf(project.subscribers, 'subscriber')}`;
  const send = isBar ? 'Send…' : `Send to ${sizeText(size)}`;
  const figure = isBar ? 'lg' : 'figure';
  const test = (
    <Button variant="default" size="md" loading={rest.isTesting} onClick={rest.onTest}>
      {isBar ? 'Test' : 'Send a test to me'}
    </Button>
  );
  return (
    <>
      {isBar && children}
      <Flex {...(isBar ? { wrap: 'wrap', align: 'center' } : { direction: 'column' })} gap={10}>
        <Box role="status" c="dimmed" flex={isBar ? '1 1 5rem' : undefined}>
          {precision}{' '}
          <Text component="b" fz={figure} lh={figure} fw={600} c="var(--mantine-color-text)">
            {number}
          </Text>{' '}
          {isToUsers && noun}
          {!isBar && !isToUsers && <Progress value={100 * part} my={8} aria-hidden />}
          <Hint>{nobody ?? note ?? whole}</Hint>
          {earlier && <Hint>{earlier}.</Hint>}
        </Box>
        {isBar && test}
        <Button
          type="submit"
          size="md"
          loading={isSending}
          leftSection={isBar ? undefined : <Icon name="send" />}
          {...(nobody !== undefined && { 'aria-disabled': true, 'data-disabled': true })}
        >
          {nobody === undefined ? send : 'Nobody to send to'}
        </Button>
        {!isBar && test}
      </Flex>
      {!isBar && children}
    </>
  );
}

/** The code that sends a notification. */
function CodeSample({ notification }: { notification: SendRequest }) {
  const { projectId } = useSession();
  const { subscribers = 0 } = useProject().data ?? {};
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const isToUsers = 'userIds' in notification || 'recipients' in notification;
  const respondAsync = !isToUsers && subscribers > sliceSizes.recipients;
  const send = { baseUrl: location.origin, projectId, notification, respondAsync };
  return (
    <Stack gap="xs" mt="sm">
      <Group>
        <Choice
          label="Language"
          choices={sampleLanguages}
          value={language}
          onChange={setLanguage}
        />
      </Group>
      <Copied text={codeSample(language, send)} what="the code" isCode />
      <Hint>The secret key is read from the variable CARILLON_SECRET_KEY.</Hint>
    </Stack>
  );
}

/** What is set among the options: `2 buttons, icon and 1 more`. */
function optionsText(form: SendForm): string {
  const buttons = countOf(form.actions.length, 'button');
  const set = optionGroups
    .flatMap(namesIn)
    .filter((name) => String(form[name]) !== String(emptySendForm[name]))
    .map((name) => (name === 'actions' ? buttons : fields[name].label.toLowerCase()));
  const named = set.length > 3 ? [...set.slice(0, 2), `${set.length - 2} more`] : set;
  return new Intl.ListFormat('en').format(named);
}

function issuesIn(error: unknown): readonly Issue[] {
  return (error instanceof CarillonError && error.issues) || [];
}

/** The notification in each of its languages, as far as these are written. */
function inLanguages({ translations = {}, ...notification }: SendRequest) {
  const known = Object.entries(translations).filter(([tag]) => canonicalTag(tag) !== undefined);
  return languagesOf<SendRequest>({ ...notification, translations: Object.fromEntries(known) }).all;
}

/** The notification for one user only. Placeholders get the values of the recipient in the preview. */
function testOf(notification: SendRequest, recipient: Recipient | undefined) {
  return (userId: string): SendRequest => ({
    ...contentOf(notification),
    test: true,
    ...(recipient ? { recipients: [{ ...recipient, userId }] } : { userIds: [userId] }),
  });
}
