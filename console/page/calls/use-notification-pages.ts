import { useEffect, useRef, useState } from 'preact/hooks';
import { limits } from '../../../contract/limits.ts';
import type { NotificationList } from '../../../contract/schemas/notification.ts';
import type { ProjectClient } from '../../../sdk/server/project-client.ts';

export interface NotificationPages {
  /** What is loaded so far, the newest first; `nextCursor` is where the rest starts. */
  readonly loaded: NotificationList | undefined;
  readonly isLoading: boolean;
  /** Why the last page failed. Those before it are kept. */
  readonly error: unknown;
  /** Loads the next page. */
  readonly loadMore: () => void;
  /** Loads page after page, in the largest pages, until the last one or {@link stop}. */
  readonly loadAll: () => void;
  readonly stop: () => void;
  /** Starts again with the first page. */
  readonly reload: () => void;
}

/** The project's notifications, page by page. @param limit notifications of a page. */
export function useNotificationPages(client: ProjectClient, limit: number): NotificationPages {
  const [loaded, setLoaded] = useState<NotificationList>();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);

  async function load(from: NotificationList | undefined, pageLength: number, pages: number) {
    running.current?.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    setLoading(true);
    setError(undefined);
    try {
      let list = from;
      for (let page = 0; page < pages; page += 1) {
        const next = await client.notifications({ limit: pageLength, cursor: list?.nextCursor });
        if (signal.aborted) return;
        const notifications = [...(list?.notifications ?? []), ...next.notifications];
        list = { ...next, notifications };
        setLoaded(list);
        if (list.nextCursor === undefined) break;
      }
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
    if (!signal.aborted) setLoading(false);
  }

  function stop() {
    running.current?.abort();
    setLoading(false);
  }

  const reload = () => void load(undefined, limit, 1);
  useEffect(() => {
    reload();
    return () => running.current!.abort();
  }, [client]);
  const hasMore = loaded?.nextCursor !== undefined;
  return {
    loaded,
    isLoading,
    error,
    loadMore: () => hasMore && !isLoading && void load(loaded, limit, 1),
    loadAll: () =>
      hasMore && !isLoading && void load(loaded, limits.largestPage, Number.POSITIVE_INFINITY),
    stop,
    reload,
  };
}
