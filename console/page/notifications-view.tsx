import { Badge, Box, Button, Group, NativeSelect, Paper, Text, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { countOf, countText } from '../../contract/text/text.ts';
import type { NotificationList, NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
  needsAttention,
} from '../../contract/wording/delivery-verdict.ts';
import { useAllNotifications } from './calls.ts';
import { capitalized, dateText, notMeasured, rateText, timeText } from './format.ts';
import { NewNotification } from './frame.tsx';
import { Icon } from './icons.tsx';
import { useSession } from './session.ts';
import { Choice, Hint, LinkButton, Nothing, Pending, Problem, Time, View } from './view.tsx';

const stages = { all: 'All', attention: 'Needs attention', progress: 'In progress' } as const;
type Stage = keyof typeof stages;

const audiences = {
  any: 'To anybody',
  all: 'To everyone',
  some: 'To some subscribers',
  users: 'To certain users',
  tests: 'Tests',
} as const;
type Audience = keyof typeof audiences;

/** Sender: empty for anybody. */
const noFilters = { search: '', stage: 'all' as Stage, audience: 'any' as Audience, sender: '' };
type Filters = Readonly<typeof noFilters>;

/** The filters in an address. What it does not know is left out. */
export function filtersIn(query: string | undefined): Filters {
  const given = { ...noFilters, ...Object.fromEntries(new URLSearchParams(query)) };
  const { search, stage, audience, sender } = given;
  return {
    search,
    stage: Object.hasOwn(stages, stage) ? stage : 'all',
    audience: Object.hasOwn(audiences, audience) ? audience : 'any',
    sender,
  };
}

export function queryOf(filters: Filters): string {
  const set = Object.entries(filters).filter(
    ([name, value]) => value !== noFilters[name as keyof Filters],
  );
  return new URLSearchParams(set).toString();
}

/** The project's notifications, the newest first, with a search and filters: in the address, so that Back finds them. */
export function NotificationsView() {
  const { may, href, place, replacePlace } = useSession();
  const { newest, data, load } = useAllNotifications();
  const search = useRef(new AbortController());
  const stop = () => {
    search.current.abort();
    load.reset();
  };
  useEffect(() => () => search.current.abort(), []);
  const filters = filtersIn(place.query);
  const change = (changes: Partial<Filters>) => {
    stop();
    replacePlace({ ...place, query: queryOf({ ...filters, ...changes }) });
  };
  const isWanted = (one: NotificationResult) => matches(one, filters);
  const all = data?.notifications ?? [];
  const found = all.filter(isWanted);
  const sentBy = [filters.sender, ...all.map((one) => one.sentBy ?? '')];
  const senders = [...new Set(sentBy)].filter((name) => name !== '').sort();
  const isFiltered = queryOf(filters) !== '';
  const loadOlder = () => {
    search.current = new AbortController();
    load.mutate({ isWanted, signal: search.current.signal });
  };
  const older = data?.nextCursor !== undefined && (
    <Button variant="default" onClick={load.isPending ? stop : loadOlder}>
      {load.isPending ? 'Stop' : isFiltered ? 'Search older' : 'Load older notifications'}
    </Button>
  );
  return (
    <View title="Notifications" actions={<NewNotification hiddenFrom="sm" />}>
      <Group role="search" gap="xs" mb={12}>
        <TextInput
          type="search"
          aria-label="Search titles, texts, dates and ids"
          placeholder="Search"
          flex="1 1 11rem"
          value={filters.search}
          onChange={(event) => change({ search: event.currentTarget.value })}
        />
        <Choice
          label="Status"
          choices={stages}
          value={filters.stage}
          onChange={(stage) => change({ stage })}
        />
        <NativeSelect
          aria-label="Audience"
          flex="1 1 9rem"
          data={Object.entries(audiences).map(([value, label]) => ({ value, label }))}
          value={filters.audience}
          onChange={(event) => change({ audience: event.currentTarget.value as Audience })}
        />
        {senders.length > 0 && (
          <NativeSelect
            aria-label="Sent by"
            flex="1 1 9rem"
            data={[{ value: '', label: 'By anybody' }, ...senders]}
            value={filters.sender}
            onChange={(event) => change({ sender: event.currentTarget.value })}
          />
        )}
      </Group>
      <div role="status" id="searched">
        {isFiltered && found.length > 0 && <Hint>{searchText(found.length, data!)}</Hint>}
      </div>
      <Pending of={[newest]} heights={[480]} />
      <Problem error={load.error} onRetry={loadOlder} />
      {data !== undefined && (
        <Paper mt={12}>
          {found.length > 0 && (
            <NotificationTable notifications={found} hasSenders={senders.length > 0} />
          )}
          {all.length === 0 && (
            <Nothing icon="notifications" text="What you send will be here.">
              {may('send') && <LinkButton href={href('send')}>Write the first one</LinkButton>}
            </Nothing>
          )}
          {found.length === 0 && all.length > 0 && (
            <Nothing icon="filter" text={searchText(0, data)}>
              <Button variant="default" onClick={() => change(noFilters)}>
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

/** Whether a notification meets all filters. The search is in title, text, date and id. */
export function matches(one: NotificationResult, filters: Filters): boolean {
  const { audience: to, test } = one;
  const { search, stage, audience, sender } = filters;
  const kind = to === 'everyone' ? 'all' : to.users === undefined ? 'some' : 'users';
  const wanted = search.trim().toLowerCase();
  const texts = [one.title, one.body ?? '', one.id, timeText(one.sentAt)];
  return (
    texts.some((text) => text.toLowerCase().includes(wanted)) &&
    (stage !== 'attention' || (!test && needsAttention(one))) &&
    (stage !== 'progress' || isInProgress(one.status)) &&
    ['any', test ? 'tests' : kind].includes(audience) &&
    ['', one.sentBy].includes(sender)
  );
}

/** How far a search came: `No match in 120 notifications since Nov 3`. */
export function searchText(found: number, { notifications }: NotificationList): string {
  const oldest = notifications.at(-1);
  if (oldest === undefined) return '';
  const matches = found === 0 ? 'No match' : countOf(found, 'match').replace(/hs$/, 'hes');
  const since = dateText(oldest.sentAt, Date.now());
  return `${matches} in ${countOf(notifications.length, 'notification')} since ${since}`;
}

const sender = 'Sent by';
const columns = ['Notification', 'Status', 'Delivered', 'Clicked', sender, 'Sent'];
const onLarge = { className: 'mantine-visible-from-lg' };

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
      <table {...as('table')}>
        <thead {...as('rowgroup')}>
          <tr {...as('row')}>
            {columns
              .filter((name) => hasSenders || name !== sender)
              .map((name) => (
                <th key={name} {...as('columnheader')} {...(name === sender && onLarge)}>
                  {name}
                </th>
              ))}
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

function Row({ notification, hasSenders }: RowProps) {
  const { href } = useSession();
  const { id, title, status, delivered, clicked, sentAt, sentBy } = notification;
  const isGoingOn = isInProgress(status);
  const rate = isGoingOn ? '' : rateText(delivered, audienceSize(notification));
  return (
    <tr {...as('row')} style={{ position: 'relative' }}>
      <td {...as('cell')}>
        <a href={href('notification', id)} title={title}>
          <bdi>{title}</bdi>
        </a>
        <Text fz="hint" c="var(--faint)" truncate>
          <bdi>{capitalized(audienceText(notification))}</bdi>
        </Text>
      </td>
      <td {...as('cell')}>
        <Outcome notification={notification} />
      </td>
      <td {...as('cell')}>
        {isGoingOn ? `${countText(delivered)} so far` : rate || none}
        <span className="narrow">{rate && ' delivered'}</span>
      </td>
      <td {...as('cell')} className="wide">
        {clicked === null ? notMeasured : (!isGoingOn && rateText(clicked, delivered)) || none}
      </td>
      {hasSenders && (
        <td {...as('cell')} {...onLarge}>
          <bdi>{sentBy ?? none}</bdi>
        </td>
      )}
      <td {...as('cell')}>
        <Time at={sentAt} />
      </td>
    </tr>
  );
}

type RowProps = { notification: NotificationResult; hasSenders: boolean };

/** In a cell without a value. */
const none = <span className="wide">–</span>;

/** What became of a notification, in a word, and whether it was a test. */
export function Outcome({ notification }: { notification: NotificationResult }) {
  const { word, tone, icon } = deliveryVerdict(notification);
  return (
    <Group component="span" gap={4} wrap="nowrap">
      <Badge color={tone} leftSection={<Icon name={icon} size={12} />} data-outcome={tone}>
        {word}
      </Badge>
      {notification.test && <Badge color="neutral">Test</Badge>}
    </Group>
  );
}
