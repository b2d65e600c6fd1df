import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleSettings } from '../settings.ts';
import { projectClient } from './calls/project-client.ts';
import { Frame } from './frame.tsx';
import { type Place, placeOf } from './routing/place.ts';
import { firstForm, type SendForm } from './send/send-form.ts';
import { SendView } from './send/send-view.tsx';
import { type Session, SessionContext } from './session.ts';
import { BrowserView } from './views/browser.tsx';
import { NotificationView } from './views/notification.tsx';
import { NotificationsView } from './views/notifications.tsx';
import { OverviewView } from './views/overview.tsx';
import { ProjectsView } from './views/projects.tsx';
import { UsersView } from './views/users.tsx';

/** The whole page. */
export function Console({ settings }: { readonly settings: ConsoleSettings }) {
  const place = usePlace();
  const projectId = place.view === 'projects' ? undefined : place.projectId;
  // Maps: a project may be called `constructor`.
  const [keys, setKeys] = useState<ReadonlyMap<string, string>>(() => knownKeys(settings));
  const [drafts, setDrafts] = useState<ReadonlyMap<string, SendForm>>(new Map());
  const secretKey = projectId === undefined ? undefined : keys.get(projectId);
  // One client for a key: views load again when it changes.
  const client = useMemo(
    () =>
      projectId !== undefined && secretKey !== undefined
        ? projectClient(projectId, secretKey)
        : undefined,
    [projectId, secretKey],
  );

  function connect(id: string, key: string) {
    setKeys(new Map(keys).set(id, key));
    // A reload keeps the view that the URL named.
    if (projectId !== id) location.hash = `#/projects/${id}`;
  }

  if (client === undefined) {
    return (
      <Frame settings={settings} place={place} isOpen={false}>
        <ProjectsView key={projectId} settings={settings} wanted={projectId} onConnect={connect} />
      </Frame>
    );
  }
  const draftIn = (all: typeof drafts) => all.get(client.projectId) ?? firstForm(settings);
  const session: Session = {
    settings,
    client,
    draft: draftIn(drafts),
    setDraft: (change) =>
      setDrafts((all) => new Map(all).set(client.projectId, change(draftIn(all)))),
  };
  return (
    <SessionContext.Provider value={session}>
      <Frame settings={settings} place={place} isOpen={true}>
        <ViewOf key={JSON.stringify(place)} place={place} local={settings.local} />
      </Frame>
    </SessionContext.Provider>
  );
}

/** The current place. It changes with the URL's fragment: by links, and by the browser's history. */
function usePlace(): Place {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const read = () => setFragment(location.hash);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return placeOf(fragment);
}

function ViewOf({ place, local }: { readonly place: Place; readonly local: boolean }) {
  if (place.view === 'send') return <SendView />;
  if (place.view === 'notifications') return <NotificationsView />;
  if (place.view === 'notification') {
    return <NotificationView notificationId={place.notificationId} />;
  }
  if (place.view === 'users') return <UsersView />;
  if (place.view === 'browser' && local) return <BrowserView />;
  return <OverviewView />;
}

/** The keys stay in memory: never in storage, cookies or the URL. */
function knownKeys({ projects }: ConsoleSettings): ReadonlyMap<string, string> {
  return new Map(
    projects.flatMap(({ projectId, secretKey }) =>
      secretKey === undefined ? [] : [[projectId, secretKey] as const],
    ),
  );
}
