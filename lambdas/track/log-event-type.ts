import type { EventType } from '../../contract/schemas/event.ts';
import type { Logged } from '../http/access-log.ts';
import type { Middleware } from '../http/response.ts';

/** Adds the event's type to the log line of its request, in which CloudWatch counts it. */
export function logEventType(): Middleware<{ input: { type: EventType } } & Logged> {
  return {
    before: ({ event }) => {
      event.logged = { event: event.input.type };
    },
  };
}
