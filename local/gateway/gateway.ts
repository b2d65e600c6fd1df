import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FunctionError } from '../lambda/function-instance.ts';
import type { GatewayRoute } from '../template/routes.ts';
import { gatewayEvent, sourceAddress } from './event.ts';
import { matchRoute, type RouteMatch } from './match-route.ts';
import { type GatewayResponse, gatewayResponse, gatewayResponses } from './response.ts';
import { startingResponse } from './starting.ts';
import { TokenBucket } from './token-bucket.ts';

/** One answered request. */
export interface AccessLine {
  readonly method: string;
  /** Undefined where no route takes the request. The address itself may hold secrets. */
  readonly match: RouteMatch | undefined;
  readonly status: number;
  readonly milliseconds: number;
}

export interface GatewayOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  readonly onRequest?: ((line: AccessLine) => void) | undefined;
  /** Hears why a request was answered 500, where the function itself has not failed. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Answers requests that no route takes; undefined leaves them to the gateway's 404. */
  readonly pages?: Pages | undefined;
}

/** What the gateway answers for. */
export interface Api {
  readonly routes: readonly GatewayRoute[];
  /**
   * Runs a function on an event, JSON.
   * @returns its result, JSON.
   */
  readonly invoke: (functionName: string, event: string, requestId: string) => Promise<string>;
  /**
   * Lets a client name its own address in `X-Forwarded-For`, so that a test or benchmark can play
   * many clients. API Gateway never does.
   */
  readonly trustForwardedFor?: boolean | undefined;
  /**
   * False lets every route take any number of requests, for tests and benchmarks that send more
   * than the template's throttles allow.
   */
  readonly throttled?: boolean | undefined;
  /** The clock of the throttles, in milliseconds; it never goes back. */
  readonly nowMs?: (() => number) | undefined;
}

/** Pages that are no part of the API, on its origin. */
export type Pages = (request: IncomingMessage) => Promise<GatewayResponse | undefined>;

export interface Gateway {
  /** `http://localhost:<port>`. */
  readonly origin: string;
  /** Answers for this API from now on. Before that, every request gets 503. */
  open(api: Api): void;
  /** Ends every connection, those without a response included. Idempotent. */
  stop(): Promise<void>;
}

/** Bytes of a body that API Gateway takes. */
const bodyLimit = 10 * 1024 * 1024;

/** Bytes of an event that Lambda takes in a synchronous invocation. */
const eventLimit = 6 * 1024 * 1024;

/** Bytes of a request's line and headers that API Gateway takes. */
const headerLimit = 10_240;

/**
 * Answers HTTP as an API Gateway HTTP API does, once it is opened.
 * @throws the error of `listen`, such as `EADDRINUSE`.
 */
export async function startGateway({
  port = 0,
  onRequest = () => {},
  onFailure = () => {},
  pages = async () => undefined,
}: GatewayOptions): Promise<Gateway> {
  let opened: OpenedApi | undefined;
  const server = createServer({ maxHeaderSize: headerLimit }, async (message, response) => {
    const begin = performance.now();
    const requestId = randomUUID();
    const api = opened;
    const target = readTarget(message, api?.routes ?? []);
    response.on('finish', () =>
      onRequest({
        method: message.method ?? '',
        match: target.match,
        status: response.statusCode,
        milliseconds: performance.now() - begin,
      }),
    );
    try {
      const given = api && (await answer(message, target, requestId, api, pages));
      write(response, given ?? startingResponse(message), requestId);
    } catch (error) {
      // A client that hung up in the middle of its body gets no answer.
      if (!message.complete) return;
      onFailure(error);
      write(response, gatewayResponses.failed, requestId);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    open(api) {
      opened = { ...api, admits: throttles(api) };
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface OpenedApi extends Api {
  /** Tells of each request whether its route's throttle lets it pass. */
  readonly admits: (route: GatewayRoute) => boolean;
}

function throttles({
  routes,
  throttled = true,
  nowMs = () => performance.now(),
}: Api): OpenedApi['admits'] {
  if (!throttled) return () => true;
  const buckets = new Map(routes.map((route) => [route, new TokenBucket(route.throttle, nowMs)]));
  return (route) => buckets.get(route)!.take();
}

interface Target {
  /** Decoded, without the query; undefined where it cannot be decoded. */
  readonly path: string | undefined;
  /** As it came, without the question mark. */
  readonly query: string;
  readonly match: RouteMatch | undefined;
}

function readTarget(
  { method = '', url = '' }: IncomingMessage,
  routes: readonly GatewayRoute[],
): Target {
  const [, rawPath = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  const path = decodePath(rawPath);
  const match = path === undefined ? undefined : matchRoute(routes, method, path);
  return { path, query, match };
}

async function answer(
  message: IncomingMessage,
  { path, query, match }: Target,
  requestId: string,
  { invoke, trustForwardedFor = false, admits }: OpenedApi,
  pages: Pages,
): Promise<GatewayResponse> {
  const time = new Date();
  const body = await readBody(message);
  if (path === undefined) return gatewayResponses.badRequest;
  if (match === undefined) return (await pages(message)) ?? gatewayResponses.notFound;
  if (!admits(match.route)) return gatewayResponses.throttled;
  if (body === undefined) return gatewayResponses.tooLarge;
  const sourceIp = sourceAddress(message, trustForwardedFor);
  const event = JSON.stringify(
    gatewayEvent({ message, body, path, query, sourceIp, requestId, time }, match),
  );
  if (Buffer.byteLength(event) > eventLimit) return gatewayResponses.tooLarge;
  const { functionName, timeout } = match.route;
  return within(timeout, answerOf(invoke(functionName, event, requestId)));
}

async function answerOf(invocation: Promise<string>): Promise<GatewayResponse> {
  try {
    return gatewayResponse(await invocation);
  } catch (error) {
    if (error instanceof FunctionError) return gatewayResponses.failed;
    throw error;
  }
}

/** Past the gateway's patience the function goes on, but nobody waits for it. */
async function within(
  timeout: number,
  answering: Promise<GatewayResponse>,
): Promise<GatewayResponse> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<GatewayResponse>((resolve) => {
    timer = setTimeout(() => resolve(gatewayResponses.timedOut), timeout);
  });
  try {
    return await Promise.race([answering, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The body, or undefined where it is too long; it is then read to its end, and not kept. */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyLimit) chunks.length = 0;
    else chunks.push(chunk);
  }
  return length > bodyLimit ? undefined : Buffer.concat(chunks);
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
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
