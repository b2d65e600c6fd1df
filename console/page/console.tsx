import { useHash } from '@mantine/hooks';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, useEffect, useMemo, useState } from 'react';
import { CarillonError } from '../../sdk/common/error.ts';
import type { LocalSession } from '../local-stack.ts';
import { AudienceView } from './audience-view.tsx';
import { projectClient } from './calls.ts';
import { Frame } from './frame.tsx';
import { LocalView } from './local-view.tsx';
import { NotificationView } from './notification-view.tsx';
import { NotificationsView } from './notifications-view.tsx';
import { OverviewView } from './overview-view.tsx';
import { fragmentOf, type Place, placeOf, type ViewName } from './place.ts';
import { firstForm, type SendForm } from './send/send-form.ts';
import { SendView } from './send/send-view.tsx';
import { isOffered, rightsOf, type Session, SessionContext, type SignedIn } from './session.ts';
import { SettingsView } from './settings-view.tsx';
import { SignIn } from './sign-in.tsx';
import { Boundary } from './view.tsx';

/** The whole page. @param local the demo project, if `npm start` serves the page. */
export function Console({ local }: { local: LocalSession | undefined }) {
  // The URL's fragment: it changes by links, and by the browser's history.
  const [fragment] = useHash({ getInitialValueInEffect: false });
  const place = placeOf(fragment);
  const [signedIn, setSignedIn] = useState<SignedIn | undefined>(() => demoIn(local, place));
  const [isExpired, setExpired] = useState(false);
  const change = (session: SignedIn | undefined, expired = false) => {
    setExpired(expired);
    setSignedIn(session);
  };
  if (signedIn === undefined)
    return <SignIn projectId={place?.projectId} isExpired={isExpired} onSignIn={change} />;
  return (
    <SignedInConsole
      key={signedIn.key}
      signedIn={signedIn}
      isLocal={local !== undefined}
      place={place}
      onSignOut={(expired) => change(undefined, expired)}
    />
  );
}

/** The first page of `npm start` is signed in to the demo project; other projects ask for their key. */
function demoIn(local: LocalSession | undefined, place: Place | undefined): SignedIn | undefined {
  if (local === undefined || (place !== undefined && place.projectId !== local.projectId))
    return undefined;
  return { projectId: local.projectId, key: local.secretKey, access: { role: 'owner' } };
}

interface SignedInProps {
  readonly signedIn: SignedIn;
  readonly isLocal: boolean;
  readonly place: Place | undefined;
  readonly onSignOut: (isExpired: boolean) => void;
}

function SignedInConsole({ signedIn, isLocal, place, onSignOut }: SignedInProps) {
  const { projectId, key } = signedIn;
  const [draft, setDraft] = useState<SendForm>(() => firstForm(isLocal));
  const [testUserId, setTestUserId] = useState<string>();
  const client = useMemo(() => projectClient(projectId, key), [projectId, key]);
  const [queries] = useState(() => queryClient(() => onSignOut(true)));
  const session: Session = {
    ...signedIn,
    client,
    isLocal,
    signOut: () => onSignOut(false),
    href: (to) =>
      fragmentOf({
        projectId,
        ...(typeof to === 'string' ? { view: to } : { view: 'notification', ...to }),
      }),
    may: rightsOf(signedIn.access),
    draft,
    change: (changes) => setDraft((current) => ({ ...current, ...changes })),
    testUserId,
    setTestUserId,
  };
  const isShown = place?.projectId === projectId && isOffered(place, session);
  const shown: Place = isShown ? place : { view: 'overview', projectId };
  useEffect(() => {
    if (shown !== place) history.replaceState(null, '', fragmentOf(shown));
  });
  const View = shown.view === 'notification' ? null : views[shown.view];
  return (
    <QueryClientProvider client={queries}>
      <SessionContext.Provider value={session}>
        <Frame place={shown}>
          <Boundary key={fragmentOf(shown)}>
            {shown.view === 'notification' && <NotificationView id={shown.notificationId} />}
            {View && <View />}
          </Boundary>
        </Frame>
      </SessionContext.Provider>
    </QueryClientProvider>
  );
}

const views: Readonly<Record<ViewName, ComponentType>> = {
  overview: OverviewView,
  notifications: NotificationsView,
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
