import { Alert, Anchor, Box, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countOf, countText } from '../../contract/text/text.ts';
import type { NotificationList } from '../../contract/wire/notification.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import { useNotifications, useProject } from './calls.ts';
import { Broadcasts } from './charts.tsx';
import { notMeasured, rateText, shownRate } from './format.ts';
import { NewNotification } from './frame.tsx';
import { Icon } from './icons.tsx';
import { Delivery } from './notification-view.tsx';
import { NotificationTable } from './notifications-view.tsx';
import { useSession } from './session.ts';
import {
  growthOf,
  lastBroadcasts,
  monthOf,
  type Notice,
  noticeOf,
  withoutTests,
} from './summary.ts';
import { Card, Copied, Fact, Hint, Pending, Round, Row, Time, View } from './view.tsx';

/** Whether the last notifications arrived, and what somebody must do. */
export function OverviewView() {
  const project = useProject();
  const list = useNotifications();
  const hasResults = list.data && withoutTests(list.data).notifications.length > 0;
  const actions = (
    <Group gap="sm">
      {hasResults && <Hint>Figures: {monthOf(list.data!, Date.now()).period}</Hint>}
      <NewNotification hiddenFrom="sm" />
    </Group>
  );
  return (
    <View title="Overview" actions={actions}>
      <Stack>
        <Pending of={[project, list]} heights={[106, 254, 360]} />
        {project.data && list.data && <Results project={project.data} list={list.data} />}
      </Stack>
    </View>
  );
}

interface ResultsProps {
  readonly project: ProjectResult;
  readonly list: NotificationList;
}

/** Fewer broadcasts say more as figures and rows. */
const fewestColumns = 7;
const mostColumns = 14;

/** The results of broadcasts. Before the first notification: the checklist. */
function Results({ project, list }: ResultsProps) {
  const { href } = useSession();
  const sent = withoutTests(list).notifications;
  const [first, second] = sent;
  if (first === undefined) return <Checklist project={project} list={list} />;
  const notice = noticeOf(project, list, Date.now());
  const broadcasts = lastBroadcasts(list, mostColumns);
  return (
    <>
      {notice !== undefined && <NoticeAlert {...notice} />}
      {second === undefined && <Checklist project={project} list={list} />}
      <Figures project={project} list={list} />
      {broadcasts.length >= fewestColumns && <Broadcasts broadcasts={broadcasts} />}
      {second === undefined ? (
        <div>
          <Text mb="xs">
            <Anchor href={href('notification', first.id)} inherit>
              <bdi>{first.title}</bdi>
            </Anchor>
            , <Time at={first.sentAt} />
          </Text>
          <Delivery notification={first} />
        </div>
      ) : (
        <Card
          isFlush
          title="Latest notifications"
          aside={<Anchor href={href('notifications')}>View all</Anchor>}
        >
          <NotificationTable notifications={sent.slice(0, 5)} />
        </Card>
      )}
    </>
  );
}

function NoticeAlert({ title, text, tone, notificationId }: Notice) {
  const { href } = useSession();
  const isLimit = notificationId === undefined;
  const where = isLimit ? href('settings') : href('notification', notificationId);
  return (
    <Alert role="status" id="notice" color={tone}>
      <Group justify="space-between" gap="0.25rem 1rem">
        <Text inherit flex="1 1 14rem" lineClamp={3} c="var(--alert-color)">
          <strong>{title}</strong> {text}
        </Text>
        <Anchor href={where} inherit fw={600} c="var(--alert-color)">
          {isLimit ? 'See the limits' : 'See why'}
        </Anchor>
      </Group>
    </Alert>
  );
}

