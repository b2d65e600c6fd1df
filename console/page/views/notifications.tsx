import { useLayoutEffect, useState } from 'preact/hooks';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { useAction } from '../calls/use-action.ts';
import { useLoad } from '../calls/use-load.ts';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { countOf } from '../format.ts';
import { useSession } from '../session.ts';
import { NotificationRows } from './notification-rows.tsx';

/** The project's notifications, the newest first, page by page. */
export function NotificationsView() {
  const { client } = useSession();
  const first = useLoad(() => client.notifications(), [client]);
  const [older, setOlder] = useState<readonly NotificationResult[]>([]);
  /** `nextCursor` of the last page after the first one. */
  const [nextCursor, setNextCursor] = useState<string>();
  const [loaded, setLoaded] = useState('');
  /** Id of the first notification of the page that was loaded last. */
  const [firstLoaded, setFirstLoaded] = useState<string>();
  const cursor = older.length === 0 ? first.value?.nextCursor : nextCursor;

  const loadOlder = useAction(async () => {
    const page = await client.notifications({ cursor });
    setOlder([...older, ...page.notifications]);
    setNextCursor(page.nextCursor);
    setLoaded(`${countOf(page.notifications.length, 'older notification')} loaded.`);
    setFirstLoaded(page.notifications[0]?.id);
  });
  // The pressed button may be gone.
  useLayoutEffect(() => {
    document.querySelector<HTMLElement>(`[data-id="${firstLoaded}"] a`)?.focus();
  }, [firstLoaded]);

  function reload() {
    setOlder([]);
    setLoaded('');
    first.reload();
  }

  return (
    <View
      title="Notifications"
      projectId={client.projectId}
      actions={
        <button type="button" onClick={reload} aria-disabled={first.isLoading}>
          Refresh
        </button>
      }
    >
      <section class="card" aria-label="Notifications, the newest first">
        <Problem error={first.error} />
        {first.value !== undefined && (
          <NotificationRows notifications={[...first.value.notifications, ...older]} />
        )}
        <p role="status" class="hint">
          {loaded}
        </p>
        <Problem error={loadOlder.error} />
        {cursor !== undefined && (
          <div class="buttons">
            <button
              type="button"
              onClick={() => loadOlder.run()}
              aria-disabled={loadOlder.isRunning}
            >
              {loadOlder.isRunning ? 'Loading…' : 'Load older notifications'}
            </button>
          </div>
        )}
      </section>
    </View>
  );
}
