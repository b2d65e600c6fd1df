import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ServiceError } from '../../contract/wire/errors.ts';

/**
 * The DynamoDB client of a function. It also retries calls that conflicted with another transaction,
 * which the SDK does not. What still fails for a transient reason becomes `unavailable`.
 * @param now milliseconds since the epoch.
 * @param conflictRetries how often at most. Default: for 2 s on average.
 */
export function documentClient(
  config: DynamoDBClientConfig = {},
  now: () => number = Date.now,
  conflictRetries?: number,
): DynamoDBDocumentClient {
  const connections = new RecentConnections(now);
  const client = new DynamoDBClient({
    // Without a response, or if it stops half-way, a call fails after 6 s, before the functions' time-out of 10 s.
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      socketTimeout: 2000,
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
          { sleep, random: Math.random, newToken: randomUUID, conflictRetries },
        ),
    { step: 'initialize', name: 'conflictsAndOutages' },
  );
  client.middlewareStack.add(
    (next) => async (args) => {
      connections.closeIdle();
      try {
        return await next(args);
      } catch (error) {
        // If the peer has forgotten one connection, it has probably forgotten all.
        if (!hasResponse(error)) connections.closeIdle(0);
        throw error;
      }
    },
    // The step that follows the SDK's retries: each attempt passes it.
    { step: 'deserialize', name: 'closeIdleConnections' },
  );
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Of the input of a transaction: makes its items for another attempt. */
const makeItems = Symbol('makeItems');

type TransactItems = TransactWriteCommandInput['TransactItems'];

/**
 * A transaction that may have other items after a conflict, such as another part of a counter. Repetitions must not do harm
 * by their conditions: each is another transaction.
 */
export function drawnTransaction(items: () => TransactItems): TransactWriteCommand {
  const input = { TransactItems: items(), [makeItems]: items };
  return new TransactWriteCommand(input);
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
  /** Default: as many as there are delays. */
  readonly conflictRetries?: number | undefined;
}

/**
 * Sends a command, and repeats it while it conflicts with another transaction.
 * @param send sends it once, with the SDK's own retries.
 * @throws {ServiceError} `unavailable` for what still fails for a transient reason.
 */
export async function sendRepeatedly<Input extends object, Output>(
  { input, isTransaction }: Command<Input>,
  send: (input: Input) => Promise<Output>,
  { sleep, random, newToken, conflictRetries = conflictDelaysMs.length }: RepetitionDependencies,
): Promise<Output> {
  // One token for all repetitions: by itself the SDK takes a new one for each, so that a first attempt
  // that arrives late would be executed as well.
  let sent = isTransaction ? { ClientRequestToken: newToken(), ...input } : input;
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await send(sent);
    } catch (caught) {
      const error = withPlainItems(caught);
      if (conflicts < conflictRetries && isConflict(error)) {
        await sleep(random() * conflictDelaysMs[conflicts]!);
        const { [makeItems]: items } = input as { readonly [makeItems]?: () => TransactItems };
        // Unless an attempt has had no response: it may still be executed.
        if (items !== undefined && isFirstAttempt(error)) {
          sent = { ...input, ClientRequestToken: newToken(), TransactItems: items() };
        }
      } else if (isTransient(error)) {
        throw unavailable(error);
      } else {
        throw error;
      }
    }
  }
}

/** The database throttles, is away, or the caller's time has run out. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The database is busy; try again in a second.', {
    retryAfterSeconds: 1,
    cause,
  });
}

/** Upper bounds of the random waits: 4 s in total at most, half of that on average. */
const conflictDelaysMs = [20, 40, 80, 160, 320, 640, 800, 1000, 1000];

/**
 * Retries of a request that anybody can make. With more of them, a flood of requests that conflict keeps as many
 * functions busy as the account has.
 */
export const browserConflictRetries = 4;

