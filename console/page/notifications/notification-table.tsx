import { Anchor, Badge, Table } from '@mantine/core';
import { countText } from '../../../contract/count-text.ts';
import { deliveryVerdict, hasNoSubscriber } from '../../../contract/delivery-verdict.ts';
import { audienceText } from '../../../contract/openapi/audience-text.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { Copy } from '../components/copy.tsx';
import { Time } from '../components/time.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { clickRate, deliveredRate, estimated, toneColors } from './figures.ts';

/** Notifications, one in a row. On a phone: title, time, delivered, click rate. */
export function NotificationTable({
  notifications,
}: {
  readonly notifications: readonly NotificationResult[];
}) {
  const { projectId } = useSession();
  const hasSenders = notifications.some((notification) => notification.sentBy !== undefined);
  return (
    // Large texts may need more room than there is.
    <Table.ScrollContainer minWidth={0} type="native">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="wide">Status</Table.Th>
            <Table.Th className="title">Title</Table.Th>
            <Table.Th className="wide">Audience</Table.Th>
            {hasSenders && <Table.Th className="wide">Sent by</Table.Th>}
            <Table.Th className="number">When</Table.Th>
            <Table.Th className="number">Delivered</Table.Th>
            <Table.Th className="number wide">Shown</Table.Th>
            <Table.Th className="number">Clicks</Table.Th>
            <Table.Th className="wide">Id</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {notifications.map((notification) => {
            const { id, title, sentAt, shown } = notification;
            const place = { view: 'notification', projectId, notificationId: id } as const;
            return (
              <Table.Tr key={id} data-id={id}>
                <Table.Td className="wide">
                  <Status notification={notification} />
                </Table.Td>
                <Table.Td className="one-line title">
                  <Anchor href={fragmentOf(place)} title={title}>
                    {title}
                  </Anchor>
                </Table.Td>
                <Table.Td className="wide one-line" title={audienceText(notification)}>
                  {audienceText(notification)}
                </Table.Td>
                {hasSenders && (
                  <Table.Td className="wide one-line">{notification.sentBy ?? '–'}</Table.Td>
                )}
                <Table.Td className="number">
                  <Time at={sentAt} />
                </Table.Td>
                <Table.Td className="number">{deliveredRate(notification)}</Table.Td>
                <Table.Td className="number wide">
                  {shown === 0 ? '–' : estimated(notification, countText(shown))}
                </Table.Td>
                <Table.Td className="number">{clickRate(notification)}</Table.Td>
                <Table.Td className="wide">
                  <Copy text={id} label="Copy" />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The status of a notification, in a word; bad news in its colour. */
function Status({ notification }: { readonly notification: NotificationResult }) {
  const { tone, label } = deliveryVerdict(notification);
  const isBad = tone === 'bad' || tone === 'warning';
  const text = hasNoSubscriber(notification) ? 'nobody' : notification.status;
  return (
    <Badge
      tt="none"
      variant="filled"
      color={isBad ? toneColors[tone] : tone === 'good' ? toneColors.good : toneColors.neutral}
      title={label}
      miw={76}
    >
      {isBad && notification.status === 'sent' ? 'failed' : text}
    </Badge>
  );
}
