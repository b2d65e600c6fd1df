import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/errors.ts';

/**
 * The DynamoDB client of a function. Beyond what the SDK retries by itself it tries again what
 * lost against another transaction, and whatever still fails for a passing reason reaches the
 * stores as one error, `unavailable`.
 */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    // A database that does not answer is given up after 6 s, before the functions are: 10 s.
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      // Without it the SDK warns and goes on waiting.
      throwOnRequestTimeout: true,
    },
    ...config,
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let lost = 0; ; lost += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (lost < conflictDelays.length && lostToAnotherTransaction(error)) {
            await sleep(Math.random() * conflictDelays[lost]!);
          } else if (isPassing(error)) {
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

/** Upper bounds of the random waits, ms: 4 s in all at the most, half of that on average. */
const conflictDelays = [20, 40, 80, 160, 320, 640, 800, 1000, 1000];

/** Reasons of a cancelled transaction that say nothing about its conditions. */
const passingReasons = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

const passingErrors = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionConflictException',
  'TransactionInProgressException',
  'TimeoutError',
  // The caller's time was up.
  'AbortError',
]);

/** Why each item of a transaction was refused, in the order of its items; none if it was not. */
export function cancellationReasons(error: unknown): readonly CancellationReason[] {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') return [];
  return (
    (error as Error & { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? []
  );
}

interface CancellationReason {
  readonly Code?: string;
  /** The item as it was, where the write asked for it. */
  readonly Item?: Record<string, unknown>;
}

export function conditionFailed(reason: CancellationReason | undefined): boolean {
  return reason?.Code === 'ConditionalCheckFailed';
}

/** Whether a single write's condition did not hold. */
export function isConditionFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

function lostToAnotherTransaction(error: unknown): boolean {
  // The SDK does not take a conflict for a transient error, whether of a transaction or of a
  // plain write that met one.
  if (error instanceof Error && error.name === 'TransactionConflictException') return true;
  const reasons = cancellationReasons(error);
  return reasons.length > 0 && reasons.every(({ Code }) => passingReasons.has(Code ?? 'None'));
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $response, code } = error as Error & { $response?: unknown; code?: string };
  const neverAnswered = $response === undefined && code !== undefined && /^E[A-Z]+/.test(code);
  return passingErrors.has(error.name) || neverAnswered || lostToAnotherTransaction(error);
}
