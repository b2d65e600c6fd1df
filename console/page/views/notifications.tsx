import { useLayoutEffect, useState } from 'preact/hooks';
import { limits } from '../../../contract/limits.ts';
import { type NotificationPages, useNotificationPages } from '../calls/use-notification-pages.ts';
import { Field } from '../components/field.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { countOf } from '../format.ts';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { NotificationRows } from './notification-rows.tsx';
import { idIn, matching, searchText } from './notification-search.ts';

/** The project's notifications, the newest first, page by page, and a search in them. */
export function NotificationsView() {
  const { client } = useSession();
  const pages = useNotificationPages(client, limits.page);
  const [search, setSearch] = useState('');
  const { loaded, isLoading } = pages;
  const isSearching = search.trim() !== '';
  const hasOlder = loaded?.nextCursor !== undefined;
  const found = loaded && matching(loaded.notifications, search);
  return (
    <View
      title="Notifications"
      projectId={client.projectId}
      actions={
        <button type="button" onClick={pages.reload} aria-disabled={isLoading}>
          Refresh
        </button>
      }
    >
      <section class="card" aria-label="Notifications, the newest first">
        <search>
          {' '}
          <form
            class="search"
            onSubmit={(event) => {
              event.preventDefault();
              if (isLoading) pages.stop();
              else if (isSearching) pages.loadAll();
            }}
          >
            <Field id="search" label="Search titles, texts and ids">
              {(attributes) => (
                <input
                  {...attributes}
                  type="search"
                  autocomplete="off"
                  spellcheck={false}
                  value={search}
                  onInput={(event) => setSearch(event.currentTarget.value)}
                />
              )}
            </Field>
            {isSearching && (
              <button type="submit" aria-disabled={!hasOlder && !isLoading}>
                {isLoading ? 'Stop' : 'Search older ones'}
              </button>
            )}
          </form>
        </search>
        <p role="status" class="hint" id="searched">
          {isSearching && loaded !== undefined && (
            <>
              {isLoading && 'Searching. '}
              {searchText(found!.length, loaded)}
            </>
          )}
        </p>
        <OpenById search={search} found={found?.length ?? 0} />
        <Problem error={pages.error} />
        {found !== undefined && (found.length > 0 || !isSearching) && (
          <NotificationRows notifications={found} />
        )}
        {!isSearching && <LoadOlder pages={pages} />}
      </section>
    </View>
  );
}

/** Offers the notification whose id was searched for, if it is not loaded. */
function OpenById({ search, found }: { readonly search: string; readonly found: number }) {
  const { client } = useSession();
  const notificationId = idIn(search);
  if (notificationId === undefined || found > 0) return null;
  const place = { view: 'notification', projectId: client.projectId, notificationId } as const;
  return (
    <p>
      <a href={fragmentOf(place)}>Open the notification with this id</a>
    </p>
  );
}

/** The button that loads the next page, and moves the focus to its first notification. */
function LoadOlder({ pages }: { readonly pages: NotificationPages }) {
  const { loaded, isLoading, loadMore } = pages;
  const count = loaded?.notifications.length ?? 0;
  /** How many were loaded when the button was pressed. */
  const [before, setBefore] = useState<number>();
  const [announcement, announce] = useState('');
  useLayoutEffect(() => {
    const added = before === undefined ? 0 : count - before;
    announce(added > 0 ? `${countOf(added, 'older notification')} loaded.` : '');
    if (added <= 0) return;
    // The pressed button may be gone.
    const first = loaded!.notifications[before!]!;
    document.querySelector<HTMLElement>(`[data-id="${first.id}"] a`)?.focus();
    setBefore(undefined);
  }, [count]);
  return (
    <>
      <p role="status" class="hint">
        {announcement}
      </p>
      {loaded?.nextCursor !== undefined && (
        <div class="buttons">
          <button
            type="button"
            onClick={() => {
              setBefore(count);
              loadMore();
            }}
            aria-disabled={isLoading}
          >
            {isLoading ? 'Loading…' : 'Load older notifications'}
          </button>
        </div>
      )}
    </>
  );
}
