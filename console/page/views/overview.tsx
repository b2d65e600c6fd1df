import { Alert, Anchor, Button, Group, Paper, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countOf, countText } from '../../../contract/count-text.ts';
import { deliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { NotificationList } from '../../../contract/schemas/notification.ts';
import {
  type AudienceCounts,
  channelsByCount,
  type ProjectResult,
} from '../../../contract/schemas/project.ts';
import { useNotifications, useProject } from '../calls/queries.ts';
import { Card } from '../components/card.tsx';
import { Copy } from '../components/copy.tsx';
import { Facts } from '../components/facts.tsx';
import { Problem } from '../components/problem.tsx';
import { Time } from '../components/time.tsx';
import { View } from '../components/view.tsx';
import { monthText, rateText, timeText } from '../format.ts';
import { clickRate, deliveredRate } from '../notifications/figures.ts';
import { NotificationTable } from '../notifications/notification-table.tsx';
import { audienceAfter, broadcastsIn, growthText, monthOf } from '../overview/broadcasts.ts';
import { roundUp, TimeChart } from '../overview/time-chart.tsx';
import { fragmentOf } from '../routing/place.ts';
import { mayDo, useSession } from '../session.ts';

/** The project's subscribers, how its notifications did, and its limits. */
export function OverviewView() {
  const { projectId, access, isLocal } = useSession();
  const project = useProject();
  const list = useNotifications();
  const place = (view: 'send' | 'notifications' | 'local') => fragmentOf({ view, projectId });
  const nowMs = Date.now();
  return (
    <View
      title="Overview"
      actions={
        mayDo(access).send && (
          <Button component="a" href={place('send')}>
            Send a notification
          </Button>
        )
      }
    >
      <Problem error={project.error ?? list.error} />
      {project.data !== undefined && list.data !== undefined && (
        <>
          <Caps project={project.data} />
          <Figures project={project.data} list={list.data} nowMs={nowMs} />
          {project.data.subscribers === 0 && (
            <Alert variant="outline" title="Nobody is subscribed yet.">
              {isLocal ? (
                <Anchor href={place('local')}>Subscribe this browser, or simulated ones</Anchor>
              ) : (
                'Add the SDK to your site: docs/sdk.md says how.'
              )}
            </Alert>
          )}
          <Subscribers list={list.data} nowMs={nowMs} />
          {list.data.notifications.length > 0 && (
            <Card
              title="Latest notifications"
              aside={<Anchor href={place('notifications')}>All notifications</Anchor>}
            >
              <NotificationTable notifications={list.data.notifications.slice(0, 5)} />
            </Card>
          )}
          {project.data.sample !== undefined && project.data.subscribers > 0 && (
            <Sample sample={project.data.sample} subscribers={project.data.subscribers} />
          )}
          <Card title="Project">
            <Facts
              facts={[
                ['Id', projectId],
                ['Name', project.data.name],
                ['Service', location.origin],
                [
                  'Application server key',
                  <Group key="key" gap="xs">
                    {project.data.applicationServerKey}
                    <Copy text={project.data.applicationServerKey} label="Copy key" />
                  </Group>,
                ],
                ['Created', timeText(project.data.createdAt)],
              ]}
            />
          </Card>
        </>
      )}
    </View>
  );
}

/** Above this part of a cap, it is said loudly. */
const nearCap = 0.8;

/** The caps as one line; louder when one is near. */
function Caps({ project }: { readonly project: ProjectResult }) {
  const { subscribers, subscriberCap, sentThisMonth, monthlySendCap, month } = project;
  const parts = [
    [
      'subscribers',
      subscribers,
      subscriberCap,
      'The service refuses new subscribers at the limit.',
    ],
    [
      `notifications in ${monthText(month)}`,
      sentThisMonth,
      monthlySendCap,
      'The service refuses sends at the limit, until the next month (UTC).',
    ],
  ] as const;
  const near = parts.filter(([, used, cap]) => cap !== null && used >= nearCap * cap);
  const text = parts
    .map(
      ([noun, used, cap]) =>
        `${countText(used)} ${cap === null ? '' : `of ${countText(cap)} `}${noun}`,
    )
    .join(' · ');
  if (near.length === 0) {
    return (
      <Text c="dimmed" id="caps">
        {text}
      </Text>
    );
  }
  return (
    <Alert role="status" color="orange.9" variant="filled" autoContrast id="caps" title={text}>
      {near.map(([, , , meaning]) => meaning).join(' ')} An operator can raise it.
    </Alert>
  );
}

interface FiguresProps {
  readonly project: ProjectResult;
  readonly list: NotificationList;
  readonly nowMs: number;
}

function Figures({ project: { subscribers }, list, nowMs }: FiguresProps) {
  const { projectId } = useSession();
  const broadcasts = broadcastsIn(list);
  const month = monthOf(list, nowMs);
  const growth = [7, 30].flatMap((days) => growthText(broadcasts, subscribers, days, nowMs) ?? []);
  const [last] = list.notifications;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Figure name="Subscribers" value={countText(subscribers)}>
        {growth.join(', ') || 'Growth: when a broadcast is 7 days old.'}
      </Figure>
      <Figure name="Delivered" value={deliveredRate(month)}>
        of {countOf(month.attempted, 'push').replace('pushs', 'pushes')} in 30 days
      </Figure>
      <Figure name="Click rate" value={clickRate(month)}>
        {countText(month.clicked)} clicked, {countText(month.shown)} shown in 30 days
      </Figure>
      <Figure name="Last send" value={last === undefined ? '–' : <Time at={last.sentAt} />} isText>
        {last !== undefined && (
          <Anchor
            size="sm"
            href={fragmentOf({ view: 'notification', projectId, notificationId: last.id })}
          >
            {deliveryVerdict(last).text}
          </Anchor>
        )}
      </Figure>
    </SimpleGrid>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: ReactNode;
  readonly isText?: boolean;
  readonly children: ReactNode;
}

function Figure({ name, value, isText = false, children }: FigureProps) {
  return (
    <Paper withBorder p="md" data-figure={name}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fw={600} fz={isText ? '1.25rem' : '1.75rem'} lh={1.5} className="figure">
        {value}
      </Text>
      <Text size="sm" c="dimmed" component="div">
        {children}
      </Text>
    </Paper>
  );
}

/** Subscribers over time, as far as broadcasts tell. */
function Subscribers({ list, nowMs }: { readonly list: NotificationList; readonly nowMs: number }) {
  const broadcasts = broadcastsIn(list).filter(({ attempted }) => attempted > 0);
  // One has no history.
  if (broadcasts.length < 2) return null;
  const points = broadcasts.map((broadcast) => ({
    atMs: Date.parse(broadcast.sentAt),
    value: audienceAfter(broadcast),
    title: `${timeText(broadcast.sentAt)}, ${broadcast.title}: ${countText(audienceAfter(broadcast))}`,
  }));
  const rates = broadcasts.map((broadcast, index) => ({
    ...points[index]!,
    value: broadcast.delivered / broadcast.attempted,
    title: `${timeText(broadcast.sentAt)}, ${broadcast.title}: ${deliveredRate(broadcast)}`,
  }));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Subscribers at each broadcast">
        <TimeChart
          label={`Subscribers at ${countOf(broadcasts.length, 'broadcast')}, ${countText(points.at(-1)!.value)} at the last one`}
          points={points}
          most={roundUp(Math.max(...points.map(({ value }) => value)))}
          format={(value) => countText(value)}
          nowMs={nowMs}
        />
      </Card>
      <Card title="Delivered of each broadcast">
        <TimeChart
          label={`Delivered part of ${countOf(broadcasts.length, 'broadcast')}, ${deliveredRate(broadcasts.at(-1)!)} of the last one`}
          points={rates}
          most={1}
          format={(value) => rateText(value, 1)}
          nowMs={nowMs}
        />
      </Card>
    </SimpleGrid>
  );
}

/** How many subscribers were seen lately, and have which channels. */
function Sample({ sample, subscribers }: { sample: AudienceCounts; subscribers: number }) {
  const isWhole = sample.subscribers >= subscribers;
  const text = (found: number) =>
    `${isWhole ? `${countText(found)}, ` : ''}${rateText(found, sample.subscribers) || '–'}`;
  const channels = channelsByCount(sample);
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Card title="Seen lately">
          <Facts
            facts={Object.entries(sample.seenWithinDays).map(([days, found]) => [
              `Within ${days} days`,
              text(found),
            ])}
          />
        </Card>
        {channels.length > 0 && (
          <Card title="Channels">
            <Facts facts={channels.map(([name, found]) => [name, text(found)])} />
          </Card>
        )}
      </SimpleGrid>
      {!isWhole && (
        <Text size="sm" c="dimmed">
          Parts of a sample of {countText(sample.subscribers)} subscribers.
        </Text>
      )}
    </>
  );
}
