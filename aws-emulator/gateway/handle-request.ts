import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Invoke, Throttled } from '../lambda/executions.ts';
import { FunctionError } from '../lambda/function-instance.ts';
import type { GatewayRoute } from '../routes.ts';
import { gatewayEvent, sourceAddress } from './event.ts';
import { matchRoute, type RouteMatch } from './match-route.ts';
import { type GatewayResponse, gatewayResponse, gatewayResponses } from './response.ts';

/** Returns pages that are not part of the API. Undefined makes the gateway respond 404. */
export type Pages = (request: IncomingMessage) => Promise<GatewayResponse | undefined>;

export interface HandlerOptions {
  readonly invoke: Invoke;
  /** Whether the route's throttle admits one more request. */
  readonly admits: (route: GatewayRoute) => boolean;
  /** Ms since the epoch. */
  readonly wallClock: () => number;
  readonly pages: Pages;
}

/** The target of a request. */
export interface Target {
  /** Decoded, without the query. Undefined if it cannot be decoded. */
  readonly path: string | undefined;
  /** Not decoded, without the question mark. */
  readonly query: string;
  readonly match: RouteMatch | undefined;
}

/** Limit of API Gateway's HTTP APIs for a request body. */
const bodyLimitBytes = 10 * 1024 * 1024;

/** Limit of Lambda for the event of a synchronous invocation. */
const eventLimitBytes = 6 * 1024 * 1024;

export function readTarget(
  { method = '', url = '' }: IncomingMessage,
  routes: readonly GatewayRoute[],
): Target {
  const [, rawPath = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  const path = decodePath(rawPath);
  const match = path === undefined ? undefined : matchRoute(routes, method, path);
  return { path, query, match };
}

/** Handles a request as an API Gateway HTTP API does. */
export async function handleRequest(
  message: IncomingMessage,
  { path, query, match }: Target,
  requestId: string,
  { invoke, admits, wallClock, pages }: HandlerOptions,
): Promise<GatewayResponse> {
  const time = new Date(wallClock());
  const body = await readBody(message);
  if (path === undefined) return gatewayResponses.badRequest;
  if (match === undefined) return (await pages(message)) ?? gatewayResponses.notFound;
  if (!admits(match.route)) return gatewayResponses.throttled;
  if (body === undefined) return gatewayResponses.tooLarge;
  const sourceIp = sourceAddress(message);
  const event = JSON.stringify(
    gatewayEvent({ message, body, path, query, sourceIp, requestId, time }, match),
  );
  if (Buffer.byteLength(event) > eventLimitBytes) return gatewayResponses.tooLarge;
  const { functionName, timeoutMs } = match.route;
  // Lambda gives the invocation an id of its own.
  return within(timeoutMs, responseOf(invoke(functionName, event, randomUUID())));
}

async function responseOf(invocation: Promise<string>): Promise<GatewayResponse> {
  try {
    return gatewayResponse(await invocation);
  } catch (error) {
    if (error instanceof FunctionError) return gatewayResponses.failed;
    if (error instanceof Throttled) return gatewayResponses.unavailable;
    throw error;
  }
}

/** Responds 503 after the timeout. The function continues, but its result is ignored. */
async function within(
  timeoutMs: number,
  response: Promise<GatewayResponse>,
): Promise<GatewayResponse> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<GatewayResponse>((resolve) => {
    timer = setTimeout(() => resolve(gatewayResponses.unavailable), timeoutMs);
  });
  try {
    return await Promise.race([response, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the whole body, also one that is too long. @returns undefined if it is too long. */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    lengthBytes += chunk.length;
    if (lengthBytes > bodyLimitBytes) chunks.length = 0;
    else chunks.push(chunk);
  }
  return lengthBytes > bodyLimitBytes ? undefined : Buffer.concat(chunks);
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
