import { Box, Button, Code, CopyButton, Flex, Group, Paper, Progress, Text } from '@mantine/core';
import { useThrottledValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { countOf, countText } from '../../contract/text/text.ts';
import type { FailureReason } from '../../contract/wire/counts.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import { byCount } from '../../contract/wire/project-result.ts';
import { contentOf } from '../../contract/wire/send-fields.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
  failureTexts,
  isLossNoticeable,
  removedText,
} from '../../contract/wording/delivery-verdict.ts';
import { useNotification, useProject } from './calls.ts';
import { Legend } from './charts.tsx';
import { notMeasured, rateText, shownRate, timeText } from './format.ts';
import { Outcome } from './notifications-view.tsx';
import { messageBytes, NotificationPreview } from './preview.tsx';
import { contentTexts, formOf } from './send/send-form.ts';
import { useSession } from './session.ts';
import {
  Card,
  Copied,
  Disclosure,
  Fact,
  Hint,
  Inside,
  LinkButton,
  Pending,
  Problem,
  Row,
  Time,
  View,
} from './view.tsx';

/** One notification: who got it, who did not and why, and its content. */
export function NotificationView() {
  const id = useSession().place.notificationId!;
  const query = useNotification(id);
  const { data: notification } = query;
  if (notification === undefined) {
    return (
      <View title="Notification" isInList>
        <Pending of={[query]} heights={[280, 180]} />
      </View>
    );
  }
  const { title, sentAt, sentBy, audience, status } = notification;
  const isToUsers = audience !== 'everyone' && audience.users !== undefined;
  const meta = (
    <Group gap="0.25rem 0.625rem" c="dimmed">
      <Outcome notification={notification} />
      <span>
        <Time at={sentAt} />, to <bdi>{audienceText(notification)}</bdi>
        {sentBy !== undefined && ', by '}
        <bdi>{sentBy}</bdi>
      </span>
    </Group>
  );
  return (
    <View title={title} isInList meta={meta} actions={<Actions notification={notification} />}>
      <Problem error={query.error} />
      <Flex wrap="wrap" gap={{ base: 'md', lg: 'xl' }} align="start">
        <Box flex="3 1 min(100%, 28rem)" miw={0}>
          <Delivery notification={notification} />
          <Reasons notification={notification} />
        </Box>
        <Box flex="1 1 18rem" miw={0}>
          <Card title="Content">
            <NotificationPreview notification={contentOf(notification)} />
            <dl>
              {contentTexts(notification).map(([name, text]) => (
                <Fact key={name} name={name}>
                  {text}
                </Fact>
              ))}
              <Fact name="Sent">{timeText(sentAt, 'long')}</Fact>
              <Fact name="State in the API">
                <Code>{status}</Code>
              </Fact>
              <Fact name="Id">
                <Copied text={id} what="the id" />
              </Fact>
            </dl>
            {isToUsers && <Hint>The user ids and their values are not stored.</Hint>}
          </Card>
        </Box>
      </Flex>
    </View>
  );
}

/** Sends it again, or stops it while it is being sent. */
function Actions({ notification }: DeliveryProps) {
  const { client, may, ask } = useSession();
  const { id, title, status } = notification;
  const queries = useQueryClient();
  const copy = useCopy(notification);
  const stop = useMutation({
    mutationFn: () => client.stop(id),
    onSuccess: (stopped) => {
      queries.setQueryData(['notification', id], stopped);
      // The pressed button is gone.
      document.querySelector('h1')!.focus();
    },
  });
  const askToStop = () =>
    ask({
      title: `Stop “${title}”?`,
      text: 'The last pushes start within 5 seconds, and what is delivered stays.',
      confirm: 'Stop',
      isDangerous: true,
      onConfirm: () => stop.mutate(),
    });
  return (
    <>
      <Problem error={stop.error} />
      {may('send') && status === 'sending' && (
        <Button color="danger" loading={stop.isPending} onClick={askToStop}>
          Stop
        </Button>
      )}
      {may('send') && !isInProgress(status) && (
        <Button variant="default" onClick={copy}>
          Send again
        </Button>
      )}
    </>
  );
}

