import { useEffect, useState } from 'preact/hooks';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import type { CarillonError } from '../../../sdk/common/error.ts';
import type { ProjectClient } from '../../../sdk/server/project-client.ts';
import { pollPauseMs } from './poll-pause.ts';

interface Live {
  readonly notification?: NotificationResult;
  /** Why the last read failed. */
  readonly error?: CarillonError;
}

export interface LiveNotification extends Live {
  /** Shows what another call has returned, until the next read. */
  readonly show: (notification: NotificationResult) => void;
}

/** A notification, whose counts are read again and again. */
export function useNotification(client: ProjectClient, id: string): LiveNotification {
  const [live, setLive] = useState<Live>({});
  useEffect(() => {
    let timer: number | undefined;
    let isCurrent = true;
    const startedAtMs = performance.now();
    async function read() {
      const next = await client.notification(id).then(
        (notification): Live => ({ notification }),
        (error: CarillonError): Live => ({ error }),
      );
      if (!isCurrent) return;
      setLive((previous) => ({ ...(next.error && previous), ...next }));
      // A wrong key or id stays wrong.
      if (next.error?.status !== undefined && next.error.status < 429) return;
      const pauseMs = pollPauseMs(
        performance.now() - startedAtMs,
        next.notification?.status,
        next.error?.retryAfter,
      );
      if (pauseMs !== undefined) timer = window.setTimeout(read, pauseMs);
    }
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, id]);
  return { ...live, show: (notification) => setLive({ notification }) };
}
