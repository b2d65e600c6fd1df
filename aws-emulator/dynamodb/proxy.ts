import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type AwsService, startAwsService } from '../aws-service.ts';
import { accessDenial, callerOf, type Grant, type Grants } from '../grants.ts';
import { isAllowedRequest } from '../host-and-origin.ts';
import { forward, relay } from './forward.ts';
import { type DynamoDbParameters, requiredGrants } from './request.ts';
import { type DynamoDbResponse, errorResponse, refusal, writeResponse } from './response.ts';

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
export async function startDynamoDbProxy(options: DynamoDbProxyOptions): Promise<AwsService> {
  const agent = new Agent({ keepAlive: true });
  const service = await startAwsService((message, response) =>
    handleCall(options, agent, message, response),
  );
  return {
    ...service,
    async stop() {
      agent.destroy();
      await service.stop();
    },
  };
}

async function handleCall(
  { target, grants, onCall }: DynamoDbProxyOptions,
  agent: Agent,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isAllowedRequest(message)) return writeResponse(response, refusal);
  const body = await buffer(message);
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  const call = { ...callOf(message, body), ended };
  const denial = accessDenial(call.caller, call.requiredGrants, grants);
  const fault = denial ? errorResponse('AccessDeniedException', denial) : await onCall?.(call);
  switch (fault) {
    case undefined:
      relay(await forward(target, agent, message, body), response);
      return;
    case 'lost response':
      (await forward(target, agent, message, body)).resume();
      response.destroy();
      return;
    case 'lost request':
      response.destroy();
      return;
    case 'no response':
      return;
    default:
      writeResponse(response, fault);
  }
}

function callOf({ headers }: IncomingMessage, body: Buffer): Omit<DynamoDbCall, 'ended'> {
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  const parameters = JSON.parse(body.toString()) as DynamoDbParameters;
  return {
    caller: callerOf(headers),
    operation,
    parameters,
    requiredGrants: requiredGrants(operation, parameters),
  };
}
