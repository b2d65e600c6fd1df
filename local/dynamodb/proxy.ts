import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Grant, Grants } from '../template/iam-policy.ts';
import { type DynamoDbParameters, neededGrants } from './request.ts';
import { type DynamoDbResponse, errorResponse } from './response.ts';

/** One call of a function to DynamoDB. */
export interface DynamoDbCall {
  /** The function's logical id, which stands in its credentials. */
  readonly caller: string;
  /** Such as `UpdateItem`. */
  readonly operation: string;
  readonly parameters: DynamoDbParameters;
  /** What the caller's role had to allow for it. */
  readonly needs: readonly Grant[];
}

/** What becomes of a call that does not simply reach the database and come back. */
export type DynamoDbFault =
  /** The database never hears of it, and the caller hears this. */
  | DynamoDbResponse
  /** The connection breaks before the database hears of it. */
  | 'lost call'
  /** The database does it, and the connection breaks before the caller hears so. */
  | 'lost answer'
  /** The database never hears of it, and the caller hears nothing either. */
  | 'no answer';

/**
 * Hears every call that the caller's role allows, before the database does; a promise holds the
 * call until it is settled. What it returns becomes of the call.
 */
export type DynamoDbHook = (
  call: DynamoDbCall,
) => DynamoDbFault | undefined | Promise<DynamoDbFault | undefined>;

export interface DynamoDbProxyOptions {
  /** Where the database is. */
  readonly target: string;
  /** What the functions may do; all else is refused as DynamoDB refuses it. */
  readonly grants: Grants;
  readonly onCall?: DynamoDbHook | undefined;
}

export interface DynamoDbProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Stands between the functions and the local DynamoDB, as IAM does in AWS, and sees every call. */
export async function startDynamoDbProxy(options: DynamoDbProxyOptions): Promise<DynamoDbProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((message, response) => {
    answer(options, agent, message, response).catch(() => response.destroy());
  });
  // The functions' clients keep connections open; closing one first would fail their next call.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      agent.destroy();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  { target, grants, onCall }: DynamoDbProxyOptions,
  agent: Agent,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await buffer(message);
  const call = callOf(message, body);
  const refused = firstRefused(call, grants);
  const fault = refused ? accessDenied(call, refused) : await onCall?.(call);
  switch (fault) {
    case undefined:
      return forward(target, agent, message, body, (reply) => {
        response.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(response);
        reply.once('error', () => response.destroy());
      });
    case 'lost answer':
      return forward(target, agent, message, body, (reply) => {
        reply.resume();
        response.destroy();
      });
    case 'lost call':
      response.destroy();
      return;
    case 'no answer':
      return;
    default:
      response.writeHead(fault.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(fault.body));
  }
}

function callOf({ headers }: IncomingMessage, body: Buffer): DynamoDbCall {
  const [, caller = ''] = /Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  const parameters = JSON.parse(body.toString()) as DynamoDbParameters;
  return { caller, operation, parameters, needs: neededGrants(operation, parameters) };
}

function firstRefused({ caller, needs }: DynamoDbCall, grants: Grants): Grant | undefined {
  const own = grants.get(caller) ?? [];
  return needs.find(
    ({ action, resource }) =>
      !own.some((grant) => grant.action === action && grant.resource === resource),
  );
}

function accessDenied({ caller }: DynamoDbCall, { action, resource }: Grant): DynamoDbResponse {
  return errorResponse(
    'AccessDeniedException',
    `${caller} is not authorized to perform: ${action} on resource: ${resource} ` +
      `because no identity-based policy allows the ${action} action`,
  );
}

/** @throws as the database itself would, were it to go away. */
async function forward(
  target: string,
  agent: Agent,
  { method, headers }: IncomingMessage,
  body: Buffer,
  receive: (reply: IncomingMessage) => void,
): Promise<void> {
  const onward = request(target, { method, headers, agent });
  onward.end(body);
  const [reply] = (await once(onward, 'response')) as [IncomingMessage];
  receive(reply);
}
