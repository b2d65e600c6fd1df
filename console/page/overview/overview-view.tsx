import { Alert, Anchor, Box, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countOf, countText } from '../../../contract/text/text.ts';
import type { NotificationList, NotificationResult } from '../../../contract/wire/notification.ts';
import type { ProjectResult } from '../../../contract/wire/project-result.ts';
import { useNotifications, useProject } from '../calls/queries.ts';
import { ColumnChart, Key } from '../charts.tsx';
import { rateText, shownRate, timeText } from '../format.ts';
import { NewNotification } from '../frame.tsx';
import { Icon } from '../icons.tsx';
import { Delivery } from '../notifications/delivery.tsx';
import { NotificationTable, TitleText } from '../notifications/notification-table.tsx';
import { mayDo, useSession } from '../session.ts';
import { Card, Hint, Pending, Time, View } from '../view.tsx';
import { Checklist } from './checklist.tsx';
import { growthOf, lastBroadcasts, monthOf, type Notice, noticeOf } from './summary.ts';

/** Whether the last notifications arrived, and what somebody must do. */
export function OverviewView() {
  const { access } = useSession();
  const project = useProject();
  const list = useNotifications();
  const hasResults = (list.data?.notifications.length ?? 0) > 0;
  const actions = (
    <Group gap="sm">
      {hasResults && <Hint>{monthOf(list.data!, Date.now()).period}</Hint>}
      {mayDo(access).send && <NewNotification hiddenFrom="sm" />}
    </Group>
  );
  return (
    <View title="Overview" actions={actions}>
      <Stack>
        <Pending of={[project, list]} heights={[106, 254, 360]} />
        {project.data !== undefined && list.data !== undefined && (
          <Results project={project.data} list={list.data} />
        )}
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
  const [first, second] = list.notifications;
  if (first === undefined) return <Checklist project={project} list={list} />;
  const notice = noticeOf(project, list, Date.now());
  const broadcasts = lastBroadcasts(list, mostColumns);
  return (
    <>
      {notice !== undefined && <NoticeAlert notice={notice} />}
      {second === undefined && <Checklist project={project} list={list} />}
      <Figures project={project} list={list} />
      {broadcasts.length >= fewestColumns && <Broadcasts broadcasts={broadcasts} />}
      {second === undefined ? (
        <Only notification={first} />
      ) : (
        <Card
          isFlush
          title="Latest notifications"
          aside={<Anchor href={href('notifications')}>View all</Anchor>}
        >
          <NotificationTable notifications={list.notifications.slice(0, 5)} />
        </Card>
      )}
    </>
  );
}

function NoticeAlert({
  notice: { title, text, tone, notificationId },
}: {
  readonly notice: Notice;
}) {
  const { href } = useSession();
  const isLimit = notificationId === undefined;
  return (
    <Alert role="status" id="notice" color={tone} radius="lg" icon={<Icon name="warning" />}>
      <Group justify="space-between" gap="0.25rem 1rem">
        <Text inherit flex="1 1 14rem" lineClamp={3} c="var(--alert-color)">
          <strong>{title}</strong> {text}
        </Text>
        <Anchor
          href={href(isLimit ? 'settings' : { notificationId })}
          inherit
          fw={600}
          c="var(--alert-color)"
        >
          {isLimit ? 'See the limits' : 'See why'}
        </Anchor>
      </Group>
    </Alert>
  );
}

function Figures({ project: { subscribers }, list }: ResultsProps) {
  const month = monthOf(list, Date.now());
  const { audience, delivered, clicked } = month;
  const figures: readonly (readonly [name: string, value: string, meaning: ReactNode])[] = [
    [
      'Subscribers',
      countText(subscribers),
      <Growth key="growth" list={list} subscribers={subscribers} />,
    ],
    ['Delivered', rateText(delivered, audience), `of ${countOf(audience, 'recipient')}`],
    ['Shown', shownRate(month), 'of delivered'],
    ['Clicked', rateText(clicked, delivered), 'of delivered'],
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
export function Growth({
  list,
  subscribers,
}: {
  readonly list: NotificationList;
  readonly subscribers: number;
}) {
  const growth = growthOf(list, subscribers, Date.now());
  if (growth === undefined) return null;
  return (
    <>
      <Text
        component="b"
        inherit
        fw={500}
        c={growth.isMore ? 'var(--mantine-color-good-light-color)' : undefined}
      >
        {growth.text}
      </Text>{' '}
      since {growth.since}
    </>
  );
}

/** The only notification that was sent. */
function Only({ notification }: { readonly notification: NotificationResult }) {
  const { href } = useSession();
  return (
    <div>
      <Text mb="xs">
        <Anchor href={href({ notificationId: notification.id })} inherit>
          <TitleText title={notification.title} />
        </Anchor>
        , <Time at={notification.sentAt} style="long" />
      </Text>
      <Delivery notification={notification} />
    </div>
  );
}

const keys = { Delivered: 'accent-2', Clicked: 'deep', Failed: 'bad-fill' } as const;

/** The last broadcasts, a column each. */
function Broadcasts({ broadcasts }: { readonly broadcasts: readonly NotificationResult[] }) {
  const columns = broadcasts.map(({ sentAt, title, delivered, clicked, failed }) => ({
    at: sentAt,
    title: `${title}, ${timeText(sentAt)}: ${countText(delivered)} delivered, ${countText(clicked)} clicked, ${countText(failed)} failed`,
    parts: [
      [keys.Clicked, Math.min(clicked, delivered)],
      [keys.Delivered, Math.max(0, delivered - clicked)],
      [keys.Failed, failed],
    ] as const,
  }));
  const legend = (
    <Group gap="0.25rem 0.875rem">
      {Object.entries(keys).map(([name, color]) => (
        <Key key={name} color={color}>
          {name}
        </Key>
      ))}
    </Group>
  );
  const title = `Last ${broadcasts.length} broadcasts`;
  return (
    <Card title={title} aside={legend}>
      <ColumnChart label={`${title}: delivered, clicked and failed`} columns={columns} />
    </Card>
  );
}
