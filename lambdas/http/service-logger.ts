import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { EventType } from '../../contract/wire/event.ts';
import type { FunctionName } from '../../contract/wire/routes.ts';

/** The log of one function, as lines of JSON. No error brings a secret into it. */
export function serviceLogger(serviceName: FunctionName): Logger {
  return new Logger({
    serviceName,
    jsonReplacerFn: (_key, value) => (value instanceof Error ? loggedError(value) : value),
  });
}

/**
 * Gives each line of this invocation its ids, in place of the ids of the invocation before.
 * @param requestId of the gateway: of the request, or of the one that sent the slice.
 */
export function logInvocation(
  logger: Pick<Logger, 'setPersistentLogAttributes'>,
  { awsRequestId }: Pick<Context, 'awsRequestId'>,
  requestId: string,
): void {
  logger.setPersistentLogAttributes({ request_id: requestId, function_request_id: awsRequestId });
}

/**
 * The logged properties of an error. By default the logger writes every property: Node's errors keep the
 * URL that could not be parsed, and the SDK's keep the items of a cancelled transaction.
 */
function loggedError(error: Error): object {
  const { name, message, stack, cause } = error;
  const { code, $metadata, CancellationReasons } = error as Partial<LoggedDetail>;
  return {
    name,
    message,
    stack,
    code,
    aws_request_id: $metadata?.requestId,
    attempts: $metadata?.attempts,
    cancellation: CancellationReasons?.map(({ Code }) => Code),
    cause: cause instanceof Error ? loggedError(cause) : undefined,
  };
}

interface LoggedDetail {
  /** Node's own, such as `ECONNRESET`. */
  readonly code: string;
  readonly $metadata: { readonly requestId?: string; readonly attempts?: number };
  readonly CancellationReasons: readonly { readonly Code?: string }[];
}

/** Shortest time between two lines about successful events of one function. */
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
