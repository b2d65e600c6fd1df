import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { sendTimeline } from '../../contract/timeline.ts';

/** Time for the response after the last call to the database has been given up. */
const lastMs = 1000;

type Arrival = Pick<APIGatewayProxyEventV2['requestContext'], 'timeEpoch'>;

/**
 * Fires while a response still reaches the caller: shortly before Lambda ends the function, and before API
 * Gateway gives up. Calls to the database then fail with `unavailable`.
 */
export function beforeTimeout(
  { timeEpoch }: Arrival,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): AbortSignal {
  const gatewayMs = timeEpoch + sendTimeline.endMs - Date.now();
  const functionMs = context.getRemainingTimeInMillis() - lastMs;
  return AbortSignal.timeout(Math.max(0, Math.min(gatewayMs, functionMs)));
}