/** Cancellation reasons that are not failed conditions. */
const transientReasons = new Set([
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
  readonly Item?: StoredItem | undefined;
}

/** An item that made a condition fail. */
type StoredItem = Readonly<Record<string, unknown>>;

export function conditionFailed(reason: CancellationReason | undefined): boolean {
  return reason?.Code === 'ConditionalCheckFailed';
}

/** The error of a single write whose condition failed, with the existing item if the write asked for it. */
interface ConditionFailure extends Error {
  readonly Item?: StoredItem | undefined;
}

/** Whether the condition of a single write failed. */
export function isConditionFailure(error: unknown): error is ConditionFailure {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/** The document client converts the items of responses, but not those of errors. */
function withPlainItems(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { Item, CancellationReasons } = error as Error & Partial<Record<string, unknown>>;
  if (Item !== undefined) Object.assign(error, { Item: plain(Item) });
  if (Array.isArray(CancellationReasons)) {
    const reasons = CancellationReasons.map(({ Item, ...reason }) => ({
      ...reason,
      ...(Item !== undefined && { Item: plain(Item) }),
    }));
    Object.assign(error, { CancellationReasons: reasons });
  }
  return error;
}

function plain(item: unknown): StoredItem {
  return unmarshall(item as Parameters<typeof unmarshall>[0]);
}

function isConflict(error: unknown): boolean {
  // The SDK does not retry conflicts, neither of transactions nor of single writes.
  if (error instanceof Error && error.name === 'TransactionConflictException') return true;
  // The conditions of the other writes are checked when nothing conflicts.
  return cancellationReasons(error).some(({ Code }) => transientReasons.has(Code ?? 'None'));
}

/** Whether the SDK has not repeated the call. */
function isFirstAttempt(error: unknown): boolean {
  const { $metadata } = error as { readonly $metadata?: { readonly attempts?: number } };
  return ($metadata?.attempts ?? 1) === 1;
}

function hasResponse(error: unknown): boolean {
  return (error as { $response?: unknown }).$response !== undefined;
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { code?: string };
  const isWithoutResponse = !hasResponse(error) && code !== undefined && /^E[A-Z]+/.test(code);
  return transientErrors.has(error.name) || isWithoutResponse || isConflict(error);
}

/**
 * Milliseconds for which an idle connection is used again. DynamoDB forgets it after about a minute
 * (https://github.com/aws/aws-sdk-java/issues/1365); a function that was frozen meanwhile does not
 * notice, and its timers have not advanced.
 */
const idleTimeoutMs = 30_000;

/** The settings of the agents that the AWS SDK makes itself. */
const settings = { keepAlive: true, maxSockets: 50 };

/** Keeps connections open for later requests, and knows by the wall clock since when they are idle. */
class RecentConnections {
  readonly httpAgent = new HttpAgent(settings);
  readonly httpsAgent = new HttpsAgent(settings);
  readonly #now: () => number;
  readonly #idleSince = new WeakMap<Duplex, number>();

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    for (const agent of [this.httpAgent, this.httpsAgent]) {
      const keep = agent.keepSocketAlive.bind(agent);
      agent.keepSocketAlive = (socket) => {
        this.#idleSince.set(socket, now());
        return keep(socket);
      };
    }
  }

  /** Closes the connections that are idle for so long, so that the next request uses another one. */
  closeIdle(forMs = idleTimeoutMs): void {
    for (const { freeSockets } of [this.httpAgent, this.httpsAgent]) {
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
        if (this.#now() - this.#idleSince.get(socket)! >= forMs) socket.destroy();
      }
    }
  }
}

interface ChangeOptions {
  /** The map attribute that contains the changed ones. */
  readonly inMap?: string;
  /** Values that the condition of the update uses, by their names without the colon. */
  readonly conditionValues?: Readonly<Record<string, unknown>>;
}

/** The values of an expression, by their names without the colon. */
export function expressionValues(values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value]));
}

