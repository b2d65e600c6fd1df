import { Logger } from '@aws-lambda-powertools/logger';
import type { FunctionName } from '../../contract/routes.ts';

/** The log of one function, as lines of JSON. No error brings a secret into it. */
export function serviceLogger(serviceName: FunctionName): Logger {
  return new Logger({
    serviceName,
    jsonReplacerFn: (_key, value) => (value instanceof Error ? loggedError(value) : value),
  });
}

/**
 * What is logged of an error. By default the logger writes every property: Node's errors keep the
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
