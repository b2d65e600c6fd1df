/**
 * `sending`: functions work on it. `sent`: they have ended. `interrupted`: one of them ended early, and
 * nobody continues its work. `stopping`: it was stopped, and functions may still push. `stopped`: they
 * have ended.
 */
export const notificationStatuses = [
  'sending',
  'sent',
  'interrupted',
  'stopping',
  'stopped',
] as const;
export type NotificationStatus = (typeof notificationStatuses)[number];

/** Whether functions may still work on a notification: its counts are those so far. */
export function isInProgress(status: NotificationStatus): boolean {
  return status === 'sending' || status === 'stopping';
}
