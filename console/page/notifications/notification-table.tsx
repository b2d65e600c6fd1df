import { Badge, Box, Text } from '@mantine/core';
import { countText } from '../../../contract/text/text.ts';
import type { NotificationResult } from '../../../contract/wire/notification.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
} from '../../../contract/wording/delivery-verdict.ts';
import { capitalized, rateText } from '../format.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../session.ts';
import { Time } from '../view.tsx';

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
