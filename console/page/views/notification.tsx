import { Alert, Anchor, Button, Group, Progress, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { countOf, countText } from '../../../contract/count-text.ts';
import {
  deliveryVerdict,
  failureAdvice,
  hasNoSubscriber,
} from '../../../contract/delivery-verdict.ts';
import { type FailureReason, failureReasons } from '../../../contract/failure-reasons.ts';
import { audienceText } from '../../../contract/openapi/audience-text.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { useNotification } from '../calls/queries.ts';
import { Card } from '../components/card.tsx';
import { danger, useConfirm } from '../components/confirm.tsx';
import { Copy } from '../components/copy.tsx';
import { Facts } from '../components/facts.tsx';
import { Problem } from '../components/problem.tsx';
import { Time } from '../components/time.tsx';
import { View } from '../components/view.tsx';
import { rateText } from '../format.ts';
import { estimated, toneColors } from '../notifications/figures.ts';
import { fragmentOf } from '../routing/place.ts';
import { contentTexts, formOf } from '../send/send-form.ts';
import { mayDo, useSession } from '../session.ts';

/** One notification: its results and its content. */
export function NotificationView({ id }: { readonly id: string }) {
  const { client, projectId, access, setDraft } = useSession();
  const queries = useQueryClient();
  const { data: notification, error } = useNotification(id);
  const { ask, dialog } = useConfirm();
  const stop = useMutation({
    mutationFn: () => client.stop(id),
    onSuccess: (stopped) => queries.setQueryData(['notification', id], stopped),
  });
  const may = mayDo(access);
  return (
    <View
      title={notification?.title ?? 'Notification'}
      actions={
        <Anchor href={fragmentOf({ view: 'notifications', projectId })}>All notifications</Anchor>
      }
    >
      <Problem error={error} />
      {notification !== undefined && (
        <>
          <Text>
            <Time at={notification.sentAt} />, to {audienceText(notification)}
            {notification.sentBy !== undefined && <>, by {notification.sentBy}</>}
          </Text>
          <Card
            title="Delivery"
            aside={
              may.send &&
              notification.status === 'sending' && (
                <Button
                  color={danger}
                  loading={stop.isPending}
                  onClick={() =>
                    ask({
                      title: `Stop ${notification.title}?`,
                      text: 'The last pushes start within 5 seconds. Delivered messages stay delivered. A stopped notification cannot be continued.',
                      confirm: 'Stop sending',
                      isDangerous: true,
                      onConfirm: () => stop.mutate(),
                    })
                  }
                >
                  Stop
                </Button>
              )
            }
          >
            <Problem error={stop.error} />
            <Delivery notification={notification} />
          </Card>
          <Card
            title="Content and options"
            aside={
              may.send && (
                <Anchor
                  href={fragmentOf({ view: 'send', projectId })}
                  onClick={() => setDraft(() => formOf(notification))}
                >
                  Send again
                </Anchor>
              )
            }
          >
            {notification.audience !== 'everyone' && notification.audience.users !== undefined && (
              <Text c="dimmed">The user ids and their values are not stored.</Text>
            )}
            <Facts
              facts={[
                ...contentTexts(notification),
                [
                  'Id',
                  <Group key="id" gap="xs">
                    {notification.id}
                    <Copy text={notification.id} label="Copy id" />
                  </Group>,
                ],
              ]}
            />
          </Card>
        </>
      )}
      {dialog}
    </View>
  );
}

/** What became of a notification: the verdict, the funnel, and why pushes failed. */
function Delivery({ notification }: { readonly notification: NotificationResult }) {
  const { removed, failed, failures = {}, unreached, audience, usersReached } = notification;
  const { tone, text, advice } = deliveryVerdict(notification);
  return (
    <>
      <Alert role="status" color={toneColors[tone]} variant="outline" id="verdict">
        {text}
        {advice !== undefined && (
          <>
            {' '}
            <strong>What to do:</strong> {advice}
          </>
        )}
      </Alert>
      {!hasNoSubscriber(notification) && <Funnel notification={notification} />}
      {usersReached !== undefined && audience !== 'everyone' && (
        <Text data-count="users">
          {countText(usersReached)} of {countOf(audience.users ?? 0, 'user')} reached in at least
          one browser.
        </Text>
      )}
      {removed > 0 && (
        <Text data-count="removed">
          <strong>{countText(removed)} removed.</strong> The push service reported these
          subscriptions as gone, and Carillon deleted them: the browser or the person unsubscribed.
        </Text>
      )}
      {unreached !== undefined && (
        <Text data-count="unreached">
          <strong>At least {countOf(unreached, 'subscriber')} not attempted:</strong>{' '}
          {notification.status === 'stopped'
            ? 'the notification was stopped.'
            : 'the time ran out, or the database failed.'}
        </Text>
      )}
      {failed > 0 && (
        <Table data-count="failed" verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="number">Failed</Table.Th>
              <Table.Th>Reason</Table.Th>
              <Table.Th className="wide">What to do</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {Object.entries(failures).map(([reason, count]) => (
              <Table.Tr key={reason}>
                <Table.Td className="number">{countText(count)}</Table.Td>
                <Table.Td>{failureReasons[reason as FailureReason]}</Table.Td>
                <Table.Td className="wide">{failureAdvice[reason as FailureReason]}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  );
}

/** The steps from the push to the click, each with its count and its part of the step before. */
function Funnel({ notification }: { readonly notification: NotificationResult }) {
  const { attempted, delivered, shown, clicked } = notification;
  const about = (figure: string) => estimated(notification, figure);
  const shownPart = about(rateText(Math.min(shown, delivered), delivered));
  const deliveredPart = rateText(delivered, attempted);
  const clickedPart = about(rateText(clicked, shown));
  const isShown = 'The browser reported that it showed the notification.';
  const isDelivered = 'The push service accepted the message.';
  const steps = [
    ['Attempted', attempted, countText(attempted), '', 'Carillon pushed to them.'],
    ['Delivered', delivered, countText(delivered), deliveredPart, isDelivered],
    ['Shown', shown, about(countText(shown)), shownPart, isShown],
    ['Clicked', clicked, countText(clicked), clickedPart, 'The browser reported a click.'],
  ] as const;
  const most = Math.max(attempted, delivered, shown, clicked, 1);
  return (
    <Table id="funnel">
      <Table.Tbody>
        {steps.map(([name, count, figure, part, meaning]) => (
          <Table.Tr key={name} data-step={name}>
            <Table.Th scope="row" title={meaning} style={{ whiteSpace: 'nowrap' }}>
              {name}
            </Table.Th>
            <Table.Td className="number" data-count={name}>
              {figure}
            </Table.Td>
            <Table.Td className="number">{part}</Table.Td>
            <Table.Td w="40%">
              <Progress value={(100 * count) / most} aria-hidden="true" color="bronze" />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
