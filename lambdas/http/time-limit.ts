import { setMaxListeners } from 'node:events';
import { sendTimeline } from '../../contract/timeline.ts';
import type { Middleware } from './response.ts';

/** Time for the response after the last call to the database has been given up. */
const lastMs = 1000;

/** What the calls of a request to the database take. Those that the signal ends fail with `unavailable`. */
export interface TimeLimit {
  signal: AbortSignal;
}

/**
 * Sets a signal that fires while a response still reaches the caller: shortly before Lambda ends the function,
 * and before API Gateway gives up.
 */
export function timeLimit(): Middleware<TimeLimit> {
  return {
    before: ({ event, context }) => {
      const gatewayMs = event.requestContext.timeEpoch + sendTimeline.endMs - Date.now();
      const functionMs = context.getRemainingTimeInMillis() - lastMs;
      event.signal = abortAfter(Math.min(gatewayMs, functionMs));
    },
  };
}

/** A signal for any number of calls at a time: Node warns of more than 10 listeners. */
export function abortAfter(ms: number): AbortSignal {
  const signal = AbortSignal.timeout(Math.max(0, ms));
  setMaxListeners(0, signal);
  return signal;
}
