import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { RouteMatch } from './routes.ts';
import { localAccount } from './template.ts';

/** A request as the gateway has read it. */
export interface GatewayRequest {
  readonly message: IncomingMessage;
  /** Decoded, without the query. */
  readonly path: string;
  /** Not decoded, without the question mark. */
  readonly query: string;
  readonly requestId: string;
}

/**
 * Creates the event of a request in API Gateway's payload format 2.0: the path is decoded, the query
 * string is not; header names are in lower case; values of repeated names are joined with commas.
 */
export function gatewayEvent(
  { message, path, query, requestId }: GatewayRequest,
  body: Buffer,
  time: Date,
  match: RouteMatch,
): APIGatewayProxyEventV2 {
  const sourceIp = message.socket.remoteAddress ?? '';
  const { cookie, ...headers } = joinedHeaders(message);
  const host = headers.host ?? '';
  const forwardedFor = headers['x-forwarded-for'];
  const parameters = joinedQuery(query);
  const { routeKey } = match.route;
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookie !== undefined && { cookies: cookie.split(/; */) }),
    headers: {
      ...headers,
      'x-forwarded-for': forwardedFor === undefined ? sourceIp : `${forwardedFor}, ${sourceIp}`,
      'x-forwarded-port': String(message.socket.localPort),
      'x-forwarded-proto': 'http',
    },
    ...(query !== '' && { queryStringParameters: parameters }),
    ...(Object.keys(match.parameters).length > 0 && { pathParameters: match.parameters }),
    requestContext: {
      accountId: localAccount,
      apiId: 'local',
      domainName: host.replace(/:\d+$/, ''),
      domainPrefix: 'local',
      http: {
        method: message.method ?? '',
        path,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: commonLogTime(time),
      timeEpoch: time.getTime(),
    },
    ...eventBody(body, headers['content-type']),
  };
}

function joinedHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );
}

function joinedQuery(query: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const previous = values.get(name);
    values.set(name, previous === undefined ? value : `${previous},${value}`);
  }
  return Object.fromEntries(values);
}

/**
 * Media types whose bodies are passed as text. Other bodies are passed as base64, including forms and
 * bodies without a type. Observed on API Gateway; its documentation only says "binary".
 */
const textTypes = /^(text\/.*|application\/(json|javascript|xml))$/;

function eventBody(body: Buffer, contentType = ''): { body?: string; isBase64Encoded: boolean } {
  if (body.length === 0) return { isBase64Encoded: false };
  const [mediaType = ''] = contentType.toLowerCase().split(';');
  return textTypes.test(mediaType.trim())
    ? { body: body.toString('utf8'), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true };
}

/** `12/Mar/2026:19:03:58 +0000`. */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}

/** A response to the client. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

const jsonType = { 'content-type': 'application/json' };

/**
 * Converts a function's result by the rules of payload format 2.0: a result with a `statusCode` is a
 * response; any other result is the JSON body of a 200.
 * @param payload JSON.
 * @returns undefined if it is neither.
 */
export function functionResponse(payload: string): GatewayResponse | undefined {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = typeof result === 'string' ? result : payload;
    return { status: 200, headers: jsonType, body: Buffer.from(body) };
  }
  const { statusCode, headers = {}, body = '', cookies = [], isBase64Encoded } = result as Result;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599 || typeof body !== 'string') {
    return undefined;
  }
  return {
    status,
    headers: {
      ...(body !== '' && { 'content-type': 'text/plain;charset=UTF-8' }),
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
      ...(cookies.length > 0 && { 'set-cookie': cookies }),
    },
    body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

interface Result {
  readonly statusCode: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly cookies?: readonly string[];
  readonly isBase64Encoded?: boolean;
}
