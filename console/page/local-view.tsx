import { Anchor, Badge, Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { limits } from '../../contract/wire/limits.ts';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { attempt, bodyOrThrow } from '../../sdk/server/attempt.ts';
import type { ProjectClient } from '../../sdk/server/project-client.ts';
import { type LocalSession, localPaths } from '../local-stack.ts';
import { useProject } from './calls.ts';
import { useSession } from './session.ts';
import { Card, Disclosure, LinkButton, Problem, View } from './view.tsx';

/** Not bundled: the page tests the files that sites use. */
const files = { sdk: '/carillon.mjs', check: '/carillon-check.mjs' };

/** How to get a first notification on this machine: what only `npm start` has. */
export function LocalView() {
  const { client, href } = useSession();
  const sdk = useQuery({ queryKey: ['sdk'], queryFn: () => startSdk(client), staleTime: Infinity });
  const results = useRef<HTMLDivElement>(null);
  const check = useMutation({
    mutationFn: async () => {
      const file: typeof import('../../sdk/check/carillon-check.ts') = await import(
        /* @vite-ignore */ files.check
      );
      await file.showCheck(results.current!, sdk.data!.options);
    },
  });
  const checkAgain = () => results.current!.hasChildNodes() && check.mutate();
  return (
    <View title="Local stack">
      <Stack>
        <Card title="1. Subscribe this browser">
          <Problem error={sdk.error ?? check.error} onRetry={() => void sdk.refetch()} />
          {sdk.data && <BrowserSubscription push={sdk.data.push} onAttempt={checkAgain} />}
          <Group>
            <Anchor component="button" disabled={!sdk.data} onClick={() => check.mutate()}>
              Nothing arrives? Check this browser
            </Anchor>
          </Group>
          <div ref={results} />
        </Card>
        <SimulatedBrowsers />
        <Card title="3. Send a notification">
          <Text c="dimmed">To all of them, or as a test to this browser only.</Text>
          <LinkButton href={href('send')}>New notification</LinkButton>
        </Card>
      </Stack>
    </View>
  );
}

const states = {
  unsupported: [
    'Not supported',
    'This browser does not support push on this page. On iOS, add the page to the home screen first; elsewhere, use https or localhost.',
  ],
  denied: ['Blocked', 'Notifications of this site are blocked in the settings of the browser.'],
  unsubscribed: ['Not subscribed', 'It receives nothing yet.'],
  subscribed: ['Subscribed', 'This browser receives what the project sends.'],
} as const;

/** The subscription of this browser, and the buttons that change it. @param onAttempt after each attempt. */
function BrowserSubscription({ push, onAttempt }: { push: CarillonClient; onAttempt: () => void }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<string>();
  const { data, refetch } = useQuery({
    queryKey: ['browser'],
    queryFn: async () => ({ ...(await push.state()), subscription: await push.subscription() }),
  });
  // And again after init() has registered the browser.
  useEffect(() => void push.ready.then(() => refetch()), [push]);
  const { subscription = null, permission } = data ?? {};
  const userId = typed ?? data?.userId ?? '';

  const { mutate, isPending, error } = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSettled: async () => {
      await refetch();
      onAttempt();
      await queries.invalidateQueries({ queryKey: ['project'] });
    },
  });
  const change = (work: () => Promise<unknown>) => {
    if (isPending) return;
    // Also without a subscription, which had it.
    setTyped(userId);
    mutate(work);
  };
  const isSubscribed = subscription !== null;
  const toggle = () =>
    isSubscribed ? push.unsubscribe() : push.subscribe(userId ? { userId } : {});
  const identify = () => push.identify(userId || null);
  const isRefused = permission === 'unsupported' || permission === 'denied';
  const [status, lead] =
    states[isSubscribed ? 'subscribed' : isRefused ? permission : 'unsubscribed'];
  return (
    <>
      <Group gap="sm">
        <Badge color={isSubscribed ? 'good' : 'neutral'} id="browser-status">
          {data === undefined ? '…' : status}
        </Badge>
        <Text role="status" id="browser-lead" c="dimmed">
          {isPending ? 'Allow notifications if the browser asks. It takes 45 s at most.' : lead}
        </Text>
      </Group>
      <Group>
        {/* One button, so that it keeps the focus when it has changed the state. */}
        <Button
          variant={isSubscribed ? 'default' : 'filled'}
          disabled={!push.supported || data === undefined}
          aria-disabled={isPending}
          onClick={() => change(toggle)}
        >
          {isSubscribed ? 'Unsubscribe' : 'Subscribe'}
        </Button>
      </Group>
      <Problem error={error} />
      <Disclosure title="Add a user id" hint={userId}>
        <Group align="end" gap="xs" mt="xs" maw={480}>
          <TextInput
            label="User id"
            description={`For sends to certain users. At most ${limits.userIdLength} characters.`}
            maxLength={limits.userIdLength}
            flex="1 1 12rem"
            value={userId}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          {isSubscribed && (
            <Button variant="default" aria-disabled={isPending} onClick={() => change(identify)}>
              Change user
            </Button>
          )}
        </Group>
      </Disclosure>
    </>
  );
}

