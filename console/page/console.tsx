import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { CarillonError } from '../../sdk/common/error.ts';
import type { LocalSession } from '../local-stack.ts';
import { projectClient } from './calls/project-client.ts';
import { Boundary } from './components/boundary.tsx';
import { Frame } from './frame.tsx';
import { fragmentOf, type Place, placeOf } from './routing/place.ts';
import { firstForm, type SendForm } from './send/send-form.ts';
import { SendView } from './send/send-view.tsx';
import { isOffered, type Session, SessionContext, type SignedIn } from './session.ts';
import { LocalView } from './views/local.tsx';
import { NotificationView } from './views/notification.tsx';
import { NotificationsView } from './views/notifications.tsx';
import { OverviewView } from './views/overview.tsx';
import { SignIn } from './views/sign-in.tsx';
import { UsersView } from './views/users.tsx';

/** The whole page. @param local the demo project, if `npm start` serves the page. */
export function Console({ local }: { readonly local: LocalSession | undefined }) {
  const place = usePlace();
  const [signedIn, setSignedIn] = useState<SignedIn | undefined>(() => demoIn(local, place));
  const [isExpired, setExpired] = useState(false);
  if (signedIn === undefined) {
    return (
      <SignIn
        projectId={place?.projectId}
        isExpired={isExpired}
        onSignIn={(session) => {
          setExpired(false);
          setSignedIn(session);
        }}
      />
    );
  }
  return (
    <SignedInConsole
      key={signedIn.key}
      signedIn={signedIn}
      isLocal={local !== undefined}
      place={place}
      onSignOut={(expired) => {
        setExpired(expired);
        setSignedIn(undefined);
      }}
    />
  );
}

/** The first page of `npm start` is signed in to the demo project; other projects ask for their key. */
function demoIn(local: LocalSession | undefined, place: Place | undefined): SignedIn | undefined {
  if (local === undefined || (place !== undefined && place.projectId !== local.projectId)) {
    return undefined;
  }
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
  const client = useMemo(() => projectClient(projectId, key), [projectId, key]);
  const [queries] = useState(() => queryClient(() => onSignOut(true)));
  const session: Session = { ...signedIn, client, isLocal, draft, setDraft };
  const shown: Place =
    place?.projectId === projectId && isOffered(place, session)
      ? place
      : { view: 'overview', projectId };
  useEffect(() => {
    if (shown !== place) history.replaceState(null, '', fragmentOf(shown));
  });
  return (
    <QueryClientProvider client={queries}>
      <SessionContext.Provider value={session}>
        <Frame place={shown} onSignOut={() => onSignOut(false)}>
          <Boundary key={fragmentOf(shown)}>
            <ViewOf place={shown} />
          </Boundary>
        </Frame>
      </SessionContext.Provider>
    </QueryClientProvider>
  );
}

function ViewOf({ place }: { readonly place: Place }) {
  if (place.view === 'send') return <SendView />;
  if (place.view === 'notifications') return <NotificationsView />;
  if (place.view === 'notification') return <NotificationView id={place.notificationId} />;
  if (place.view === 'users') return <UsersView />;
  return place.view === 'local' ? <LocalView /> : <OverviewView />;
}

/** The current place. It changes with the URL's fragment: by links, and by the browser's history. */
function usePlace(): Place | undefined {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const read = () => setFragment(location.hash);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return useMemo(() => placeOf(fragment), [fragment]);
}

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
