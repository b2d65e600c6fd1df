import { useWindowEvent } from '@mantine/hooks';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, useEffect, useMemo, useRef, useState } from 'react';
import { includes, routes } from '../../contract/wire/routes.ts';
import { CarillonError } from '../../sdk/common/error.ts';
import type { LocalSession } from '../local-stack.ts';
import { AudienceView } from './audience-view.tsx';
import { projectClient } from './calls.ts';
import { Frame } from './frame.tsx';
import { LocalView } from './local-view.tsx';
import { NotificationView } from './notification-view.tsx';
import { NotificationsView } from './notifications-view.tsx';
import { OverviewView } from './overview-view.tsx';
import { fragmentOf, type Place, placeOf } from './place.ts';
import { lossText, useDraft } from './send/draft.ts';
import { SendView } from './send/send-view.tsx';
import {
  isOffered,
  type Question,
  type Session,
  SessionContext,
  type SignedIn,
} from './session.ts';
import { SettingsView } from './settings-view.tsx';
import { SignIn } from './sign-in.tsx';
import { Boundary, Dialog } from './view.tsx';

/** The whole page. @param local the demo project, if `npm start` serves the page. */
export function Console({ local }: { local: LocalSession | undefined }) {
  const [signedIn, setSignedIn] = useState(() => demoIn(local));
  const [isExpired, setExpired] = useState(false);
  if (signedIn === undefined) return <SignIn isExpired={isExpired} onSignIn={setSignedIn} />;
  return (
    <SignedInConsole
      key={signedIn.key}
      signedIn={signedIn}
      isLocal={local !== undefined}
      onSignOut={(expired) => {
        setExpired(expired);
        setSignedIn(undefined);
      }}
    />
  );
}

/** The first page of `npm start` is signed in to the demo project; other projects ask for their key. */
function demoIn(local: LocalSession | undefined): SignedIn | undefined {
  if (local === undefined) return undefined;
  const { projectId = local.projectId } = placeOf(location.hash) ?? {};
  if (projectId !== local.projectId) return undefined;
  return { projectId: local.projectId, key: local.secretKey, access: { role: 'owner' } };
}

interface SignedInProps {
  readonly signedIn: SignedIn;
  readonly isLocal: boolean;
  readonly onSignOut: (isExpired: boolean) => void;
}

function SignedInConsole({ signedIn, isLocal, onSignOut }: SignedInProps) {
  const { projectId, key, access } = signedIn;
  // The URL's fragment: it changes by links, and by the browser's history.
  const [fragment, setFragment] = useState(location.hash);
  const replacePlace = (to: Place) => {
    history.replaceState(history.state, '', fragmentOf(to));
    setFragment(location.hash);
  };
  const [testUserId, setTestUserId] = useState<string>();
  const client = useMemo(() => projectClient(projectId, key), [projectId, key]);
  const [queries] = useState(() => queryClient(() => onSignOut(true)));
  // By itself it does so only when the tab was hidden.
  useWindowEvent('focus', () => void queries.refetchQueries({ type: 'active', stale: true }));
  const href: Session['href'] = (view, notificationId) =>
    fragmentOf({ projectId, view, notificationId });
  const onSent = (notificationId: string) => {
    // Who has gone on to another view stays there.
    if (placeOf(location.hash)?.view === 'send')
      location.hash = href('notification', notificationId);
  };
  const owner = JSON.stringify([projectId, access.role === 'owner' ? access.role : [access.name]]);
  const writing = useDraft({ owner, key, client, isLocal, queries, onSent });
  useWindowEvent('beforeunload', (event) => {
    if (!writing.isUntouched) event.preventDefault();
  });
  const [question, ask] = useState<Question>();
  useWindowEvent('hashchange', () => {
    setFragment(location.hash);
    // What it was about is gone.
    ask(undefined);
  });
  const guardDraft: Session['guardDraft'] = (title, confirm, lose) => {
    if (writing.isUntouched) lose();
    else ask({ title, text: lossText(writing.draft), confirm, isDangerous: true, onConfirm: lose });
  };
  const may: Session['may'] = (route) => includes(access.role, routes[route].role);
  const wanted = placeOf(fragment);
  const isShown = wanted?.projectId === projectId && isOffered(wanted.view, { may, isLocal });
  const place: Place = isShown ? wanted : { view: 'overview', projectId };
  useEffect(() => {
    if (place !== wanted) replacePlace(place);
  });
  const list = useRef<Place>({ view: 'notifications', projectId });
  if (place.view === 'notifications') list.current = place;
  const session: Session = {
    ...signedIn,
    client,
    isLocal,
    ask,
    guardDraft,
    signOut: () =>
      guardDraft('Sign out?', 'Sign out', () => {
        writing.erase();
        onSignOut(false);
      }),
    place,
    replacePlace,
    href,
    listHref: fragmentOf(list.current),
    may,
    writing,
    testUserId,
    setTestUserId,
  };
  const View = views[place.view];
  return (
    <QueryClientProvider client={queries}>
      <SessionContext.Provider value={session}>
        <Frame>
          <Boundary key={place.notificationId ?? place.view}>
            <View />
          </Boundary>
        </Frame>
        <Dialog question={question} />
      </SessionContext.Provider>
    </QueryClientProvider>
  );
}

const views: Readonly<Record<Place['view'], ComponentType>> = {
  overview: OverviewView,
  notifications: NotificationsView,
  notification: NotificationView,
  audience: AudienceView,
  settings: SettingsView,
  local: LocalView,
  send: SendView,
};

/** One for each sign-in, so that nobody sees what another key has loaded. */
function queryClient(onRefused: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof CarillonError && error.code === 'unauthorized') onRefused();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    // A person sees what failed, and decides. A browser that is offline tells so at once.
    defaultOptions: {
      queries: { retry: false, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });
}
