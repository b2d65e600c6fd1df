import { Button, Group, NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { deliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { useNotifications } from '../calls/queries.ts';
import { senderOf } from '../calls/team.ts';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { NotificationTable } from '../notifications/notification-table.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { idIn, matching, searchText } from './notification-search.ts';

const audiences: Readonly<Record<string, (notification: NotificationResult) => boolean>> = {
  Everyone: ({ audience }) => audience === 'everyone',
  'By channel or visit': ({ audience }) => audience !== 'everyone' && audience.users === undefined,
  'Some users': ({ audience }) => audience !== 'everyone' && audience.users !== undefined,
};
const any = 'Any';
const failed = 'Failed';

/** The project's notifications, the newest first, with filters and a search in them. */
export function NotificationsView() {
  const { projectId } = useSession();
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useNotifications();
  const [search, setSearch] = useState('');
  const [outcome, setOutcome] = useState(any);
  const [audience, setAudience] = useState(any);
  const [sender, setSender] = useState(any);
  const all = data?.notifications ?? [];
  const senders = [...new Set(all.flatMap((one) => senderOf(one) ?? []))].sort();
  const found = matching(all, search).filter(
    (one) =>
      (outcome === any || ['bad', 'warning'].includes(deliveryVerdict(one).tone)) &&
      (audiences[audience]?.(one) ?? true) &&
      (sender === any || senderOf(one) === sender),
  );
  const isFiltered = search.trim() !== '' || [outcome, audience, sender].some((one) => one !== any);
  const notificationId = found.length === 0 ? idIn(search) : undefined;
  const filters = [
    ['Outcome', outcome, setOutcome, [failed]],
    ['Audience', audience, setAudience, Object.keys(audiences)],
    ...(senders.length > 0 ? [['Sent by', sender, setSender, senders] as const] : []),
  ] as const;
  return (
    <View
      title="Notifications"
      actions={
        <Button variant="default" onClick={() => void refetch()} loading={isFetching}>
          Refresh
        </Button>
      }
    >
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Group align="end" role="search">
            <TextInput
              label="Search titles, texts and ids"
              type="search"
              autoComplete="off"
              flex="1 1 14rem"
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
            {filters.map(([label, value, set, values]) => (
              <NativeSelect
                key={label}
                label={label}
                value={value}
                onChange={(event) => set(event.currentTarget.value)}
                data={[any, ...values]}
              />
            ))}
          </Group>
          <Text role="status" size="sm" c="dimmed" id="searched">
            {isFiltered && data !== undefined && searchText(found.length, data)}
          </Text>
          {notificationId !== undefined && (
            <a href={fragmentOf({ view: 'notification', projectId, notificationId })}>
              Open the notification with this id
            </a>
          )}
          <Problem error={error} />
          {found.length > 0 && <NotificationTable notifications={found} />}
          {data !== undefined && all.length === 0 && (
            <Text>No notification has been sent yet.</Text>
          )}
          {hasNextPage && (
            <Group justify="center">
              <Button variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
                Load older notifications
              </Button>
            </Group>
          )}
        </Stack>
      </Paper>
    </View>
  );
}
