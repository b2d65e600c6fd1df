import type { EventType } from '../../contract/schemas/event.ts';
import type { Logged } from '../http/request-log.ts';
import type { Middleware } from '../http/response.ts';

/** Of a line about successful events to the next one of the same function, at least. */
const logIntervalMs = 1000;

/**
 * Logs successful events at most once per second. They are most of a site's requests, and a line for each would cost
 * as much as Lambda's request. The line of one event counts all since the line before it, in `shown` and `clicked`,
 * which CloudWatch adds up. Events after the last line of a function that ends are not counted there; the tallies
 * have them. Each request is in the API's access log, and each refused one has a line here as well.
 */
export function logEvents(clock: () => Date): Middleware<{ input: { type: EventType } } & Logged> {
  let unlogged = { shown: 0, clicked: 0 };
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return {
    after: ({ event }) => {
      unlogged[event.input.type] += 1;
      const nowMs = clock().getTime();
      if (nowMs - loggedAtMs < logIntervalMs) {
        event.logged = null;
        return;
      }
      event.logged = unlogged;
      unlogged = { shown: 0, clicked: 0 };
      loggedAtMs = nowMs;
    },
  };
}
