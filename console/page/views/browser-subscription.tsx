import { useEffect, useState } from 'preact/hooks';
import { limits } from '../../../contract/limits.ts';
import type { CarillonClient } from '../../../sdk/client/carillon.ts';
import { readRegistration } from '../../../sdk/common/storage.ts';
import { withLock } from '../../../sdk/common/with-lock.ts';
import { useAction } from '../calls/use-action.ts';
import { Field } from '../components/field.tsx';
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

interface BrowserSubscriptionProps {
  readonly push: CarillonClient;
  /** Called after each attempt to change it. */
  readonly onAttempt: () => void;
}

/** The subscription of this browser, and the buttons that change it. */
export function BrowserSubscription({ push, onAttempt }: BrowserSubscriptionProps) {
  const [state, setState] = useState<State>();
  const [subscription, setSubscription] = useState<PushSubscription | null>(null);
  const [waiting, setWaiting] = useState<keyof typeof waitTexts>();
  const [userId, setUserId] = useState('');

  async function read() {
    const [current, permission] = await Promise.all([push.subscription(), push.permission()]);
    setSubscription(current);
    const other =
      permission === 'unsupported' || permission === 'denied' ? permission : 'unsubscribed';
    setState(current === null ? other : 'subscribed');
  }

  useEffect(() => {
    readRegistration(`${location.origin}/`).then((stored) =>
      // What is typed by then is kept.
      setUserId((typed) => typed || (stored?.userId ?? '')),
    );
    void read();
    // And again after init() has registered the browser: the SDK's lock runs its tasks in order.
    void withLock(read);
    const onVisible = () => void read();
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, [push]);

  const change = useAction(async (first: keyof typeof waitTexts, work: () => Promise<unknown>) => {
    setWaiting(first);
    try {
      await work();
    } finally {
      setWaiting(undefined);
      await read();
      onAttempt();
    }
  });
  const subscribe = async () => {
    const permission = await navigator.permissions.query({ name: 'notifications' });
    permission.onchange = () => setWaiting('pushService');
    await push.subscribe(userId ? { userId } : {});
  };

  const [status, lead] = states[state ?? 'unsubscribed'];
  const { endpoint, keys = {} } = subscription?.toJSON() ?? {};
  return (
    <>
      <h2 class="status" data-state={state} id="browser-status">
        {state === undefined ? '…' : status}
      </h2>
      <p role="status" class="lead" id="browser-lead" data-waiting={waiting}>
        {waiting === undefined ? lead : waitTexts[waiting]}
      </p>
      <Field
        id="browser-user-id"
        label="User id"
        hint={`Optional: for sends to some users. At most ${limits.userIdLength} characters.`}
      >
        {(attributes) => (
          <input
            {...attributes}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxLength={limits.userIdLength}
            value={userId}
            onInput={(event) => setUserId(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="buttons">
        {/* One button, so that it keeps the focus when it has changed the state. */}
        <button
          type="button"
          class={subscription === null ? 'primary' : ''}
          id={subscription === null ? 'subscribe' : 'unsubscribe'}
          disabled={!push.supported || state === undefined}
          aria-disabled={change.isRunning}
          onClick={() => {
            if (subscription !== null) change.run('service', () => push.unsubscribe());
            else if (Notification.permission === 'default') change.run('permission', subscribe);
            else change.run('pushService', subscribe);
          }}
        >
          {subscription === null ? 'Subscribe' : 'Unsubscribe'}
        </button>
        {subscription !== null && (
          <button
            type="button"
            id="identify"
            aria-disabled={change.isRunning}
            onClick={() => change.run('service', () => push.identify(userId || null))}
          >
            Change user
          </button>
        )}
      </div>
      <Problem error={change.error} />
      {subscription !== null && (
        <dl class="facts">
          {Object.entries({ endpoint, ...keys }).map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>
                <code id={name}>{value}</code>
              </dd>
            </>
          ))}
        </dl>
      )}
    </>
  );
}
