import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EventQueue, type EventQueueOptions } from './executions.ts';
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

/** Lambda's quota for the payload of an asynchronous invocation. */
const payloadLimitBytes = 1024 * 1024;

/**
 * Serves the operation Invoke of the Lambda API on a free port of the loopback interface, for
 * function names and ARNs without a version, and for the invocation type Event. To others than functions
 * it also serves what {@link read} has.
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
  const { functions, grants } = options;
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
  if (type !== 'Event') {
    const text = `The local Lambda API has only the invocation type Event, not ${type}.`;
    return errorResponse(400, 'InvalidParameterValueException', text);
  }
  if (payload.length > payloadLimitBytes) {
    const text =
      `${payload.length} byte payload is too large for the Event invocation type ` +
      `(limit ${payloadLimitBytes} bytes)`;
    return errorResponse(413, 'RequestEntityTooLargeException', text);
  }
  // Without a payload, a function gets an empty event.
  const event = payload.length === 0 ? '{}' : payload.toString();
  const mistake = jsonMistake(event);
  if (mistake !== undefined) {
    const text = `Could not parse request body into json: Could not parse payload into json: ${mistake}`;
    return errorResponse(400, 'InvalidRequestContentException', text);
  }

  queue.add(definition, event, requestId);
  return { status: 202 };
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

function jsonMistake(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** An error in the form of the Lambda API. */
function errorResponse(status: number, name: string, message: string): Response {
  const body = JSON.stringify({ Type: 'User', message });
  return { status, headers: { 'x-amzn-errortype': name }, body };
}

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
