import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { limits } from '../../contract/wire/limits.ts';
import type { NotificationList, NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress, type NotificationStatus } from '../../contract/wire/notification-status.ts';
import { CarillonError } from '../../sdk/common/error.ts';
import { bodyOrThrow } from '../../sdk/server/attempt.ts';
import { ProjectClient } from '../../sdk/server/project-client.ts';
import { useSession } from './session.ts';

/** The service responds within 30 s, or its gateway does. */
const timeoutMs = 40_000;

/**
 * Calls the service at this page's origin. Repeats only what the service still works on: otherwise a person sees what
 * failed, and decides.
 * @param key secret key or member key.
 */
export function projectClient(projectId: string, key: string): ProjectClient {
  return new ProjectClient(
    { baseUrl: location.origin, projectId, secretKey: key },
    (attempt, signal) =>
      afterPauses('request_in_progress', async () => {
        // Safari has no AbortSignal.any() before 17.4.
        const end = new AbortController();
        const abort = () => end.abort();
        const timer = setTimeout(abort, timeoutMs);
        signal?.addEventListener('abort', abort);
        const result = await attempt(end.signal);
        clearTimeout(timer);
        return bodyOrThrow(result);
      }),
  );
}

/** Most pauses of one request. */
const mostPauses = 4;

/** Repeats a request for as long as the service refuses it with a code that passes, after the pauses that it asks for. */
async function afterPauses<Result>(
  code: 'request_in_progress' | 'rate_limited',
  request: () => Promise<Result>,
): Promise<Result> {
  for (let pauses = 0; ; pauses++) {
    try {
      return await request();
    } catch (error) {
      const isPassing = error instanceof CarillonError && error.code === code;
      if (!isPassing || pauses === mostPauses) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 5)));
    }
  }
}

/** The project, its usage, and a sample of its subscribers. */
export function useProject() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['project'],
    queryFn: ({ signal }) => client.project({ sample: 'subscribers', signal }),
  });
}

/** The default rate limit allows 60 reads a minute, which all open pages share. */
const listPauseMs = 6000;

/** The newest notifications. They load again when the window gets the focus, and while one is in progress. */
export function useNotifications() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['notifications'],
    queryFn: ({ signal }) => client.notifications({ limit: limits.largestPage, signal }),
    refetchInterval: ({ state: { data, error } }) => {
      const { retryAfter } = error instanceof CarillonError ? error : {};
      if (retryAfter !== undefined) return retryAfter * 1000;
      return data?.notifications.some(({ status }) => isInProgress(status)) ? listPauseMs : false;
    },
  });
}

interface Search {
  readonly isWanted: (notification: NotificationResult) => boolean;
  readonly signal: AbortSignal;
}

/** The newest notifications, and the older ones that were loaded: they are not loaded again. */
export function useAllNotifications() {
  const { client } = useSession();
  const queries = useQueryClient();
  const newest = useNotifications();
  const { data: older } = useQuery<NotificationList>({
    queryKey: ['older notifications'],
    queryFn: skipToken,
    gcTime: Infinity,
  });
  const data = newest.data && joined(newest.data, older);
  /** Loads older ones until one of a page is wanted. */
  const load = useMutation({
    mutationFn: async ({ isWanted, signal }: Search) => {
      let list = data!;
      let page: NotificationList;
      do {
        const { nextCursor: cursor } = list;
        page = await afterPauses('rate_limited', () =>
          client.notifications({ limit: limits.largestPage, cursor, signal }),
        );
        list = { ...page, notifications: [...list.notifications, ...page.notifications] };
        queries.setQueryData(['older notifications'], list);
      } while (page.nextCursor && !page.notifications.some(isWanted));
    },
  });
  return { newest, data, load };
}

/** @param older continues a former list of the newest. If too many have come since, something between is missing. */
export function joined(newest: NotificationList, older?: NotificationList): NotificationList {
  const last = newest.notifications.at(-1)?.id;
  const at = older?.notifications.findIndex(({ id }) => id === last) ?? -1;
  if (at < 0) return newest;
  return {
    ...older,
    notifications: [...newest.notifications, ...older!.notifications.slice(at + 1)],
  };
}

