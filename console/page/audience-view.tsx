import {
  Box,
  Button,
  Group,
  Paper,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { countOf, countText } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import { type AudienceCounts, byCount } from '../../contract/wire/project-result.ts';
import type { UserSubscriptions } from '../../contract/wire/user.ts';
import { pushServiceText } from '../../contract/wording/push-service-texts.ts';
import { useProject } from './calls.ts';
import { estimateText, rateText } from './format.ts';
import { Growth } from './overview-view.tsx';
import { useSession } from './session.ts';
import {
  Card,
  Disclosure,
  Hint,
  Inside,
  LinkButton,
  Nothing,
  Pending,
  Problem,
  Row,
  submitting,
  Time,
  View,
} from './view.tsx';

/** How many can be reached, in which channels, whether they grow; and what one user has. */
export function AudienceView() {
  const { may, href } = useSession();
  const project = useProject();
  const { subscribers = 0, sample } = project.data ?? {};
  return (
    <View title="Audience">
      <Stack>
        <Pending of={[project]} heights={[110, 210]} />
        {project.data !== undefined && (
          <Paper component="section" aria-label="Subscribers">
            <Inside>
              {subscribers === 0 ? (
                <Nothing icon="audience" text="Browsers that subscribe on your site will be here.">
                  <LinkButton href={href('settings')}>What your page needs</LinkButton>
                </Nothing>
              ) : (
                <div data-figure="Subscribers">
                  <Text component="span" fz="figure" fw={600}>
                    {countText(subscribers)}
                  </Text>{' '}
                  {subscribers === 1 ? 'subscriber' : 'subscribers'}
                  <Hint>
                    <Growth />
                  </Hint>
                </div>
              )}
            </Inside>
          </Paper>
        )}
        {sample !== undefined && subscribers > 0 && (
          <Sample sample={sample} subscribers={subscribers} />
        )}
        {may('getUser') && <FindUser />}
      </Stack>
    </View>
  );
}

/** More channels are behind their number. */
const shownChannels = 12;

type Bar = readonly [name: string, found: number, hint?: string];

/** When they were seen last, and which channels and push services they have. */
function Sample({ sample, subscribers }: { sample: AudienceCounts; subscribers: number }) {
  const isWhole = sample.subscribers >= subscribers;
  const about = (found: number) =>
    `${isWhole ? '' : 'about '}${estimateText(found, sample.subscribers, subscribers)}`;
  const channels = byCount(sample.channels);
  const visits = Object.entries(sample.seenWithinDays).map(
    ([days, found]): Bar => [`Within ${days} days`, found],
  );
  const services = Object.entries(sample.pushServices ?? {}).map(([name, found]): Bar => {
    const { subscribers, seenWithin30Days: seen } = found;
    return [pushServiceText(name), subscribers, `${rateText(seen, subscribers)} seen in 30 days`];
  });
  const bars = (rows: readonly Bar[]) => (
    <ul>
      {rows.map(([name, found, hint]) => (
        <Group key={name} component="li" gap="0.25rem 0.5rem" py={9} className="row">
          <Box flex="1 0 6.5rem">
            <bdi>{name}</bdi>
            <Hint>{hint}</Hint>
          </Box>
          <Progress
            value={(100 * found) / sample.subscribers}
            flex="2 1 2rem"
            aria-hidden
            color="var(--accent-2)"
          />
          <Text component="span" ta="end" miw="6rem">
            {about(found)}
          </Text>
          <Text component="span" ta="end" miw="3rem" ms="auto">
            {rateText(found, sample.subscribers)}
          </Text>
        </Group>
      ))}
    </ul>
  );
  const more = channels.slice(shownChannels);
  const source = !isWhole && <Hint>From a sample of {countText(sample.subscribers)}</Hint>;
  return (
    <SimpleGrid type="container" cols={{ base: 1, '46rem': 2 }}>
      <Stack>
        <Card title="Last visit" aside={source}>
          {bars(visits)}
        </Card>
        <Card title="Browsers" aside={source}>
          {bars(services.toSorted(([, one], [, other]) => other - one))}
          {Object.hasOwn(sample.pushServices ?? {}, 'apple') && (
            <Hint>Apple also accepts messages for browsers that no longer exist.</Hint>
          )}
        </Card>
      </Stack>
      <Card title="Channels" aside={source}>
        {bars(channels.slice(0, shownChannels))}
        {channels.length === 0 && <Text c="dimmed">No subscriber has chosen a channel.</Text>}
        {more.length > 0 && <Disclosure title={`${more.length} more`}>{bars(more)}</Disclosure>}
      </Card>
    </SimpleGrid>
  );
}

/** Looks up the browsers of one user id, and removes them. */
function FindUser() {
  const { client, may, ask } = useSession();
  const [userId, setUserId] = useState('');
  const input = useRef<HTMLInputElement>(null);

  const lookUp = useMutation({ mutationFn: (wanted: string) => client.user(wanted) });
  const remove = useMutation({
    mutationFn: async ({ userId, device }: { userId: string; device: string | undefined }) => {
      const { removed } = await (device
        ? client.removeDevice(userId, device)
        : client.removeUser(userId));
      return `Removed ${countOf(removed, 'browser')} of ${userId}.`;
    },
    // The pressed button is gone.
    onSuccess: () => input.current!.focus(),
    // Also after a lost response.
    onSettled: (_, __, { userId }) => lookUp.mutate(userId),
  });
  const found = lookUp.data;

  function submit() {
    lookUp.reset();
    remove.reset();
    if (userId === '') input.current!.focus();
    else lookUp.mutate(userId);
  }
  /** @param device the id of one browser. Default: all of them. */
  function askToRemove({ userId, subscriptions }: UserSubscriptions, device?: string) {
    const count = device ? 1 : subscriptions;
    ask({
      title: `Remove ${countOf(count, 'browser')} of ${userId}?`,
      text: `${count === 1 ? 'It gets' : 'They get'} no more notifications, until the person subscribes again.`,
      confirm: 'Remove',
      isDangerous: true,
      onConfirm: () => remove.mutate({ userId: userId!, device }),
    });
  }
  return (
    <Card title="Find a user">
      <form noValidate onSubmit={submitting(submit)}>
        <Group align="start" gap="xs" maw={480}>
          <TextInput
            ref={input}
            aria-label="User id"
            placeholder="User id"
            flex={1}
            value={userId}
            onChange={(event) => setUserId(event.currentTarget.value)}
            maxLength={limits.userIdLength}
          />
          <Button type="submit" variant="default" loading={lookUp.isPending}>
            Find
          </Button>
        </Group>
      </form>
      <Problem error={lookUp.error ?? remove.error} />
      <div role="status" id="user">
        <Text>{remove.data}</Text>
        {found ? (
          <Text>
            <bdi>{found.userId}</bdi> has {countOf(found.subscriptions, 'browser')}.
          </Text>
        ) : (
          <Hint>
            Enter the id that your site gives a visitor. You see each browser
            {may('removeUser') && ', and can remove it'}.
          </Hint>
        )}
      </div>
      {found !== undefined && found.devices.length > 0 && (
        <ul id="devices">
          {found.devices.map(({ id, pushService, createdAt, updatedAt }, index) => (
            <Row key={id}>
              <div>
                <Text fw={500}>{pushServiceText(pushService)}</Text>
                <Hint>
                  Since <Time at={createdAt} /> · Last visit: <Time at={updatedAt} />
                </Hint>
              </div>
              {may('removeUser') && (
                <Button
                  variant="subtle"
                  color="bad"
                  aria-label={`Remove browser ${index + 1}`}
                  onClick={() => askToRemove(found, id)}
                >
                  Remove
                </Button>
              )}
            </Row>
          ))}
        </ul>
      )}
      {may('removeUser') && found !== undefined && found.subscriptions > 0 && (
        <Button variant="subtle" color="bad" mr="auto" onClick={() => askToRemove(found)}>
          Remove all
        </Button>
      )}
    </Card>
  );
}
