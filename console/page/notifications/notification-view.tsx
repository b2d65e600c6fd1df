import { Box, Button, Code, Flex, Group, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { NotificationResult } from '../../../contract/wire/notification.ts';
import { isInProgress } from '../../../contract/wire/notification-status.ts';
import { contentOf } from '../../../contract/wire/send-fields.ts';
import { audienceText } from '../../../contract/wording/delivery-verdict.ts';
import { useNotification } from '../calls/queries.ts';
import { CodeSample } from '../code/code-sample.tsx';
import { NotificationPreview } from '../preview/notification-preview.tsx';
import { contentTexts, formOf, readSendForm } from '../send/send-form.ts';
import { mayDo, useSession } from '../session.ts';
import {
  Card,
  CopiedText,
  Dialog,
  Facts,
  Hint,
  LinkButton,
  MoreActions,
  Pending,
  Problem,
  Time,
  useConfirm,
  View,
} from '../view.tsx';
import { Delivery, Reasons } from './delivery.tsx';
import { Outcome } from './notification-table.tsx';

/** One notification: who got it, who did not and why, and its content. */
export function NotificationView({ id }: { id: string }) {
  const { href } = useSession();
  const query = useNotification(id);
  const { data: notification } = query;
  const parent = { text: 'Notifications', href: href('notifications') };
  if (notification === undefined) {
    return (
      <View title="Notification" parent={parent}>
        <Pending of={[query]} heights={[280, 180]} />
      </View>
    );
  }
  const { title, sentAt, sentBy, audience, status } = notification;
  const meta = (
    <Group gap="0.25rem 0.625rem" c="dimmed">
      <Outcome notification={notification} />
      <span>
        <Time at={sentAt} style="long" />, to <bdi>{audienceText(notification)}</bdi>
        {sentBy !== undefined && ', by '}
        <bdi>{sentBy}</bdi>
      </span>
    </Group>
  );
  return (
    <View
      title={title}
      parent={parent}
      meta={meta}
      actions={<Actions notification={notification} />}
    >
      <Problem error={query.error} />
      <Flex wrap="wrap" gap={{ base: 'md', lg: 'xl' }} align="start">
        <Box flex="3 1 min(100%, 28rem)" miw={0}>
          <Delivery notification={notification} />
          <Reasons notification={notification} />
        </Box>
        <Box flex="1 1 18rem" miw={0}>
          <Card title="Content">
            <NotificationPreview notification={contentOf(notification)} isWhole />
            <Facts
              facts={[
                // The preview shows title and text whole.
                ...contentTexts(notification).filter(([name]) => !['Title', 'Text'].includes(name)),
                ['State in the API', <Code key="state">{status}</Code>],
                ['Id', <CopiedText key="id" text={id} what="the id" />],
              ]}
            />
            {audience !== 'everyone' && audience.users !== undefined && (
              <Hint>The user ids and their values are not stored.</Hint>
            )}
          </Card>
        </Box>
      </Flex>
    </View>
  );
}

/** Sends it again, or stops it while it is being sent; and what is needed seldom. */
function Actions({ notification }: { notification: NotificationResult }) {
  const { client, access, href, setDraft } = useSession();
  const { id, title, status, audience } = notification;
  const queries = useQueryClient();
  const { ask, dialog } = useConfirm();
  const clipboard = useClipboard();
  const [isCodeShown, showCode] = useState(false);
  const stop = useMutation({
    mutationFn: () => client.stop(id),
    onSuccess: (stopped) => queries.setQueryData(['notification', id], stopped),
  });
  const askToStop = () =>
    ask({
      title: `Stop “${title}”?`,
      text: 'The last pushes start within 5 seconds, and what is delivered stays.',
      confirm: 'Stop',
      isDangerous: true,
      onConfirm: () => stop.mutate(),
    });
  const form = formOf(notification);
  const maySend = mayDo(access).send;
  return (
    <Group gap="xs" wrap="nowrap">
      <Problem error={stop.error} />
      {maySend && status === 'sending' && (
        <Button color="danger" loading={stop.isPending} onClick={askToStop}>
          Stop
        </Button>
      )}
      {maySend && !isInProgress(status) && (
        <LinkButton href={href('send')} onClick={() => setDraft(() => form)}>
          Send again
        </LinkButton>
      )}
      <MoreActions>
        <Menu.Item onClick={() => clipboard.copy(id)}>Copy the id</Menu.Item>
        <Menu.Item onClick={() => clipboard.copy(location.href)}>Copy the link</Menu.Item>
        {/* User ids are not stored: code for them would have none. */}
        {(audience === 'everyone' || audience.users === undefined) && (
          <Menu.Item onClick={() => showCode(true)}>Code</Menu.Item>
        )}
      </MoreActions>
      {dialog}
      <Dialog
        title={isCodeShown && 'Send exactly this from your server'}
        onClose={() => showCode(false)}
      >
        <CodeSample notification={readSendForm(form).notification} />
      </Dialog>
    </Group>
  );
}
