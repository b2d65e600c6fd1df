import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Invoke, Throttled } from './executions.ts';
import { FunctionError } from './function-pool.ts';
import {
  functionResponse,
  type GatewayResponse,
  gatewayEvent,
  sourceAddress,
} from './gateway-payload.ts';
import type { GatewayRoute, RouteMatch } from './routes.ts';

/** Why API Gateway itself responds, and not the function. */
export type Refusal =
  | 'badRequest'
  | 'notFound'
  | 'tooLarge'
  | 'throttled'
  /** The function failed, or its result is no response. */
  | 'failed'
  /** The function did not respond in time, or Lambda throttles. */
  | 'unavailable';

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
): Promise<GatewayResponse | Refusal> {
  const time = new Date(wallClock());
  const body = await readBody(message);
  if (path === undefined) return 'badRequest';
  if (match === undefined) return (await pages(message)) ?? 'notFound';
  if (!admits(match.route)) return 'throttled';
  if (body === undefined) return 'tooLarge';
  const sourceIp = sourceAddress(message);
  const event = JSON.stringify(
    gatewayEvent({ message, body, path, query, sourceIp, requestId, time }, match),
  );
  if (Buffer.byteLength(event) > eventLimitBytes) return 'tooLarge';
  const { functionName, timeoutMs } = match.route;
  // Lambda gives the invocation an id of its own.
  return within(timeoutMs, responseOf(invoke(functionName, event, randomUUID())));
}

async function responseOf(invocation: Promise<string>): Promise<GatewayResponse | Refusal> {
  try {
    return functionResponse(await invocation) ?? 'failed';
  } catch (error) {
    if (error instanceof FunctionError) return 'failed';
    if (error instanceof Throttled) return 'unavailable';
    throw error;
  }
}

/** Does not wait longer than the timeout. The function continues, but its result is ignored. */
async function within(
  timeoutMs: number,
  response: Promise<GatewayResponse | Refusal>,
): Promise<GatewayResponse | Refusal> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => resolve('unavailable'), timeoutMs);
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

/**
 * Finds the route of a request. If several match, it returns the one with the fewest parameters.
 * @param path decoded.
 */
function matchRoute(
  routes: readonly GatewayRoute[],
  method: string,
  path: string,
): RouteMatch | undefined {
  const segments = path.split('/').slice(1);
  const matches = routes.flatMap((route) => {
    if (route.method !== method || route.segments.length !== segments.length) return [];
    const parameters: Record<string, string> = {};
    for (const [index, expected] of route.segments.entries()) {
      const actual = segments[index] ?? '';
      const name = /^\{(.+)\}$/.exec(expected)?.[1];
      if (name === undefined ? actual !== expected : actual === '') return [];
      if (name !== undefined) parameters[name] = actual;
    }
    return [{ route, parameters }];
  });
  const count = ({ parameters }: RouteMatch) => Object.keys(parameters).length;
  return matches.sort((one, other) => count(one) - count(other))[0];
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
