import type { EventType } from '../../contract/schemas.ts';
import { claimBeacon } from '../common/storage.ts';
import type { NotificationData } from './message.ts';

/**
 * Sends a beacon, once per notification and event type in this browser. Resolves when the request has
 * started. With `keepalive` the browser completes it even after the worker has ended, so nothing waits
 * for a slow network. A failed beacon is not retried.
 */
export async function sendBeacon(type: EventType, { id, events }: NotificationData): Promise<void> {
  if (id === undefined || events === undefined || !(await claimBeacon(`${type} ${id}`))) return;
  fetch(events, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type }),
    keepalive: true,
  }).catch(() => {});
}
