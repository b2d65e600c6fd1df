import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { FunctionName } from '../../contract/functions.ts';

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
