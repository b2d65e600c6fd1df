import { isInProgress, type NotificationStatus } from '../../../contract/notification-status.ts';

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
