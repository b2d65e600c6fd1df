import { Box, Button, CopyButton, Group, Paper, Progress, Text } from '@mantine/core';
import { useThrottledValue } from '@mantine/hooks';
import { countOf, countText } from '../../../contract/text/text.ts';
import type { FailureReason } from '../../../contract/wire/counts.ts';
import type { NotificationResult } from '../../../contract/wire/notification.ts';
import { isInProgress } from '../../../contract/wire/notification-status.ts';
import { contentOf } from '../../../contract/wire/send-fields.ts';
import {
  audienceSize,
  deliveryVerdict,
  type FailureAction,
  failureTexts,
  isLossNoticeable,
} from '../../../contract/wording/delivery-verdict.ts';
import { useProject } from '../calls/queries.ts';
import { Key } from '../charts.tsx';
import { estimated, rateText, shownRate, timeText } from '../format.ts';
import { messageBytes } from '../preview/shown-on.ts';
import { formOf } from '../send/send-form.ts';
import { mayDo, useSession } from '../session.ts';
import { Disclosure, Inside, LinkButton, Row } from '../view.tsx';

interface DeliveryProps {
  readonly notification: NotificationResult;
}

/** A screen reader hears of the progress no more often. */
const announcedEveryMs = 5000;

/** Why some were not attempted. */
const unreachedTexts: Readonly<Record<NotificationResult['status'], string>> = {
  sending: '',
  stopping: '',
  sent: ': the time ran out',
  stopped: ': it was stopped',
  interrupted: ': a function ended too early',
};

/** What became of a notification: a sentence, the steps from the audience to the click, and what is missing. */
export function Delivery({ notification }: DeliveryProps) {
  const subscribers = useProject().data?.subscribers;
  const { status, audience, failed, removed, unreached = 0, usersReached } = notification;
  const { word, sentence } = deliveryVerdict(notification, subscribers);
  const throttled = useThrottledValue(sentence, announcedEveryMs);
  const hasSteps = word !== 'No recipients';
  const gone = `had unsubscribed and ${removed === 1 ? 'was' : 'were'} removed`;
  return (
    <Paper component="section" aria-label="Delivery" style={{ containerType: 'inline-size' }}>
      <Inside>
        <Text role="status" id="verdict" fz="xl" lh="xl" fw={600}>
          {isInProgress(status) ? throttled : sentence}
        </Text>
        {hasSteps && <Funnel notification={notification} subscribers={subscribers} />}
        {hasSteps && (
          <Group gap="0.25rem 1rem" id="losses">
            {failed > 0 && <Key color="bad-fill">{countText(failed)} failed</Key>}
            {removed > 0 && <Key color="gone">{`${countText(removed)} ${gone}`}</Key>}
            {unreached > 0 && (
              <Key color="base">{`At least ${countText(unreached)} not attempted${unreachedTexts[status]}`}</Key>
            )}
          </Group>
        )}
        {hasSteps && usersReached !== undefined && audience !== 'everyone' && (
          <Text fz="hint" c="dimmed" data-count="users">
            {countText(usersReached)} of {countOf(audience.users ?? 0, 'user')} reached
          </Text>
        )}
      </Inside>
    </Paper>
  );
}

type Part = readonly [color: string, count: number];
type Step = readonly [name: string, count: number, rate: string, parts?: readonly Part[]];

