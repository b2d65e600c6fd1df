import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { limits } from '../../../contract/limits.ts';
import type { NotificationList } from '../../../contract/schemas/notification.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { useSession } from '../session.ts';
import { pollPauseMs } from './poll-pause.ts';

/** The project, its usage, and a sample of its subscribers. */
export function useProject() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['project'],
    queryFn: ({ signal }) => client.project({ sample: 'subscribers', signal }),
  });
}

/** The project's notifications, the newest first, page by page. */
export function useNotifications() {
  const { client } = useSession();
  return useInfiniteQuery({
    queryKey: ['notifications'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.notifications({ limit: limits.largestPage, cursor: pageParam, signal }),
    getNextPageParam: ({ nextCursor }: NotificationList) => nextCursor,
    select: ({ pages }): NotificationList => ({
      ...pages.at(-1)!,
      notifications: pages.flatMap(({ notifications }) => notifications),
    }),
  });
}

/** A notification, whose counts are read again and again. */
export function useNotification(id: string) {
  const { client } = useSession();
  const [startedAtMs] = useState(() => performance.now());
  return useQuery({
    queryKey: ['notification', id],
    queryFn: ({ signal }) => client.notification(id, { signal }),
    refetchInterval: ({ state: { data, error } }) => {
      const { status, retryAfter } = error instanceof CarillonError ? error : {};
      // A wrong key or id stays wrong.
      if (status !== undefined && status < 429) return false;
      return pollPauseMs(performance.now() - startedAtMs, data?.status, retryAfter) ?? false;
    },
  });
}
