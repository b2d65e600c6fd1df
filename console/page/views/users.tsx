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
    mutationFn: async ({ user, device }: { user: UserSubscriptions; device?: Device }) => {
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
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Push service</Table.Th>
                  <Table.Th>Subscribed</Table.Th>
                  <Table.Th>Seen</Table.Th>
                  {isOwner && <Table.Th>Device</Table.Th>}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {found.devices.map((device, index) => (
                  <Table.Tr key={device.id}>
                    <Table.Td>{device.pushService}</Table.Td>
                    <Table.Td>
                      <Time at={device.createdAt} />
                    </Table.Td>
                    <Table.Td>
                      <Time at={device.updatedAt} />
                    </Table.Td>
                    {isOwner && (
                      <Table.Td>
                        <Button
                          variant="default"
                          size="compact-sm"
                          aria-label={`Remove device ${index + 1}`}
                          onClick={() =>
                            ask({
                              title: `Remove this device of ${found.userId}?`,
                              text: 'This browser gets no more notifications. It cannot be undone: the person has to subscribe again.',
                              confirm: 'Remove',
                              isDangerous: true,
                              onConfirm: () => remove.mutate({ user: found, device }),
                            })
                          }
                        >
                          Remove
                        </Button>
                      </Table.Td>
                    )}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
          {isOwner && found !== undefined && found.subscriptions > 0 && (
            <Group>
              <Button
                color={danger}
                loading={remove.isPending}
                onClick={() =>
                  ask({
                    title: `Remove ${found.userId}?`,
                    text: `The browsers of this user get no more notifications (${countOf(found.subscriptions, 'subscription')}). It cannot be undone: the person has to subscribe again.`,
                    confirm: 'Remove',
                    isDangerous: true,
                    onConfirm: () => remove.mutate({ user: found }),
                  })
                }
              >
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