type Owned = Pick<NotificationResult, 'title' | 'delivered' | 'usersReached' | 'failures'>;

/** Who has, or may have, a notification already: a push without an outcome, or a response, may have been accepted. */
export function ownersText(notification: Owned): string | undefined {
  const { title, delivered, usersReached = delivered, failures = {} } = notification;
  const unknown = (failures.interrupted ?? 0) + (failures.no_response ?? 0);
  const count = countText(unknown);
  if (delivered === 0) return unknown > 0 ? `${count} may have “${title}” already` : undefined;
  const have = usersReached === 1 ? 'One has' : `${countText(usersReached)} have`;
  return `${have} “${title}” already${unknown > 0 ? `, and ${count} more may have it` : ''}`;
}

/** Opens the form with a copy, which says who has it already. */
function useCopy(notification: NotificationResult) {
  const { writing, href, guardDraft } = useSession();
  const earlier = ownersText(notification);
  const open = () => {
    const form = formOf(notification);
    writing.replace(form, { ...(earlier && { earlier }), copyOf: form });
    location.hash = href('send');
  };
  return () => guardDraft('Replace your draft?', 'Replace it', open);
}

interface DeliveryProps {
  readonly notification: NotificationResult;
}

/** A screen reader hears of the progress no more often. */
const announcedEveryMs = 5000;

/** Why some were not attempted. */
const unreachedTexts: Readonly<Partial<Record<NotificationResult['status'], string>>> = {
  sent: ': the time ran out',
  stopped: ': it was stopped',
  interrupted: ': a function ended too early',
};

/** What became of a notification: a sentence, the steps from the audience to the click, and what is missing. */
export function Delivery({ notification }: DeliveryProps) {
  const subscribers = useProject().data?.subscribers;
  const { status, audience, failed, removed, unreached = 0 } = notification;
  const { usersReached, shownSample } = notification;
  const { word, sentence } = deliveryVerdict(notification, subscribers);
  const throttled = useThrottledValue(sentence, announcedEveryMs);
  return (
    <Paper component="section" aria-label="Delivery" style={{ containerType: 'inline-size' }}>
      <Inside>
        <Text role="status" id="verdict" fz="xl" lh="xl" fw={600}>
          {isInProgress(status) ? throttled : sentence}
        </Text>
        {word !== 'No recipients' && (
          <>
            <Funnel notification={notification} />
            <Group gap="0.25rem 1rem" id="losses">
              {failed > 0 && <Legend color="bad-fill">{countText(failed)} failed</Legend>}
              {removed > 0 && <Legend color="gone">Gone: {removedText(notification)}</Legend>}
              {unreached > 0 && (
                <Legend color="base">{`At least ${countText(unreached)} not attempted${unreachedTexts[status] ?? ''}`}</Legend>
              )}
            </Group>
            {shownSample !== undefined && notification.shown !== null && (
              <Hint>Shown is an estimate: one browser in {shownSample} reports it.</Hint>
            )}
            {usersReached !== undefined && audience !== 'everyone' && (
              <Hint c="dimmed" data-count="users">
                {countText(usersReached)} of {countOf(audience.users ?? 0, 'user')} reached
              </Hint>
            )}
          </>
        )}
      </Inside>
    </Paper>
  );
}

type Part = readonly [color: string, count: number];
/** Without a count: it was not measured. */
type Step = readonly [name: string, count: number | null, rate: string, parts?: readonly Part[]];

