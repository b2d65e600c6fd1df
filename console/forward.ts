import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Route, routes } from '../contract/routes.ts';
import { attemptTimeoutMs } from '../sdk/server/attempt.ts';

const ownerRoutes = Object.values<Route>(routes).filter(({ caller }) => caller === 'owner');

const requestHeaders = ['authorization', 'content-type', 'idempotency-key', 'prefer'] as const;
const responseHeaders = ['retry-after', 'apigw-requestid'] as const;
const safeHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const jsonHeaders = { 'content-type': 'application/json', ...safeHeaders };

/** Whether the console forwards this request: to a route that the contract has, for owners. */
export function isForwarded({
  method,
  url = '',
}: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  const segments = url.split('?')[0]!.split('/');
  return ownerRoutes.some((route) => {
    const expected = route.path.split('/');
    return (
      route.method === method &&
      expected.length === segments.length &&
      expected.every((segment, index) =>
        segment.startsWith('{') ? isParameter(segments[index]!) : segment === segments[index],
      )
    );
  });
}

/** An id: without dots, so that no path can be left, and without percent-encoding. */
function isParameter(segment: string): boolean {
  return /^[\w-]{1,64}$/.test(segment);
}

/**
 * Forwards a request to the service and streams its response. Of a response that is not JSON, the page gets the
 * status only: it is not from Carillon, and must not run under this origin. Without a response, the status is 502,
 * with an error in the form of the service's.
 * @param baseUrl origin of the service.
 */
export async function forward(
  baseUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const hasBody = request.method === 'POST';
  // A page that is closed, or has its response, waits for nothing more of the service.
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  let received: Response;
  try {
    received = await fetch(baseUrl + request.url, {
      method: request.method!,
      headers: pick(requestHeaders, (name) => request.headers[name] as string | undefined),
      ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
      // A redirected POST becomes a GET, and the key would follow.
      redirect: 'manual',
      signal: AbortSignal.any([closed.signal, AbortSignal.timeout(attemptTimeoutMs)]),
    } as RequestInit);
  } catch (error) {
    respondUnreachable(baseUrl, error as Error, response);
    return;
  }
  const headers = pick(responseHeaders, (name) => received.headers.get(name) ?? undefined);
  if (received.body === null || !isJson(received)) {
    response.writeHead(received.status, { ...headers, ...safeHeaders }).end();
    return;
  }
  response.writeHead(received.status, { ...headers, ...jsonHeaders });
  // An interrupted response is cut off for the page too.
  await pipeline(Readable.fromWeb(received.body as never), response).catch(() => {});
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '');
}

function respondUnreachable(baseUrl: string, error: Error, response: ServerResponse): void {
  // Such as ENOTFOUND.
  const { code = error.message } = Object(error.cause);
  const reason =
    error.name === 'TimeoutError' ? `no response within ${attemptTimeoutMs / 1000} s` : code;
  const message = `${baseUrl} cannot be reached (${reason}). Check the address that "npm run console" was started with, and the connection of this machine.`;
  const body = JSON.stringify({ error: { code: 'service_unreachable', message } });
  response.writeHead(502, jsonHeaders).end(body);
}

function pick(
  names: readonly string[],
  valueFor: (name: string) => string | undefined,
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueFor(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
