import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/errors.ts';
import { RecentConnections } from './recent-connections.ts';

/**
 * The DynamoDB client of a function. It also retries calls that conflicted with another transaction,
 * which the SDK does not. What still fails for a transient reason becomes `unavailable`.
 * @param now milliseconds since the epoch.
 */
export function documentClient(
  config: DynamoDBClientConfig = {},
  now: () => number = Date.now,
): DynamoDBDocumentClient {
  const connections = new RecentConnections(now);
  const client = new DynamoDBClient({
    // Without a response a call fails after 6 s, before the functions' time-out of 10 s.
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      // Otherwise the SDK only logs a warning.
      throwOnRequestTimeout: true,
      httpAgent: connections.httpAgent,
      httpsAgent: connections.httpsAgent,
    },
    ...config,
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) =>
        sendRepeatedly(
          { input: args.input, isTransaction: commandName === 'TransactWriteItemsCommand' },
          (input) => next({ ...args, input }),
          { sleep, random: Math.random, newToken: randomUUID },
        ),
    { step: 'initialize', name: 'conflictsAndOutages' },
  );
  client.middlewareStack.add(
    (next) => (args) => {
      connections.closeStale();
      return next(args);
    },
    // The step that follows the SDK's retries: each attempt passes it.
    { step: 'deserialize', name: 'closeStaleConnections' },
  );
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

interface Command<Input> {
  readonly input: Input;
  /** Whether it is a TransactWriteItems. */
  readonly isTransaction: boolean;
}

interface RepetitionDependencies {
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly random: () => number;
  /** Creates a unique `ClientRequestToken`. */
  readonly newToken: () => string;
}

/**
 * Sends a command, and repeats it while it conflicts with another transaction.
 * @param send sends it once, with the SDK's own retries.
 * @throws {ServiceError} `unavailable` for what still fails for a transient reason.
 */
export async function sendRepeatedly<Input extends object, Output>(
  { input, isTransaction }: Command<Input>,
  send: (input: Input) => Promise<Output>,
  { sleep, random, newToken }: RepetitionDependencies,
): Promise<Output> {
  // One token for all repetitions: by itself the SDK takes a new one for each, so that a first attempt
  // that arrives late would be executed as well.
  const sent = isTransaction ? { ClientRequestToken: newToken(), ...input } : input;
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await send(sent);
    } catch (error) {
      if (conflicts < conflictDelaysMs.length && isConflict(error)) {
        await sleep(random() * conflictDelaysMs[conflicts]!);
      } else if (isTransient(error)) {
        throw new ServiceError('unavailable', 'The database is busy; try again in a second.', {
          retryAfterSeconds: 1,
          cause: error,
        });
      } else {
        throw error;
      }
    }
  }
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
  /** The existing item, if the write asked for it. The SDK does not convert its attributes. */
  readonly Item?: StoredItem | undefined;
}

/** An item with typed attributes, such as `{ S: 'text' }`. */
export type StoredItem = Readonly<Record<string, { readonly S?: string } | undefined>>;

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