/** Whether a repetition gets the same error: a wrong key or id stays wrong. */
export function isFinal(error: unknown): boolean {
  const { status = 0 } = error instanceof CarillonError ? error : {};
  return status >= 400 && status < 429;
}

/** A notification, whose counts are read again and again. */
export function useNotification(id: string) {
  const { client } = useSession();
  const [startedAtMs] = useState(() => performance.now());
  return useQuery({
    queryKey: ['notification', id],
    queryFn: ({ signal }) => client.notification(id, { signal }),
    refetchInterval: ({ state: { data, error } }) => {
      if (isFinal(error)) return false;
      const { retryAfter } = error instanceof CarillonError ? error : {};
      return pollPauseMs(performance.now() - startedAtMs, data?.status, retryAfter) ?? false;
    },
  });
}

/**
 * Milliseconds until the counts are read again; undefined to stop. The default rate limit allows 60 reads per
 * minute, which several open pages share.
 * @param elapsedMs since the first read.
 * @param retryAfterSeconds if the service asked for a pause.
 */
export function pollPauseMs(
  elapsedMs: number,
  status: NotificationStatus | undefined,
  retryAfterSeconds?: number,
): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000;
  if (elapsedMs < 60_000 || (status !== undefined && isInProgress(status))) return 2000;
  // People still open and click the notification.
  return elapsedMs < 15 * 60_000 ? 10_000 : undefined;
}

/** A failure for a person. */
interface FailureText {
  readonly what: string;
  /** What to do about it, if the first sentence does not say it. */
  readonly advice?: string | undefined;
}

/** Says what failed and what to do, in a person's words. @param isLocal whether `npm start` serves the page. */
export function failureText(error: unknown, isLocal = false): FailureText {
  if (!(error instanceof CarillonError)) return { what: (error as Error).message };
  /** Without `what`, the service's own sentence is shown: it says what is wrong. */
  const texts: Readonly<Record<string, Partial<FailureText>>> = {
    network_error: {
      what: 'No response from Carillon.',
      advice: isLocal ? 'Is npm start running?' : 'Check your connection.',
    },
    unauthorized: {
      what: 'The service has no project with this id and this key.',
      advice:
        'Compare both with the message that contained the key. A member key may have expired or been revoked: ask for another one.',
    },
    not_permitted: { advice: 'Ask the owner of the project for a key that allows it.' },
    direct_request: { advice: 'Open the console at the public address of the service.' },
    unexpected_response: { what: 'The response is not from Carillon.' },
    rate_limited: {
      advice: `Try again in ${error.retryAfter === undefined ? 'a minute' : `${error.retryAfter} s`}.`,
    },
    project_paused: { advice: 'The operator resumes it: carillon resume <projectId>.' },
    subscriber_cap_reached: {
      advice:
        'Ask the operator for a higher limit: carillon set <projectId> --subscriber-cap <number>.',
    },
    send_cap_reached: {
      advice:
        'Wait for the next month, or ask the operator for a higher limit: carillon set <projectId> --send-cap <number>.',
    },
    payload_too_large: { advice: 'Shorten the texts, the URLs or the data.' },
    notification_not_found: {
      advice: 'It may no longer be kept, or belong to another project.',
    },
    request_in_progress: { what: 'Carillon still works on it.', advice: 'Try again in a moment.' },
    idempotency_key_reused: {
      what: 'Another tab has sent a copy of this draft, with another text.',
      advice: 'This one has not gone out. The other is under Notifications.',
    },
    outcome_unknown: {
      what: 'Carillon has begun to send it, and does not know yet who has it.',
      advice: 'Its result appears under Notifications.',
    },
    internal_error: { advice: 'Try again. The log of the functions has the cause.' },
    unavailable: {
      what:
        error.cause === undefined
          ? 'Carillon is overloaded, or just now out of service.'
          : `Carillon did not respond, but a gateway: ${error.status}.`,
      advice: 'Try again in a moment.',
    },
  };
  return { what: error.message, ...texts[error.code] };
}
