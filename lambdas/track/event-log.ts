import type { EventType } from '../../contract/schemas/event.ts';

/** Of a line about successful events to the next one of the same function, at least. */
const logIntervalMs = 1000;

/**
 * Logs successful events at most once per second. They are most of a site's requests, and a line for each would cost
 * as much as Lambda's request. The line of one event counts all since the line before it, in `shown` and `clicked`,
 * which CloudWatch adds up. Events after the last line of a function that ends are not counted there; the event
 * counters have them. Each request is in the API's access log, and each refused one has a line here as well.
 * @returns a function that counts an event, and returns what its line contains; null if it has none.
 */
export function eventLog(clock: () => Date) {
  let unlogged = { shown: 0, clicked: 0 };
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (type: EventType) => {
    unlogged[type] += 1;
    const nowMs = clock().getTime();
    if (nowMs - loggedAtMs < logIntervalMs) return null;
    const line = unlogged;
    unlogged = { shown: 0, clicked: 0 };
    loggedAtMs = nowMs;
    return line;
  };
}
