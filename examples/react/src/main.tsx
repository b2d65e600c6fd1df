import {
  type CarillonClient,
  type CarillonError,
  type CarillonOptions,
  init,
  type UnsupportedReason,
} from 'carillon';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { usePush } from './use-push.ts';

/** baseUrl, projectId and applicationServerKey, from the API key card. */
declare const CONFIG: CarillonOptions;

const client = init(CONFIG);

const reasons: Record<UnsupportedReason, string> = {
  no_origin: 'Open this page at its https address.',
  insecure_context: 'Notifications need https.',
  embedded: 'Open this page in its own tab to get notifications.',
  storage_denied: 'Allow cookies for this site to get notifications.',
  ios_not_installed: 'Add this site to your home screen to get notifications.',
  no_push: 'This browser has no notifications.',
};

function PushSettings({ push }: { readonly push: CarillonClient }) {
  const state = usePush(push);
  const [error, setError] = useState('');
  const [shown, setShown] = useState(0);
  useEffect(() => push.on('shown', () => setShown((count) => count + 1)), [push]);

  if (state === undefined) return null;
  if (state.reason !== undefined) return <p>{reasons[state.reason]}</p>;
  if (state.permission === 'denied') return <p>Notifications are blocked in your browser.</p>;

  function toggle() {
    setError('');
    const change = state?.subscribed ? push.unsubscribe() : push.subscribe({ userId: 'ada' });
    change.catch(({ message }: CarillonError) => setError(message));
  }

  return (
    <>
      <button type="button" aria-pressed={state.subscribed} onClick={toggle}>
        Notifications
      </button>
      <p>{state.subscribed ? `Subscribed as ${state.userId}` : 'Not subscribed'}</p>
      <p>Shown: {shown}</p>
      <p role="alert">{error}</p>
    </>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <PushSettings push={client} />
  </StrictMode>,
);
