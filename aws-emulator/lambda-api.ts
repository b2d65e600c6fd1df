import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EventQueue, type EventQueueOptions, Throttled } from './executions.ts';
import { FunctionError } from './function-pool.ts';
import type { FunctionDefinition } from './functions.ts';
import { accessDenial, callerOf, type Grants } from './grants.ts';
import { type AwsService, isAllowedRequest, refusalText, startAwsService } from './loopback.ts';
import { localAccount, localRegion } from './template.ts';

export interface LambdaApiOptions extends EventQueueOptions {
  readonly functions: readonly FunctionDefinition[];
  /** The functions' grants; everything else is refused as Lambda refuses it. */
  readonly grants: Grants;
  /** The variables of each function, by its name. */
  readonly environments: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Bytes of a payload: Lambda's quotas, 6 MB and 1 MB. */
const payloadLimits = { RequestResponse: 6 * 1024 * 1024, Event: 1024 * 1024 };
type InvocationType = keyof typeof payloadLimits;

/**
 * Serves the operation Invoke of the Lambda API on a free port of the loopback interface, for
 * function names and ARNs without a version, and for the invocation types RequestResponse and Event. To others
 * than functions it also serves what {@link read} has.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export async function startLambdaApi(options: LambdaApiOptions): Promise<AwsService> {
  const queue = new EventQueue(options);
  const service = await startAwsService(async (message, response) => {
    const requestId = randomUUID();
    write(response, await respond(options, queue, message, requestId), requestId);
  });
  return {
    ...service,
    /** Also starts no further attempt of an asynchronous invocation. */
    async stop() {
      queue.stop();
      await service.stop();
    },
  };
}

interface Response {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

async function respond(
  options: LambdaApiOptions,
  queue: EventQueue,
  message: IncomingMessage,
  requestId: string,
): Promise<Response> {
  if (!isAllowedRequest(message)) return errorResponse(403, 'AccessDeniedException', refusalText);
  const { functions, grants, executions } = options;
  const payload = await buffer(message);
  const { method, url = '', headers } = message;
  if (method === 'GET' && !grants.has(callerOf(headers))) {
    const found = read(url, options);
    if (found !== undefined) return { status: 200, body: JSON.stringify(found) };
  }
  const [, path] = /^\/2015-03-31\/functions\/([^/?]+)\/invocations$/.exec(url) ?? [];
  if (method !== 'POST' || path === undefined) {
    return errorResponse(404, 'UnknownOperationException', 'The local Lambda API has only Invoke.');
  }
  const arn = arnOf(decodeURIComponent(path));
  const need = { action: 'lambda:InvokeFunction', resource: arn };
  const denial = accessDenial(callerOf(headers), [need], grants);
  if (denial !== undefined) return errorResponse(403, 'AccessDeniedException', denial);
  const definition = functions.find((known) => known.arn === arn);
  if (definition === undefined) {
    return errorResponse(404, 'ResourceNotFoundException', `Function not found: ${arn}`);
  }

  const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (!isInvocationType(type)) {
    const text = `The local Lambda API has no invocation type ${type}.`;
    return errorResponse(400, 'InvalidParameterValueException', text);
  }
  if (payload.length > payloadLimits[type]) {
    const text =
      `${payload.length} byte payload is too large for the ${type} invocation type ` +
      `(limit ${payloadLimits[type]} bytes)`;
    return errorResponse(413, 'RequestTooLargeException', text);
  }
  // Without a payload, a function gets an empty event.
  const event = payload.length === 0 ? '{}' : payload.toString();
  const mistake = jsonMistake(event);
  if (mistake !== undefined) {
    const text = `Could not parse request body into json: ${mistake}`;
    return errorResponse(400, 'InvalidRequestContentException', text);
  }

  const { name } = definition;
  if (type === 'Event') {
    queue.add(definition, event, requestId);
    return { status: 202 };
  }
  return result(executions.start(name, event, requestId));
}

/**
 * The response of an operation that only reads, for operators: GetAccountSettings and GetFunctionConfiguration.
 * https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 * https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html
 * @returns undefined for any other request, and for an unknown function.
 */
function read(
  url: string,
  { functions, environments, executions }: LambdaApiOptions,
): object | undefined {
  if (/^\/2016-08-19\/account-settings\/?$/.test(url)) {
    return { AccountLimit: { ConcurrentExecutions: executions.accountLimit } };
  }
  const [, name] = /^\/2015-03-31\/functions\/([^/?]+)\/configuration$/.exec(url) ?? [];
  const definition = functions.find((known) => known.name === name);
  if (definition === undefined) return undefined;
  return {
    FunctionName: definition.name,
    FunctionArn: definition.arn,
    State: 'Active',
    LastUpdateStatus: 'Successful',
    Environment: { Variables: environments.get(definition.name) },
  };
}

function arnOf(nameOrArn: string): string {
  if (nameOrArn.startsWith('arn:')) return nameOrArn;
  return `arn:aws:lambda:${localRegion}:${localAccount}:function:${nameOrArn}`;
}

function isInvocationType(type: unknown): type is InvocationType {
  return typeof type === 'string' && Object.hasOwn(payloadLimits, type);
}

function jsonMistake(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A function that fails is a success of the API: status 200, and a header that says so. */
async function result(execution: Promise<string>): Promise<Response> {
  const headers = { 'x-amz-executed-version': '$LATEST' };
  try {
    return { status: 200, headers, body: await execution };
  } catch (error) {
    if (error instanceof Throttled) return throttled;
    if (!(error instanceof FunctionError)) throw error;
    const { errorType, message: errorMessage } = error;
    return {
      status: 200,
      headers: { ...headers, 'x-amz-function-error': 'Unhandled' },
      body: JSON.stringify({ errorMessage, errorType }),
    };
  }
}

/** An error in the form of the Lambda API. */
function errorResponse(
  status: number,
  name: string,
  message: string,
  detail: object = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  return {
    status,
    headers: { 'x-amzn-errortype': name, ...headers },
    body: JSON.stringify({ Type: 'User', message, ...detail }),
  };
}

const throttled = errorResponse(
  429,
  'TooManyRequestsException',
  'Rate Exceeded.',
  { Reason: 'ConcurrentInvocationLimitExceeded' },
  { 'retry-after': '1' },
);

function write(
  response: ServerResponse,
  { status, headers, body = '' }: Response,
  requestId: string,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    'x-amzn-requestid': requestId,
  });
  response.end(body);
}
