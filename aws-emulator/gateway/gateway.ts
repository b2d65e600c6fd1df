import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from '../close-server.ts';
import type { GatewayRoute } from '../routes.ts';
import { type HandlerOptions, handleRequest, type Pages, readTarget } from './handle-request.ts';
import type { RouteMatch } from './match-route.ts';
import { type GatewayResponse, gatewayResponses } from './response.ts';
import { startingResponse } from './starting.ts';
import { TokenBucket } from './token-bucket.ts';

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

export interface GatewayOptions {
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

/**
 * Starts a server that responds as an API Gateway HTTP API does once it is opened.
 * @throws the error of `listen`, such as `EADDRINUSE`.
 */
export async function startGateway({
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
    const send = (result: GatewayResponse) => {
      onResponse(target.match, result);
      write(response, result, requestId);
    };
    try {
      const result = api && (await handleRequest(message, target, requestId, api));
      send(result ?? startingResponse(message));
    } catch (error) {
      // The client closed the connection during its request.
      if (!message.complete) return;
      onFailure(error);
      send(gatewayResponses.failed);
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
