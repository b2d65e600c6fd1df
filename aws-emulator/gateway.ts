import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Invoke, Throttled } from './executions.ts';
import { FunctionError } from './function-pool.ts';
import {
  functionResponse,
  type GatewayRequest,
  type GatewayResponse,
  gatewayEvent,
} from './gateway-payload.ts';
import { closeServer, readBody } from './loopback.ts';
import { type GatewayRoute, matchRoute, type RouteMatch, type Throttle } from './routes.ts';

export type { GatewayResponse, RouteMatch };

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

/** A request that has its response. */
export interface AccessLine {
  readonly method: string;
  /** Undefined if no route matches. The URL is left out: it may contain secrets. */
  readonly match: RouteMatch | undefined;
  readonly response: GatewayResponse;
  readonly durationMs: number;
  /** Whether a page of the gateway's own origin sent it. */
  readonly isFromPage: boolean;
}

export interface GatewayOptions {
  /** What API Gateway itself responds. */
  readonly responses: Readonly<
    Record<Refusal, { readonly status: number; readonly message: string }>
  >;
  /** The response to each request until the gateway is opened. */
  readonly starting: (request: IncomingMessage) => GatewayResponse;
  /** Default: 0, any free port. */
  readonly port?: number | undefined;
  /** A second port, which also serves the API; only there are the pages. Default: the pages are at `port`. */
  readonly pagesPort?: number | undefined;
  readonly onRequest?: ((line: AccessLine) => void) | undefined;
  /** Is called with the error behind a 500, unless it is the function's own error. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Handles requests without a route. Default: the gateway responds 404. */
  readonly pages?: Pages | undefined;
}

/** The API that the gateway serves. */
export interface Api {
  readonly routes: readonly GatewayRoute[];
  readonly invoke: Invoke;
  /** False switches the template's throttles off, for tests and benchmarks. Default: true. */
  readonly throttled?: boolean | undefined;
  /** The monotonic clock of the throttles. */
  readonly nowMs?: (() => number) | undefined;
  /** The clock that events have their time from: ms since the epoch. Default: the system's. */
  readonly wallClock?: (() => number) | undefined;
}

/** API Gateway's limit for the request line and the headers. */
const headerLimitBytes = 10_240;
/** Limit of API Gateway's HTTP APIs for a request body. */
const bodyLimitBytes = 10 * 1024 * 1024;
/** Limit of Lambda for the event of a synchronous invocation. */
const eventLimitBytes = 6 * 1024 * 1024;

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Starts a server that responds as an API Gateway HTTP API does once it is opened.
 * @throws the error of `listen`, such as `EADDRINUSE`.
 */