/** Parameters of an `UpdateCommand` that set attributes, and remove undefined ones. */
export function attributeChanges(
  attributes: Readonly<Record<string, unknown>>,
  { inMap, conditionValues = {} }: ChangeOptions = {},
) {
  const names = Object.keys(attributes);
  const pathOf = (name: string) => (inMap === undefined ? `#${name}` : `#${inMap}.#${name}`);
  const set = names.filter((name) => attributes[name] !== undefined);
  const removed = names.filter((name) => attributes[name] === undefined);
  const clauses = [
    ...(set.length > 0
      ? [`SET ${set.map((name) => `${pathOf(name)} = :${name}`).join(', ')}`]
      : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.map(pathOf).join(', ')}`] : []),
  ];
  const used = inMap === undefined ? names : [inMap, ...names];
  const given = Object.fromEntries(set.map((name) => [name, attributes[name]]));
  const values = { ...given, ...conditionValues };
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: Object.fromEntries(used.map((name) => [`#${name}`, name])),
    // DynamoDB refuses an empty object.
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: expressionValues(values) }),
  };
}

/** The parameters of a read that returns some attributes of its items. */
export interface Projection<Found> {
  readonly ProjectionExpression: string;
  readonly ExpressionAttributeNames: Readonly<Record<string, string>>;
  /** Only in types: what is found. */
  readonly _?: Found;
}

/** Reads all attributes that a type has: a name that is missing, or that it does not have, is a type error. */
export function projection<Found>(
  names: {
    readonly [Name in keyof Found]-?: true;
  },
): Projection<Found> {
  const all = Object.keys(names);
  return {
    ProjectionExpression: all.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(all.map((name) => [`#${name}`, name])),
  };
}

type Item = Record<string, unknown>;

/** Keys of one BatchGetItem: its maximum. */
const batchSize = 100;

/**
 * Reads items of one table by their keys, strongly consistent, with one call for every 100 keys at the same time.
 * @param selection of their attributes. Default: all.
 * @returns them in no particular order, without those that do not exist.
 */
export async function batchGet<Read extends object>(
  dynamo: DynamoDBDocumentClient,
  table: string,
  keys: readonly Item[],
  signal?: AbortSignal,
  wait?: Sleep,
  selection?: Projection<Read>,
): Promise<Read[]> {
  const batches: Item[][] = [];
  for (let start = 0; start < keys.length; start += batchSize) {
    batches.push(keys.slice(start, start + batchSize));
  }
  const found = await Promise.all(batches.map(readBatch));
  return found.flat() as Read[];

  async function readBatch(batch: readonly Item[]): Promise<Item[]> {
    const items: Item[] = [];
    const read = async (Keys: readonly Item[]) => {
      const { Responses, UnprocessedKeys }: BatchGetCommandOutput = await dynamo.send(
        new BatchGetCommand({
          RequestItems: {
            [table]: { Keys: [...Keys], ConsistentRead: true, ...selection },
          },
        }),
        { abortSignal: signal },
      );
      items.push(...(Responses?.[table] ?? []));
      return UnprocessedKeys?.[table]?.Keys;
    };
    try {
      await sendAll(batch, read, wait, signal);
    } catch (error) {
      // The wait has ended with the signal.
      throw signal?.aborted ? unavailable(error) : error;
    }
    return items;
  }
}

/** Waits some ms; rejects when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<unknown>;

/** Ms before what DynamoDB has left unprocessed is sent again: doubled each time, up to the most. */
const firstWaitMs = 50;
const longestWaitMs = 1000;

const pause: Sleep = (ms, signal) => sleep(ms, undefined, { signal });

/**
 * Sends a batch, and what DynamoDB leaves unprocessed of it, until nothing is left. A table that is throttled leaves
 * out a part of a batch, and would leave out the rest at once.
 * @param send returns what is left.
 */
export async function sendAll<Entry>(
  batch: readonly Entry[],
  send: (left: readonly Entry[]) => Promise<readonly Entry[] | undefined>,
  wait: Sleep = pause,
  signal?: AbortSignal,
): Promise<void> {
  let left = batch;
  for (let waitMs = firstWaitMs; left.length > 0; waitMs = Math.min(longestWaitMs, 2 * waitMs)) {
    left = (await send(left)) ?? [];
    if (left.length > 0) await wait(waitMs, signal);
  }
}
