import { Logger } from '@aws-lambda-powertools/logger';
import type { RouteName } from '../../contract/routes.ts';

/** The log of one function: lines of JSON that no secret reaches by way of an error. */
export function serviceLogger(serviceName: RouteName): Logger {
  return new Logger({
    serviceName,
    jsonReplacerFn: (_key, value) => (value instanceof Error ? errorFacts(value) : value),
  });
}

/**
 * What of an error is logged. The logger by itself would write every property of it, and there
 * Node keeps the URL that it could not read, and the SDK the items that a transaction ran into.
 */
function errorFacts(error: Error): object {
  const { name, message, stack, cause } = error;
  const { code, $metadata, CancellationReasons } = error as Partial<KnownDetail>;
  return {
    name,
    message,
    stack,
    code,
    aws_request_id: $metadata?.requestId,
    attempts: $metadata?.attempts,
    cancellation: CancellationReasons?.map(({ Code }) => Code),
    cause: cause instanceof Error ? errorFacts(cause) : undefined,
  };
}

interface KnownDetail {
  /** Node's own, such as `ECONNRESET`. */
  readonly code: string;
  readonly $metadata: { readonly requestId?: string; readonly attempts?: number };
  readonly CancellationReasons: readonly { readonly Code?: string }[];
}