const total = 500;

/** Added by one request. The progress is shown after each. */
const browsersPerRequest = 25;

/** The button that subscribes simulated browsers of the local push service. */
function SimulatedBrowsers() {
  const { projectId } = useSession();
  const { data: project } = useProject();
  const queries = useQueryClient();
  const [added, setAdded] = useState(0);
  const add = useMutation({
    mutationFn: async () => {
      const { applicationServerKey } = project!;
      const query = { projectId, applicationServerKey, count: String(browsersPerRequest) };
      const path = `${localPaths.simulatedBrowsers}?${new URLSearchParams(query)}`;
      for (let done = 0; done < total; done += browsersPerRequest) {
        setAdded(done);
        bodyOrThrow(await attempt(new URL(path, location.origin), { method: 'POST' }));
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project'] }),
  });
  const subscribe = () => add.mutate();
  return (
    <Card title="2. Or add simulated browsers">
      <Text c="dimmed">
        They subscribe through the API. Most of them show a notification within seconds, and some
        click it.
      </Text>
      <Group>
        <Button variant="default" loading={add.isPending} disabled={!project} onClick={subscribe}>
          Add {total} simulated browsers
        </Button>
      </Group>
      {add.isPending && (
        <Progress value={(100 * added) / total} aria-label={`${added} of ${total} subscribed`} />
      )}
      <Text role="status" id="added">
        {add.isSuccess && `Added ${total} browsers.`}
      </Text>
      <Problem error={add.error} />
    </Card>
  );
}

/** The demo project, if `npm start` serves this page. A deployed service never has these hosts. */
export async function localSession(): Promise<LocalSession | undefined> {
  if (!['localhost', '127.0.0.1'].includes(location.hostname)) return undefined;
  const response = await fetch(localPaths.session, { cache: 'no-store' }).catch(() => undefined);
  return response?.ok ? response.json() : undefined;
}

/** The SDK for a project, and the options that it was started with. */
async function startSdk(client: ProjectClient) {
  const [{ init }, { applicationServerKey }] = await Promise.all([
    import(/* @vite-ignore */ files.sdk) as Promise<typeof import('../../sdk/client/carillon.ts')>,
    client.project(),
  ]);
  const { projectId } = client;
  const options = { baseUrl: location.origin, projectId, applicationServerKey };
  return { push: init(options), options };
}

/**
 * Subscribes this browser, also if the service has lost its subscription.
 * @returns a user id that no other browser has.
 */
export async function subscribedUserId(client: ProjectClient): Promise<string> {
  const { push } = await startSdk(client);
  const stored = (await push.state()).userId;
  const userId = stored ?? `console-${crypto.randomUUID()}`;
  await push.subscribe(stored === undefined ? { userId } : {});
  const { subscriptions } = await client.user(userId);
  if (subscriptions > 1) {
    throw new Error(
      `${subscriptions} browsers have the user id ${userId}: all of them would get the test. Give this browser another user id under “Local stack”.`,
    );
  }
  return userId;
}