function Figures({ project: { subscribers }, list }: ResultsProps) {
  const month = monthOf(list, Date.now());
  const { pushes, delivered, removed, measured, shown, shownSample, clicked } = month;
  const ofMeasured =
    measured === delivered ? 'of delivered' : `of ${countText(measured)} delivered with events`;
  const ratio = (text: string) => (measured === 0 && delivered > 0 ? notMeasured : text);
  const changes = (
    <>
      <Growth />
      {removed > 0 && <div>{countText(removed)} were gone and removed</div>}
    </>
  );
  const figures: readonly (readonly [name: string, value: string, meaning: ReactNode])[] = [
    ['Subscribers', countText(subscribers), changes],
    ['Delivered', rateText(delivered, pushes), `of ${countText(pushes)} pushes`],
    ['Shown', ratio(shownRate({ delivered: measured, shown, shownSample })), ofMeasured],
    ['Clicked', ratio(rateText(clicked, measured)), ofMeasured],
  ];
  return (
    <Paper style={{ overflow: 'hidden' }}>
      <SimpleGrid
        component="dl"
        type="container"
        cols={{ base: 1, '16rem': 2, '40rem': 4 }}
        spacing={1}
        bg="var(--line)"
      >
        {figures.map(([name, value, meaning]) => (
          <Box
            key={name}
            data-figure={name}
            p={{ base: 14, sm: 18 }}
            bg="var(--mantine-color-default)"
          >
            <Text component="dt" fz="hint" fw={500} c="dimmed">
              {name}
            </Text>
            <Text component="dd" fz="figure" lh="figure" fw={600}>
              {value || '–'}
            </Text>
            <Text component="dd" fz="hint" c="var(--faint)" mih="1lh">
              {value && meaning}
            </Text>
          </Box>
        ))}
      </SimpleGrid>
    </Paper>
  );
}

/** By how many they grew. Nothing without a comparison. */
export function Growth() {
  const { data: project } = useProject();
  const { data: list } = useNotifications();
  const found = project && list && growthOf(list, project.subscribers, Date.now());
  if (found === undefined) return null;
  const { growth, since } = found;
  const color = growth > 0 ? 'var(--mantine-color-good-light-color)' : undefined;
  return (
    <>
      <Text component="b" inherit fw={500} c={color}>
        {growth.toLocaleString('en', { signDisplay: 'exceptZero' })}
      </Text>{' '}
      since {since}
    </>
  );
}

/** The way to the first click. The next step has the only button. Nothing, once all is done. */
function Checklist({ project, list: { notifications } }: ResultsProps) {
  const { may, isLocal, href } = useSession();
  const { subscribers } = project;
  const hasSent = notifications.length > 0;
  const are = subscribers === 1 ? 'is' : 'are';
  // Where there are figures, they say it.
  const subscribed = hasSent ? '' : `${countOf(subscribers, 'browser')} ${are} subscribed.`;
  // Each with what to do, and once it is done, what tells it. The action is shown while it is the next one.
  const steps = [
    {
      title: isLocal ? 'Subscribe a browser' : 'Add the SDK to your site',
      isDone: subscribers > 0 || notifications.some(({ attempted }) => attempted > 0),
      texts: [isLocal ? 'This one, or simulated ones.' : 'Then subscribe on it.', subscribed],
      action: isLocal ? (
        <Group gap="sm">
          <Anchor href={href('local')}>Add 500 simulated browsers</Anchor>
          <Button component="a" href={href('local')}>
            Subscribe this browser
          </Button>
        </Group>
      ) : (
        <SiteSnippet {...project} />
      ),
    },
    {
      title: 'Send a notification',
      isDone: hasSent,
      texts: ['To everyone who is subscribed, or to yourself as a test.'],
      action: may('send') && (
        <Button component="a" href={href('send')}>
          New notification
        </Button>
      ),
    },
    {
      title: 'See the first click',
      isDone: notifications.some(({ clicked }) => clicked === null || clicked > 0),
      texts: ['It is counted here when somebody clicks the notification.'],
      action: null,
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Card title="Your first notification" aside={<Hint>{`${done} of ${steps.length} done`}</Hint>}>
      <ol>
        {steps.map((step, index) => (
          <Row key={step.title}>
            <Round tone={step.isDone ? 'good' : 'neutral'}>
              {step.isDone ? <Icon name="tick" /> : index + 1}
            </Round>
            <Box flex="1 1 14rem">
              <Text fw={500}>{step.title}</Text>
              <Hint>{step.texts[step.isDone ? 1 : 0]}</Hint>
            </Box>
            {step === next && step.action}
          </Row>
        ))}
      </ol>
    </Card>
  );
}

/** What a page needs to subscribe its visitors. */
export function SiteSnippet({ projectId, applicationServerKey }: ProjectResult) {
  const snippet = `<script src="/carillon.js"></script>
<script>
  const push = Carillon.init({
    baseUrl: '${location.origin}',
    projectId: '${projectId}',
    applicationServerKey: '${applicationServerKey}',
  });
</script>
<button onclick="push.subscribe()">Notify me</button>`;
  return (
    <dl className="stacked">
      <Fact name="Application server key">
        <Copied text={applicationServerKey} what="the key" />
      </Fact>
      <Fact name="A page, with carillon.js and carillon-sw.js of the package at the root of its site">
        <Copied text={snippet} what="the snippet" isCode />
      </Fact>
    </dl>
  );
}
