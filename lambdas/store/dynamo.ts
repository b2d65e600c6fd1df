import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/errors.ts';

/**
 * The DynamoDB client of a function. It also retries calls that conflicted with another transaction,
 * which the SDK does not. What still fails for a transient reason becomes `unavailable`.
 */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    // Without a response a call fails after 6 s, before the functions' time-out of 10 s.
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      // Otherwise the SDK only logs a warning.
      throwOnRequestTimeout: true,
    },
    ...config,
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let conflicts = 0; ; conflicts += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (conflicts < conflictDelaysMs.length && isConflict(error)) {
            await sleep(Math.random() * conflictDelaysMs[conflicts]!);
          } else if (isTransient(error)) {
            throw new ServiceError('unavailable', 'The database is busy; try again in a second.', {
              retryAfter: 1,
              cause: error,
            });
          } else {
            throw error;
          }
        }
      }
    },
    { step: 'initialize', name: 'conflictsAndOutages' },
  );
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Upper bounds of the random waits: 4 s in total at most, half of that on average. */
const conflictDelaysMs = [20, 40, 80, 160, 320, 640, 800, 1000, 1000];

/** Cancellation reasons that are not failed conditions. */
const transientReasons = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

const transientErrors = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionConflictException',
  'TransactionInProgressException',
  'TimeoutError',
  // The caller's time has run out.
  'AbortError',
]);

/** Why a transaction was cancelled, one reason per item; empty if it was not. */
export function cancellationReasons(error: unknown): readonly CancellationReason[] {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') return [];
  return (
    (error as Error & { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? []
  );
}

interface CancellationReason {
  readonly Code?: string;
  /** The existing item, if the write asked for it. */
  readonly Item?: Record<string, unknown>;
}

export function conditionFailed(reason: CancellationReason | undefined): boolean {
  return reason?.Code === 'ConditionalCheckFailed';
}

/** Whether the condition of a single write failed. */
export function isConditionFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

function isConflict(error: unknown): boolean {
  // The SDK does not retry conflicts, neither of transactions nor of single writes.
  if (error instanceof Error && error.name === 'TransactionConflictException') return true;
  const reasons = cancellationReasons(error);
  return reasons.length > 0 && reasons.every(({ Code }) => transientReasons.has(Code ?? 'None'));
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $response, code } = error as Error & { $response?: unknown; code?: string };
  const isWithoutResponse = $response === undefined && code !== undefined && /^E[A-Z]+/.test(code);
  return transientErrors.has(error.name) || isWithoutResponse || isConflict(error);
}
