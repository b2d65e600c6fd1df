import type { EventType } from '../../contract/schemas.ts';
import { claim } from '../common/memory.ts';
import type { NotificationData } from './message.ts';

/**
 * Reports what became of a notification, once per notification and type in this browser. Resolves
 * when the beacon is on its way: `keepalive` has the browser carry it on after the worker's end,
 * so that nothing waits for a slow network. A beacon that is lost stays lost.
 */
export async function report(type: EventType, { id, events }: NotificationData): Promise<void> {
  if (id === undefined || events === undefined || !(await claim(`${type} ${id}`))) return;
  fetch(events, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type }),
    keepalive: true,
  }).catch(() => {});
}
