import { updateEntry } from '../common/storage.ts';
import type { StoredEvents } from './report-event.ts';

let lastEvents: StoredEvents = [];

/**
 * Changes the stored events in one transaction. If the browser denies storage, they last as long as the
 * worker.
 * @param change has no side effects: it may be called twice.
 */
export async function updateEvents(
  change: (events: StoredEvents) => StoredEvents,
): Promise<StoredEvents> {
  const stored = await updateEntry<StoredEvents>('events', (events = []) => change(events));
  lastEvents = stored ?? change(lastEvents);
  return lastEvents;
}
