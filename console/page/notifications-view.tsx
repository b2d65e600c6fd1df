import { Anchor, Badge, Box, Button, Group, Menu, Paper, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { countOf, countText } from '../../contract/text/text.ts';
import { notificationIdSchema } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { NotificationList, NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
  needsAttention,
} from '../../contract/wording/delivery-verdict.ts';
import { useNotifications } from './calls.ts';
import { capitalized, dateText, rateText } from './format.ts';
import { NewNotification } from './frame.tsx';
import { Icon } from './icons.tsx';
import { useSession } from './session.ts';
import { Choice, Hint, LinkButton, MenuChoice, Nothing, Pending, Time, View } from './view.tsx';

const stages = { all: 'All', attention: 'Needs attention', progress: 'In progress' } as const;
type Stage = keyof typeof stages;

const audiences = {
  any: 'Any',
  all: 'Everyone',
  some: 'Some subscribers',
  users: 'Certain users',
} as const;
type Audience = keyof typeof audiences;

/** Sender: empty for anybody. */
const noFilters = { search: '', stage: 'all' as Stage, audience: 'any' as Audience, sender: '' };
type Filters = Readonly<typeof noFilters>;

/** The project's notifications, the newest first, with a search and filters. */
export function NotificationsView() {
  const { may, href } = useSession();
  const list = useNotifications();
  const [filters, setFilters] = useState(noFilters);
  const change = (changes: Partial<Filters>) =>
    setFilters((current) => ({ ...current, ...changes }));
  const { search, stage, audience, sender } = filters;
  const all = list.data?.notifications ?? [];
  const found = all.filter((one) => matches(one, filters));
  const senders = [...new Set(all.flatMap(({ sentBy = [] }) => sentBy))].sort();
  const named = Object.fromEntries(senders.map((name) => [name, name]));
  const isFiltered = found.length < all.length || search.trim() !== '';
  const notificationId = found.length === 0 ? idIn(search) : undefined;
  const older = list.hasNextPage && (
    <Button variant="default" loading={list.isFetching} onClick={() => void list.fetchNextPage()}>
      {isFiltered ? 'Search older' : 'Load older notifications'}
    </Button>
  );
  return (
    <View title="Notifications" actions={<NewNotification hiddenFrom="sm" />}>
      <Group role="search" gap="xs" mb={12}>
        <TextInput
          type="search"
          aria-label="Search titles, texts and ids"
          placeholder="Search"
          flex="1 1 11rem"
          value={search}
          onChange={(event) => change({ search: event.currentTarget.value })}
        />
        <Choice
          label="Status"
          choices={stages}
          value={stage}
          onChange={(value) => change({ stage: value })}
        />
        <Menu>
          <Menu.Target>
            <Button variant="default" leftSection={<Icon name="filter" />}>
              {audience === 'any' && sender === '' ? 'Filter' : 'Filter: on'}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <MenuChoice
              label="Audience"
              choices={audiences}
              value={audience}
              onChange={(value) => change({ audience: value })}
            />
            {senders.length > 0 && (
              <MenuChoice
                label="Sent by"
                choices={{ '': 'Anybody', ...named }}
                value={sender}
                onChange={(value) => change({ sender: value })}
              />
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <div role="status" id="searched">
        {isFiltered && found.length > 0 && <Hint>{searchText(found.length, list.data!)}</Hint>}
      </div>
      <Pending of={[list]} heights={[480]} />
      {list.data !== undefined && (
        <Paper mt={12}>
          {found.length > 0 && (
            <NotificationTable notifications={found} hasSenders={senders.length > 0} />
          )}
          {all.length === 0 && (
            <Nothing
              icon="notifications"
              text={`What you send will be here, for ${limits.notificationRetentionDays} days.`}
            >
              {may.send && <LinkButton href={href('send')}>Write the first one</LinkButton>}
            </Nothing>
          )}
          {found.length === 0 && isFiltered && (
            <Nothing icon="filter" text={searchText(0, list.data)}>
              {notificationId !== undefined && (
                <Anchor href={href({ notificationId })}>Open the notification with this id</Anchor>
              )}
              <Button variant="default" onClick={() => setFilters(noFilters)}>
                Clear filters
              </Button>
              {older}
            </Nothing>
          )}
          {found.length > 0 && older && (
            <Group justify="center" p="md" className="ruled">
              {older}
            </Group>
          )}
        </Paper>
      )}
    </View>
  );
}

/** Whether a notification meets all filters. The search is in title, text and id. */
export function matches(
  notification: NotificationResult,
  { search, stage, audience, sender }: Filters,
): boolean {
  const { title, body = '', id, status, audience: to, sentBy } = notification;
  const kind: Audience = to === 'everyone' ? 'all' : to.users === undefined ? 'some' : 'users';
  const wanted = search.trim().toLowerCase();
  return (
    [title, body, id].some((field) => field.toLowerCase().includes(wanted)) &&
    (stage !== 'attention' || needsAttention(notification)) &&
    (stage !== 'progress' || isInProgress(status)) &&
    ['any', kind].includes(audience) &&
    ['', sentBy].includes(sender)
  );
}

/** The id that the text is, of a notification that may not be loaded. */
export function idIn(text: string): string | undefined {
  return notificationIdSchema.safeParse(text.trim().toLowerCase()).data;
}

/** How far a search came: `No match in 120 notifications since Nov 3`. */
export function searchText(found: number, { notifications }: NotificationList): string {
  const oldest = notifications.at(-1);
  if (oldest === undefined) return '';
  const matches = found === 0 ? 'No match' : countOf(found, 'match').replace(/hs$/, 'hes');
  const since = dateText(oldest.sentAt, Date.now());
  return `${matches} in ${countOf(notifications.length, 'notification')} since ${since}`;
}

interface NotificationTableProps {
  readonly notifications: readonly NotificationResult[];
  /** Whether large screens say who sent each. */
  readonly hasSenders?: boolean;
}

/** On phones, styles change the `display` of a table, and with it what it is for screen readers. */
const as = (role: string) => ({ role });

/** Notifications, one in a row, which the link of its title covers. On phones a row is two lines. */
export function NotificationTable({ notifications, hasSenders = false }: NotificationTableProps) {
  return (
    <Box px="xs" pos="relative" style={{ containerType: 'inline-size', overflow: 'hidden' }}>
      <table {...as('table')} className="notifications">
        <thead {...as('rowgroup')}>
          <tr {...as('row')}>
            <th {...as('columnheader')}>Notification</th>
            <th {...as('columnheader')}>Status</th>
            <th {...as('columnheader')}>Delivered</th>
            <th {...as('columnheader')}>Clicked</th>
            {hasSenders && (
              <th {...as('columnheader')} className="mantine-visible-from-lg">
                Sent by
              </th>
            )}
            <th {...as('columnheader')}>Sent</th>
          </tr>
        </thead>
        <tbody {...as('rowgroup')}>
          {notifications.map((notification) => (
            <Row key={notification.id} notification={notification} hasSenders={hasSenders} />
          ))}
        </tbody>
      </table>
    </Box>
  );
}

function Row({
  notification,
  hasSenders,
}: {
  notification: NotificationResult;
  hasSenders: boolean;
}) {
  const { href } = useSession();
  const { id, title, status, delivered, clicked, sentAt, sentBy } = notification;
  const rate = rateText(delivered, audienceSize(notification));
  return (
    <tr {...as('row')} data-id={id} style={{ position: 'relative' }}>
      <td {...as('cell')}>
        <a href={href({ notificationId: id })} title={title}>
          <bdi>{title}</bdi>
        </a>
        <Text fz="hint" c="var(--faint)" truncate className="wide">
          <bdi>{capitalized(audienceText(notification))}</bdi>
        </Text>
      </td>
      <td {...as('cell')}>
        <Outcome notification={notification} />
      </td>
      <td {...as('cell')}>
        {status === 'sending' ? `${countText(delivered)} so far` : rate || none}
        <span className="narrow">{status !== 'sending' && rate && ' delivered'}</span>
      </td>
      <td {...as('cell')} className="wide">
        {rateText(clicked, delivered) || none}
      </td>
      {hasSenders && (
        <td {...as('cell')} className="mantine-visible-from-lg">
          <bdi>{sentBy ?? none}</bdi>
        </td>
      )}
      <td {...as('cell')}>
        <Time at={sentAt} />
      </td>
    </tr>
  );
}

/** In a cell without a value. */
const none = <span className="wide">–</span>;

/** What became of a notification, in a word. */
export function Outcome({ notification }: { notification: NotificationResult }) {
  const { word, tone, icon } = deliveryVerdict(notification);
  return (
    <Badge color={tone} leftSection={<Icon name={icon} size={12} />} data-outcome={tone}>
      {word}
    </Badge>
  );
}
