import type { Context } from 'aws-lambda';

/** Time for the response after the last call to the database has been given up. */
const lastMs = 1000;

/** Fires shortly before Lambda ends the function. Calls to the database then fail with `unavailable`. */
export function beforeTimeout(context: Pick<Context, 'getRemainingTimeInMillis'>): AbortSignal {
  return AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - lastMs));
}
