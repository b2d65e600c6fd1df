import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { accessDenial, callerOf, type Grant, type Grants } from './grants.ts';
import { type AwsService, isAllowedRequest, refusalText, startAwsService } from './loopback.ts';
import { localAccount, localRegion } from './template.ts';

/** One call of a function to DynamoDB. */
export interface DynamoDbCall {
  /** The function's logical id, which is the access key id of its credentials. */
  readonly caller: string;
  /** Such as `UpdateItem`. */
  readonly operation: string;
  readonly parameters: DynamoDbParameters;
  /** Permissions that the caller's role must have. */
  readonly requiredGrants: readonly Grant[];
  /** Resolves when the call has its response, or its connection has closed. */
  readonly ended: Promise<void>;
}

/** A fault that the proxy injects into a call. */
export type DynamoDbFault =
  /** The caller gets this response. The database does not get the request. */
  | DynamoDbResponse
  /** The connection closes before the database gets the request. */
  | 'lost request'
  /** The database executes the request. The connection closes before the caller gets the response. */
  | 'lost response'
  /** The database does not get the request, and the caller's connection stays open. */
  | 'no response';

/**
 * Is called before each allowed call is forwarded, and may return a fault. A promise delays the call
 * until it settles.
 */
export type DynamoDbHook = (
  call: DynamoDbCall,
) => DynamoDbFault | undefined | Promise<DynamoDbFault | undefined>;

export interface DynamoDbProxyOptions {
  /** URL of the database. */
  readonly target: string;
  /** The functions' grants. The proxy refuses every other call as DynamoDB does. */
  readonly grants: Grants;
  readonly onCall?: DynamoDbHook | undefined;
}

/**
 * Starts a proxy between the functions and the local DynamoDB. It checks each call against the
 * function's role, as IAM does in AWS, and injects faults.
 */
export function startDynamoDbProxy({
  target,
  grants,
  onCall,
}: DynamoDbProxyOptions): Promise<AwsService> {
  return startForwarder(target, async ({ headers }, body, response, forward) => {
    const ended = new Promise<void>((resolve) => response.once('close', resolve));
    const call = { ...callOf(headers, body), ended };
    const denial = accessDenial(call.caller, call.requiredGrants, grants);
    const fault = denial ? errorResponse('AccessDeniedException', denial) : await onCall?.(call);
    if (fault === 'no response') return;
    if (fault === 'lost response') (await forward(headers)).resume();
    if (fault === 'lost response' || fault === 'lost request') response.destroy();
    else if (fault === undefined) relay(await forward(headers), response);
    else writeResponse(response, fault);
  });
}

function callOf(headers: IncomingHttpHeaders, body: Buffer): Omit<DynamoDbCall, 'ended'> {
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  const parameters = JSON.parse(body.toString()) as DynamoDbParameters;
  return {
    caller: callerOf(headers),
    operation,
    parameters,
    requiredGrants: requiredGrants(operation, parameters),
  };
}

/** The JSON body of a request to DynamoDB. */
export type DynamoDbParameters = Readonly<Record<string, unknown>>;

/**
 * The grants that IAM requires for a request. An index is a separate resource. A transaction requires
 * the grants of its items. A batch is a separate action and requires a grant per table.
 * @param operation such as `UpdateItem`.
 */
export function requiredGrants(
  operation: string,
  parameters: DynamoDbParameters,
): readonly Grant[] {
  switch (operation) {
    case 'TransactWriteItems':
      return transactionGrants(parameters, {
        Put: 'PutItem',
        Update: 'UpdateItem',
        Delete: 'DeleteItem',
        ConditionCheck: 'ConditionCheckItem',
      });
    case 'TransactGetItems':
      return transactionGrants(parameters, { Get: 'GetItem' });
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(parameters.RequestItems ?? {}).map((table) => grant(operation, table));
    default:
      return [grant(operation, parameters.TableName, parameters.IndexName)];
  }
}

function transactionGrants(
  { TransactItems }: DynamoDbParameters,
  operations: Readonly<Record<string, string>>,
): readonly Grant[] {
  if (!Array.isArray(TransactItems)) return [fullAccess];
  return TransactItems.flatMap((item: Readonly<Record<string, DynamoDbParameters>>) =>
    Object.entries(item).map(([kind, { TableName }]) => {
      const operation = operations[kind];
      return operation === undefined ? fullAccess : grant(operation, TableName);
    }),
  );
}

