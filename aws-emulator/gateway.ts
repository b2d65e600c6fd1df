import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayResponse } from './gateway-payload.ts';
import {
  type HandlerOptions,
  handleRequest,
  type Pages,
  type Refusal,
  readTarget,
} from './gateway-request.ts';
import { closeServer } from './loopback.ts';
import type { GatewayRoute, RouteMatch, Throttle } from './routes.ts';

/** The log line of one request. */
export interface AccessLine {
  readonly method: string;
  /** Undefined if no route matches. The URL is left out: it may contain secrets. */
  readonly match: RouteMatch | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** Whether a page of the gateway's own origin sent it. */
  readonly isFromPage: boolean;
}

export type { GatewayResponse, Pages, RouteMatch };

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
  /** Is called with each response, and the match of its request. */
  readonly onResponse?:
    | ((match: RouteMatch | undefined, response: GatewayResponse) => void)
    | undefined;
  /** Handles requests without a route. Default: the gateway responds 404. */
  readonly pages?: Pages | undefined;
}

/** The API that the gateway serves. */
export interface Api extends Pick<HandlerOptions, 'invoke'> {
  readonly routes: readonly GatewayRoute[];
  /** False switches the template's throttles off, for tests and benchmarks. Default: true. */
  readonly throttled?: boolean | undefined;
  /** The monotonic clock of the throttles. */
  readonly nowMs?: (() => number) | undefined;
  /** The clock that events have their time from: ms since the epoch. Default: the system's. */
  readonly wallClock?: (() => number) | undefined;
}

/** API Gateway's limit for the request line and the headers. */
const headerLimitBytes = 10_240;

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
  onResponse = () => {},
  pages = async () => undefined,
}: GatewayOptions) {
  let opened: (HandlerOptions & Pick<Api, 'routes'>) | undefined;
  const hasPages = ({ socket }: IncomingMessage) =>
    pagesPort === undefined || socket.localPort === pagesPort;
  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const startedAtMs = performance.now();
    // In the form of API Gateway's.
    const requestId = randomBytes(11).toString('base64');
    const api = opened;
    const target = readTarget(message, api?.routes ?? []);
    response.on('finish', () =>
      onRequest({
        method: message.method ?? '',
        match: target.match,
        status: response.statusCode,
        durationMs: performance.now() - startedAtMs,
        isFromPage: message.headers['sec-fetch-site'] === 'same-origin',
      }),
    );
    const send = (result: GatewayResponse | Refusal) => {
      const sent = typeof result === 'string' ? ownResponse(responses[result]) : result;
      onResponse(target.match, sent);
      write(response, sent, requestId);
    };
    try {
      send(api ? await handleRequest(message, target, requestId, api) : starting(message));
    } catch (error) {
      // The client closed the connection during its request.
      if (!message.complete) return;
      onFailure(error);
      send('failed');
    }
  };
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
    /** Serves this API from now on. Until then, every response is 503. */
    open(api: Api) {
      const { routes, invoke, wallClock = Date.now } = api;
      const admits = throttles(api);
      const pagesThere: Pages = async (request) => (hasPages(request) ? pages(request) : undefined);
      opened = { routes, invoke, wallClock, pages: pagesThere, admits };
    },
    /** Closes every connection, also during a request. Idempotent. */
    stop,
  };
}

function throttles({
  routes,
  throttled = true,
  nowMs = () => performance.now(),
}: Api): HandlerOptions['admits'] {
  if (!throttled) return () => true;
  const buckets = new Map(routes.map((route) => [route, new TokenBucket(route.throttle, nowMs)]));
  return (route) => buckets.get(route)!.take();
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
export class TokenBucket {
  readonly #throttle: Throttle;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  /** @param nowMs a clock that never goes back. */
  constructor(throttle: Throttle, nowMs: () => number) {
    this.#throttle = throttle;
    this.#nowMs = nowMs;
    this.#tokens = throttle.burst;
    this.#filledAtMs = nowMs();
  }

  /** Takes a token. @returns false if the bucket is empty. */
  take(): boolean {
    const { ratePerSecond, burst } = this.#throttle;
    const nowMs = this.#nowMs();
    const added = ((nowMs - this.#filledAtMs) / 1000) * ratePerSecond;
    this.#tokens = Math.min(burst, this.#tokens + added);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