export async function startGateway({
  responses,
  starting,
  port = 0,
  pagesPort,
  onRequest = () => {},
  onFailure = () => {},
  pages = async () => undefined,
}: GatewayOptions) {
  let api: OpenApi | undefined;
  const pagesOf: Pages = async (request) =>
    pagesPort === undefined || request.socket.localPort === pagesPort ? pages(request) : undefined;

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAtMs = performance.now();
    const request = readRequest(message, api?.routes ?? []);
    const { method, match, requestId } = request;
    const isFromPage = message.headers['sec-fetch-site'] === 'same-origin';
    const send = (result: GatewayResponse | Refusal) => {
      const sent = typeof result === 'string' ? ownResponse(responses[result]) : result;
      write(response, sent, requestId);
      const durationMs = performance.now() - startedAtMs;
      onRequest({ method, match, response: sent, durationMs, isFromPage });
    };
    try {
      send(api ? await handleRequest(request, api, pagesOf) : starting(message));
    } catch (error) {
      // The client closed the connection during its request.
      if (!message.complete) return;
      onFailure(error);
      send('failed');
    }
  }

  const servers: Server[] = [];
  const stop = async () => {
    await Promise.all(servers.map(closeServer));
  };
  try {
    for (const each of pagesPort === undefined ? [port] : [port, pagesPort]) {
      const server = createServer({ maxHeaderSize: headerLimitBytes }, respond);
      // No timeout: a request on a connection that is being closed would fail.
      server.keepAliveTimeout = 0;
      server.listen(each, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** `http://localhost:<port>`. */
    origin: `http://localhost:${(servers[0]!.address() as AddressInfo).port}`,
    /** Serves this API from now on. Until then, every response is the one while it starts. */
    open({ routes, invoke, throttled = true, nowMs = monotonicClock, wallClock = Date.now }: Api) {
      const buckets = routes.map(
        (route) => [route, new TokenBucket(route.throttle, nowMs)] as const,
      );
      api = { routes, invoke, wallClock, buckets: new Map(throttled ? buckets : []) };
    },
    /** Closes every connection, also during a request. Idempotent. */
    stop,
  };
}

const monotonicClock = () => performance.now();

interface OpenApi {
  readonly routes: readonly GatewayRoute[];
  readonly invoke: Invoke;
  readonly wallClock: () => number;
  /** Limits of the routes that are throttled. */
  readonly buckets: ReadonlyMap<GatewayRoute, TokenBucket>;
}

/** A request before its body. */
interface Request extends Omit<GatewayRequest, 'path'> {
  readonly method: string;
  /** Undefined if it cannot be decoded. */
  readonly path: string | undefined;
  readonly match: RouteMatch | undefined;
}

function readRequest(message: IncomingMessage, routes: readonly GatewayRoute[]): Request {
  const { method = '', url = '' } = message;
  const [, rawPath = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  const path = decodePath(rawPath);
  const match = path === undefined ? undefined : matchRoute(routes, method, path);
  // The id has the form of API Gateway's.
  return { message, method, path, query, match, requestId: randomBytes(11).toString('base64') };
}

/** Handles a request as an API Gateway HTTP API does. */
async function handleRequest(
  { path, match, ...request }: Request,
  { invoke, wallClock, buckets }: OpenApi,
  pages: Pages,
): Promise<GatewayResponse | Refusal> {
  const time = new Date(wallClock());
  const body = await readBody(request.message, bodyLimitBytes);
  if (path === undefined) return 'badRequest';
  if (match === undefined) return (await pages(request.message)) ?? 'notFound';
  if (buckets.get(match.route)?.take() === false) return 'throttled';
  if (body === undefined) return 'tooLarge';
  const event = JSON.stringify(gatewayEvent({ ...request, path }, body, time, match));
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
  const waiting = new AbortController();
  const timedOut = sleep(timeoutMs, 'unavailable' as const, { signal: waiting.signal });
  return Promise.race([response, timedOut]).finally(() => waiting.abort());
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function ownResponse({ status, message }: GatewayOptions['responses'][Refusal]): GatewayResponse {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: Buffer.from(JSON.stringify({ message })) };
}

function write(
  response: ServerResponse,
  { status, headers, body }: GatewayResponse,
  requestId: string,
): void {
  response.writeHead(status, {
    ...(headers as Record<string, string | string[]>),
    'apigw-requestid': requestId,
    'content-length': body.length,
  });
  response.end(body);
}

/**
 * Throttles as API Gateway does. The bucket starts with `burst` tokens. Each request takes one, and
 * `ratePerSecond` tokens are added per second up to `burst`.
 */
class TokenBucket {
  #tokens: number;
  #filledAtMs: number;

  /** @param nowMs a clock that never goes back. */
  constructor(
    private readonly throttle: Throttle,
    private readonly nowMs: () => number,
  ) {
    this.#tokens = throttle.burst;
    this.#filledAtMs = nowMs();
  }

  /** Takes a token. @returns false if the bucket is empty. */
  take(): boolean {
    const { ratePerSecond, burst } = this.throttle;
    const nowMs = this.nowMs();
    const added = ((nowMs - this.#filledAtMs) / 1000) * ratePerSecond;
    this.#tokens = Math.min(burst, this.#tokens + added);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
