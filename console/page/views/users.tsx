import { Button, Group, Paper, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { countOf } from '../../../contract/count-text.ts';
import { limits } from '../../../contract/limits.ts';
import { type UserSubscriptions, userSchema } from '../../../contract/schemas/user.ts';
import { danger, useConfirm } from '../components/confirm.tsx';
import { Problem } from '../components/problem.tsx';
import { Time } from '../components/time.tsx';
import { View } from '../components/view.tsx';
import { mayDo, useSession } from '../session.ts';

type Device = UserSubscriptions['devices'][number];

const final = 'It cannot be undone: the person has to subscribe again.';

/** Looks up the devices of one user id, and removes them. */
export function UsersView() {
  const { client, access } = useSession();
  const [userId, setUserId] = useState('');
  const [issue, setIssue] = useState<string>();
  const [found, setFound] = useState<UserSubscriptions>();
  const [message, setMessage] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const { ask, dialog } = useConfirm();

  const lookUp = useMutation({
    mutationFn: (wanted: string) => client.user(wanted),
    onSuccess: setFound,
  });
  const remove = useMutation({
    mutationFn: async ({
      user,
      device,
    }: {
      user: UserSubscriptions;
      device: Device | undefined;
    }) => {
      if (device !== undefined) {
        await client.removeDevice(user.userId, device.id);
        setMessage(`Removed one device of ${user.userId}.`);
        setFound(await client.user(user.userId));
        return;
      }
      const { removed } = await client.removeUser(user.userId);
      setMessage(`Removed ${countOf(removed, 'subscription')} of ${user.userId}.`);
      setFound(undefined);
    },
    // The pressed button is gone.
    onSuccess: () => input.current!.focus(),
  });

  function submit() {
    setFound(undefined);
    setMessage(undefined);
    remove.reset();
    const { error } = userSchema.safeParse({ userId });
    setIssue(error && `User id ${error.issues[0]!.message}.`);
    if (error === undefined) lookUp.mutate(userId);
    else input.current!.focus();
  }

  const askToRemove = (user: UserSubscriptions, device?: Device) =>
    ask({
      title: `Remove ${device === undefined ? '' : 'this device of '}${user.userId}?`,
      text:
        device === undefined
          ? `The browsers of this user get no more notifications (${countOf(user.subscriptions, 'subscription')}). ${final}`
          : `This browser gets no more notifications. ${final}`,
      confirm: 'Remove',
      isDangerous: true,
      onConfirm: () => remove.mutate({ user, device }),
    });
  const isOwner = mayDo(access).remove;
  return (
    <View title="Users">
      <Paper withBorder p="md">
        <Stack gap="sm">
          <form
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              submit();
            }}
          >
            <Group align="start">
              <TextInput
                ref={input}
                label="User id"
                description={`As your site passed it to the SDK. 1 to ${limits.userIdLength} characters.`}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                flex="1 1 14rem"
                maw={480}
                value={userId}
                onChange={(event) => setUserId(event.currentTarget.value)}
                error={issue}
              />
            </Group>
            <Button type="submit" loading={lookUp.isPending} mt="sm">
              Look up
            </Button>
          </form>
          <Problem error={lookUp.error ?? remove.error} />
          <div role="status" id="user">
            {found !== undefined && (
              <Text>
                <strong>{found.userId}</strong> has {countOf(found.subscriptions, 'subscription')}.
              </Text>
            )}
            {message !== undefined && <Text>{message}</Text>}
          </div>
          {found !== undefined && found.devices.length > 0 && (
            <Table
              data={{
                head: ['Push service', 'Subscribed', 'Seen', ...(isOwner ? ['Device'] : [])],
                body: found.devices.map((device, index) => [
                  device.pushService,
                  <Time key="subscribed" at={device.createdAt} />,
                  <Time key="seen" at={device.updatedAt} />,
                  isOwner && (
                    <Button
                      key="device"
                      variant="default"
                      size="compact-sm"
                      aria-label={`Remove device ${index + 1}`}
                      onClick={() => askToRemove(found, device)}
                    >
                      Remove
                    </Button>
                  ),
                ]),
              }}
            />
          )}
          {isOwner && found !== undefined && found.subscriptions > 0 && (
            <Group>
              <Button color={danger} loading={remove.isPending} onClick={() => askToRemove(found)}>
                Remove all subscriptions of this user
              </Button>
            </Group>
          )}
        </Stack>
      </Paper>
      {dialog}
    </View>
  );
}