/** No function has this grant, so that a request which cannot be read is refused. */
const fullAccess: Grant = { action: 'dynamodb:*', resource: '*' };

function grant(operation: string, table: unknown, index?: unknown): Grant {
  const action = `dynamodb:${operation}`;
  // For example ListTables, or a PartiQL statement.
  if (table === undefined) return { action, resource: '*' };
  const arn = `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${table}`;
  return { action, resource: index === undefined ? arn : `${arn}/index/${index}` };
}

/** A response of DynamoDB. */
export interface DynamoDbResponse {
  readonly status: number;
  /** Is sent as JSON. */
  readonly body: object;
}

const dynamoDbNamespace = 'com.amazonaws.dynamodb.v20120810';
/** Namespaces of the errors that all AWS services share. */
const sharedNamespaces: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service',
  ThrottlingException: 'com.amazon.coral.availability',
};

/**
 * An error response in DynamoDB's format.
 * @param name such as `ProvisionedThroughputExceededException`.
 * @param detail further members of the body, such as a transaction's `CancellationReasons`.
 */
export function errorResponse(
  name: string,
  message: string,
  detail: object = {},
): DynamoDbResponse {
  const __type = `${sharedNamespaces[name] ?? dynamoDbNamespace}#${name}`;
  const status = name === 'InternalServerError' ? 500 : 400;
  return { status, body: { __type, message, Message: message, ...detail } };
}

/** The response to a request of a page. */
const refusal: DynamoDbResponse = {
  ...errorResponse('AccessDeniedException', refusalText),
  status: 403,
};

function writeResponse(response: ServerResponse, { status, body }: DynamoDbResponse): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}

/**
 * The response for a cancelled transaction.
 * @param codes one per item; `None` for an item that did not fail.
 */
export function cancelledTransaction(codes: readonly string[]): DynamoDbResponse {
  return errorResponse(
    'TransactionCanceledException',
    'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
      `[${codes.join(', ')}]`,
    { CancellationReasons: codes.map((Code) => ({ Code })) },
  );
}

/**
 * Starts a server in front of DynamoDB Local, which listens on every address of the machine, takes any
 * `Host`, and checks no signature. It has a database for each access key id and region: this server
 * replaces both by an id that nobody else knows.
 * @param target URL of DynamoDB Local.
 */
export function startGuard(target: string, accessKeyId: string): Promise<AwsService> {
  return startForwarder(target, async ({ headers }, _, response, forward) => {
    const authorization = headers.authorization?.replace(
      /Credential=[^/]*\/([^/]*)\/[^/]*\//,
      `Credential=${accessKeyId}/$1/local/`,
    );
    relay(await forward({ ...headers, ...(authorization && { authorization }) }), response);
  });
}

/** The access key id of the data in a directory. Only its owner can read it. */
export function accessKeyIdOf(dataDir: string | undefined): string {
  // DynamoDB Local takes letters and digits only.
  const created = randomBytes(16).toString('hex');
  if (dataDir === undefined) return created;
  const file = join(dataDir, 'dynamodb-local-key');
  try {
    writeFileSync(file, created, { mode: 0o600, flag: 'wx' });
    return created;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFileSync(file, 'utf8');
  }
}

/** Sends the request on with these headers. @throws the connection's error if the target cannot be reached. */
type Forward = (headers: IncomingHttpHeaders) => Promise<IncomingMessage>;

/**
 * Starts a server that sends requests on to another one, unless a page sent them.
 * @param handle gets the request and its body, and responds.
 */
async function startForwarder(
  target: string,
  handle: (
    message: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    forward: Forward,
  ) => Promise<void>,
): Promise<AwsService> {
  const agent = new Agent({ keepAlive: true });
  const service = await startAwsService(async (message, response) => {
    if (!isAllowedRequest(message)) return writeResponse(response, refusal);
    const body = await buffer(message);
    await handle(message, body, response, async ({ host: _, ...headers }) => {
      const forwarded = request(target, { method: message.method, headers, agent });
      forwarded.end(body);
      const [upstream] = (await once(forwarded, 'response')) as [IncomingMessage];
      return upstream;
    });
  });
  return {
    ...service,
    async stop() {
      agent.destroy();
      await service.stop();
    },
  };
}

/** Responds as the other server does. */
function relay(upstream: IncomingMessage, response: ServerResponse): void {
  response.writeHead(upstream.statusCode!, upstream.headers);
  upstream.pipe(response);
  upstream.once('error', () => response.destroy());
}
