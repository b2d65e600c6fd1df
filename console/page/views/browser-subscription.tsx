import { Badge, Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { limits } from '../../../contract/limits.ts';
import type { CarillonClient } from '../../../sdk/client/carillon.ts';
import { Facts } from '../components/facts.tsx';
import { Problem } from '../components/problem.tsx';

type State = 'unsupported' | 'denied' | 'unsubscribed' | 'subscribed';

const states: Readonly<Record<State, readonly [status: string, lead: string]>> = {
  unsupported: [
    'Not supported',
    'This browser does not support push on this page. On iOS, add the page to the home screen first; elsewhere, use https or localhost.',
  ],
  denied: ['Blocked', 'Notifications of this site are blocked in the settings of the browser.'],
  unsubscribed: ['Not subscribed', 'Subscribe this browser, then send a notification.'],
  subscribed: ['Subscribed', 'This browser receives what the project sends.'],
};

const waitTexts = {
  permission: 'Waiting for your decision: allow or block notifications.',
  pushService: 'Waiting for the browser’s push service and for Carillon, 45 s at most.',
  service: 'Waiting for Carillon, 15 s at most.',
} as const;
type Waiting = keyof typeof waitTexts;

interface BrowserSubscriptionProps {
  readonly push: CarillonClient;
  /** Called after each attempt to change it. */
  readonly onAttempt: () => void;
}

/** The subscription of this browser, and the buttons that change it. */
export function BrowserSubscription({ push, onAttempt }: BrowserSubscriptionProps) {
  const [state, setState] = useState<State>();
  const [subscription, setSubscription] = useState<PushSubscription | null>(null);
  const [waiting, setWaiting] = useState<Waiting>();
  const [userId, setUserId] = useState('');

  async function read() {
    const [current, permission] = await Promise.all([push.subscription(), push.permission()]);
    setSubscription(current);
    const other =
      permission === 'unsupported' || permission === 'denied' ? permission : 'unsubscribed';
    setState(current === null ? other : 'subscribed');
  }

  useEffect(() => {
    push.state().then(({ userId: stored = '' }) =>
      // What is typed by then is kept.
      setUserId((typed) => typed || stored),
    );
    void read();
    // And again after init() has registered the browser.
    void push.ready.then(read);
    const onVisible = () => void read();
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, [push]);

  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ first, work }: { first: Waiting; work: () => Promise<unknown> }) => {
      setWaiting(first);
      return work();
    },
    onSettled: async () => {
      setWaiting(undefined);
      await read();
      onAttempt();
    },
  });
  const change = (first: Waiting, work: () => Promise<unknown>) => {
    if (!isPending) mutate({ first, work });
  };
  const subscribe = async () => {
    const permission = await navigator.permissions.query({ name: 'notifications' });
    permission.onchange = () => setWaiting('pushService');
    await push.subscribe(userId ? { userId } : {});
  };

  const [status, lead] = states[state ?? 'unsubscribed'];
  const { endpoint = '', keys = {} } = subscription?.toJSON() ?? {};
  return (
    <>
      <Badge
        size="lg"
        tt="none"
        color={state === 'subscribed' ? 'green.9' : 'gray.8'}
        id="browser-status"
        data-state={state}
      >
        {state === undefined ? '…' : status}
      </Badge>
      <Text role="status" id="browser-lead" data-waiting={waiting}>
        {waiting === undefined ? lead : waitTexts[waiting]}
      </Text>
      <TextInput
        label="User id"
        description={`Optional: for sends to some users. At most ${limits.userIdLength} characters.`}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={limits.userIdLength}
        maw={480}
        value={userId}
        onChange={(event) => setUserId(event.currentTarget.value)}
      />
      <Group>
        {/* One button, so that it keeps the focus when it has changed the state. */}
        <Button
          variant={subscription === null ? 'filled' : 'default'}
          id={subscription === null ? 'subscribe' : 'unsubscribe'}
          disabled={!push.supported || state === undefined}
          aria-disabled={isPending}
          onClick={() => {
            if (subscription !== null) change('service', () => push.unsubscribe());
            else if (Notification.permission === 'default') change('permission', subscribe);
            else change('pushService', subscribe);
          }}
        >
          {subscription === null ? 'Subscribe' : 'Unsubscribe'}
        </Button>
        {subscription !== null && (
          <Button
            variant="default"
            id="identify"
            aria-disabled={isPending}
            onClick={() => change('service', () => push.identify(userId || null))}
          >
            Change user
          </Button>
        )}
      </Group>
      <Problem error={error} />
      {subscription !== null && (
        <Facts
          facts={Object.entries({ endpoint, ...keys }).map(([name, value]) => [name, value])}
        />
      )}
    </>
  );
}