/** The steps, each with its count and its part of the one that it is measured by, on one scale. */
function Funnel({ notification }: DeliveryProps) {
  const { subscribers = 0 } = useProject().data ?? {};
  const { status, audience, attempted, delivered, unreached = 0, shown, clicked } = notification;
  const size = audienceSize(notification);
  // Until all are attempted, only the subscribers tell how many there are.
  const isGoingOn = isInProgress(status);
  const about = isGoingOn && audience === 'everyone' ? Math.max(subscribers, size) : undefined;
  const whole = about ?? size;
  const most = Math.max(whole, delivered, shown ?? 0, clicked ?? 0, 1);
  const rate = (text: string, noun: string) => (isGoingOn || !text ? '' : `${text} of ${noun}`);
  const estimates = [about !== undefined && 'Audience', notification.shownSample && 'Shown'];
  const ofAudience: readonly Part[] = [
    ['accent', delivered],
    ['bad-fill', notification.failed],
    ['gone', notification.removed],
    ['base', unreached],
  ];
  const steps: readonly (Step | false)[] = [
    (!isGoingOn || about !== undefined) && ['Audience', whole, '', [['base', whole]]],
    unreached > 0 && ['Attempted', attempted, '', [['base', attempted]]],
    ['Delivered', delivered, rate(rateText(delivered, size), 'audience'), ofAudience],
    ['Shown', shown, rate(shownRate(notification), 'delivered')],
    ['Clicked', clicked, rate(rateText(clicked, delivered), 'delivered')],
  ];
  return (
    <ul className="funnel" id="funnel">
      {steps
        .filter((step) => step !== false)
        .map(([name, count, rateOf, parts = [['accent-2', count ?? 0]]]) => (
          <li key={name} data-step={name}>
            <span>{name}</span>
            <Text component="b" ta="end" data-count={name}>
              {count !== null && estimates.includes(name) && 'about '}
              {count === null ? notMeasured : countText(count)}
            </Text>
            <Hint c="dimmed" ml="auto">
              {rateOf}
            </Hint>
            <Progress.Root
              size={10}
              bg="none"
              style={{ gridArea: '1 / 2', flex: '1 0 100%', gap: 2 }}
              aria-hidden
            >
              {parts
                .filter(([, part]) => part > 0)
                .map(([color, part]) => (
                  <Progress.Section
                    key={color}
                    value={(100 * part) / most}
                    color={`var(--${color})`}
                    withAria={false}
                  />
                ))}
            </Progress.Root>
          </li>
        ))}
    </ul>
  );
}

/** Why pushes failed: each reason once, with what to do. Closed while it matters little. */
function Reasons({ notification }: DeliveryProps) {
  const { projectId, may, href } = useSession();
  const copy = useCopy(notification);
  const { id, sentAt, failed, failures = {} } = notification;
  if (failed === 0) return null;
  const bytes = messageBytes(contentOf(notification), projectId);
  const reasons = byCount(failures) as readonly (readonly [FailureReason, number])[];
  /** The button to what can be done about it. */
  const actionFor = (reason: FailureReason, count: number) => {
    const { heading, text, action } = failureTexts[reason];
    if (action === 'openSettings') return <LinkButton href={href('settings')}>Settings</LinkButton>;
    if (action !== 'copyNote') {
      return action && may('send') ? (
        <Button variant="default" onClick={copy}>
          {action === 'editCopy' ? 'Edit a copy' : 'Send again…'}
        </Button>
      ) : null;
    }
    // What the operator needs to find the cause.
    const note = `${countText(count)} failed with ${reason}: ${heading}. ${text}
Project ${projectId}, notification ${id}, sent ${timeText(sentAt)} (${sentAt}) by ${location.origin}`;
    return (
      <CopyButton value={note}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            <span aria-live="polite">{copied ? 'Copied' : 'Copy a note'}</span>
          </Button>
        )}
      </CopyButton>
    );
  };
  return (
    <Paper mt="md" id="reasons">
      <Inside>
        <Disclosure
          title={`Why ${countText(failed)} failed`}
          isOpen={isLossNoticeable(notification)}
        >
          <ul>
            {reasons.map(([reason, count]) => (
              <Row key={reason}>
                <Text fz="lg" fw={600} c="var(--mantine-color-error)" miw={40} mb="auto">
                  {countText(count)}
                </Text>
                <Group flex={1} gap="xs" justify="space-between">
                  <Box flex="1 1 14rem">
                    <Text fw={500}>{failureTexts[reason].heading}</Text>
                    <Hint c="dimmed">
                      {reason === 'too_large' && `It has about ${countText(bytes)} bytes; `}
                      {failureTexts[reason].text}
                    </Hint>
                  </Box>
                  {actionFor(reason, count)}
                </Group>
              </Row>
            ))}
          </ul>
        </Disclosure>
      </Inside>
    </Paper>
  );
}