/** The steps, each with its count and its part of the one that it is measured by, on one scale. */
function Funnel({
  notification,
  subscribers = 0,
}: DeliveryProps & { subscribers: number | undefined }) {
  const {
    status,
    audience,
    attempted,
    delivered,
    failed,
    removed,
    unreached = 0,
    shown,
    shownSample,
    clicked,
  } = notification;
  const size = audienceSize(notification);
  // Until all are attempted, only the subscribers tell how many there are.
  const isGoingOn = isInProgress(status);
  const about = isGoingOn && audience === 'everyone' ? Math.max(subscribers, size) : undefined;
  const whole = about ?? size;
  const most = Math.max(whole, delivered, shown, clicked, 1);
  const rate = (part: number, of: number, noun: string) =>
    rateText(part, of) && `${rateText(part, of)} of ${noun}`;
  const ofAudience: readonly Part[] = [
    ['accent', delivered],
    ['bad-fill', failed],
    ['gone', removed],
    ['base', unreached],
  ];
  const steps: readonly (Step | false)[] = [
    (!isGoingOn || about !== undefined) && ['Audience', whole, '', [['base', whole]]],
    unreached > 0 && ['Attempted', attempted, '', [['base', attempted]]],
    ['Delivered', delivered, isGoingOn ? '' : rate(delivered, size, 'audience'), ofAudience],
    ['Shown', shown, shownRate(notification) && `${shownRate(notification)} of delivered`],
    ['Clicked', clicked, rate(clicked, delivered, 'delivered')],
  ];
  return (
    <ul className="funnel" id="funnel">
      {steps
        .filter((step) => step !== false)
        .map(([name, count, rateOf, parts = [['accent-2', count]]]) => (
          <li key={name} data-step={name}>
            <span>{name}</span>
            <Text component="b" ta="end" data-count={name}>
              {about !== undefined && name === 'Audience' && 'about '}
              {name === 'Shown' ? estimated(shownSample, countText(count)) : countText(count)}
            </Text>
            <Text fz="hint" c="dimmed" ml="auto">
              {rateOf}
            </Text>
            <Progress.Root size={10} bg="none" style={{ gap: 2 }} aria-hidden>
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
export function Reasons({ notification }: DeliveryProps) {
  const { projectId } = useSession();
  const { failed, failures = {} } = notification;
  if (failed === 0) return null;
  const bytes = messageBytes(contentOf(notification), location.origin, projectId);
  const reasons = (Object.entries(failures) as [FailureReason, number][]).sort(
    ([, one], [, other]) => other - one,
  );
  return (
    <Paper mt="md" id="reasons">
      <Inside>
        <Disclosure
          title={`Why ${countText(failed)} failed`}
          isOpen={isLossNoticeable(notification)}
        >
          <ul>
            {reasons.map(([reason, count]) => (
              <Row key={reason} name={reason}>
                <Text
                  fz="lg"
                  fw={600}
                  c="var(--mantine-color-error)"
                  miw={40}
                  style={{ alignSelf: 'start' }}
                >
                  {countText(count)}
                </Text>
                <Group flex={1} gap="xs" justify="space-between">
                  <Box flex="1 1 14rem">
                    <Text fw={500}>{failureTexts[reason].heading}</Text>
                    <Text fz="hint" c="dimmed">
                      {reason === 'too_large' && `It has about ${countText(bytes)} bytes; `}
                      {failureTexts[reason].text}
                    </Text>
                  </Box>
                  <ReasonAction notification={notification} reason={reason} count={count} />
                </Group>
              </Row>
            ))}
          </ul>
        </Disclosure>
      </Inside>
    </Paper>
  );
}

const linkTexts: Readonly<Record<Exclude<FailureAction, 'copyNote'>, string>> = {
  sendAgain: 'Send again…',
  editCopy: 'Edit a copy',
  openSettings: 'Settings',
};

function ReasonAction({
  notification,
  reason,
  count,
}: DeliveryProps & { reason: FailureReason; count: number }) {
  const { projectId, access, href, setDraft } = useSession();
  const { heading, text, action } = failureTexts[reason];
  const { id, sentAt } = notification;
  if (action === undefined) return null;
  if (action === 'openSettings')
    return <LinkButton href={href('settings')}>{linkTexts[action]}</LinkButton>;
  if (action !== 'copyNote') {
    return mayDo(access).send ? (
      <LinkButton href={href('send')} onClick={() => setDraft(() => formOf(notification))}>
        {linkTexts[action]}
      </LinkButton>
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
}
