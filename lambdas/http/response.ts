import type { MiddlewareObj } from '@middy/core';
import httpCors from '@middy/http-cors';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type ErrorBody, errorTable, ServiceError } from '../../contract/wire/errors.ts';
import { limits } from '../../contract/wire/limits.ts';
import { type Route, routes } from '../../contract/wire/routes.ts';

export type HttpResponse = APIGatewayProxyStructuredResultV2;

/** Properties of a request's log line besides the ones of every request; null: it needs no line if it succeeds. */
export interface Logged {
  logged?: Readonly<Record<string, string | number | true>> | null;
}

/** A middleware that adds `Added` to the gateway's event (payload format 2.0). */
export type Middleware<Added = object> = MiddlewareObj<
  APIGatewayProxyEventV2 & Logged & Added,
  HttpResponse
>;

/** Browsers that have called the address once use https for a year. */
export const strictTransport = 'max-age=31536000';

export function respond(
  statusCode: number,
  body: object,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      // Counts change, user ids are personal data, and a proxy may be in front of the API.
      'Cache-Control': 'no-store',
      // The API shares its origin with the console.
      'X-Content-Type-Options': 'nosniff',
      'Strict-Transport-Security': strictTransport,
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** Turns errors into responses. Only a {@link ServiceError} tells the caller what happened. */
export function errorResponses(): Middleware {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      request.response = responseOf(asServiceError(request.error, requestId));
    },
  };
}

export function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const message = `Something went wrong here, not with your request. It is logged as ${requestId}.`;
  return new ServiceError('internal_error', message, { cause: error });
}

function responseOf(error: ServiceError): HttpResponse {
  const { code, message, issues, retryAfterSeconds, location } = error;
  const body: ErrorBody = { error: { code, message, issues } };
  const { status } = errorTable[code];
  return respond(status, body, {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    ...(location !== undefined && { Location: location }),
  });
}

/**
 * Lets pages of any origin call the route with any headers, which sites add to every request, and answers its preflight.
 * Every origin is allowed, because requests carry no cookies or other ambient credentials.
 */
export function cors({ path }: Route & { readonly caller: 'browser' }): Middleware {
  const methods = Object.values<Route>(routes)
    .filter((route) => route.path === path && route.caller === 'browser')
    .map(({ method }) => method);
  const middleware = httpCors({
    origin: '*',
    methods: methods.join(', '),
    headers: '*',
    exposeHeaders: 'Retry-After',
    maxAge: limits.preflightMaxAge,
    disableBeforePreflightResponse: false,
  });
  return {
    ...middleware,
    async before(request) {
      const response: HttpResponse | undefined = await middleware.before?.(request);
      if (response === undefined) return undefined;
      return { ...response, headers: { ...response.headers, ...allowedHeaders(request.event) } };
    },
  };
}

/** Requested headers that a preflight response repeats at most. */
const namedHeaders = 50;

/** Also by name what is requested: old browsers do not know `*`, and it does not include `Authorization`. */
function allowedHeaders({ headers }: APIGatewayProxyEventV2) {
  const requested = (headers['access-control-request-headers'] ?? '').split(',');
  const names = requested.map((name) => name.trim()).filter((name) => fieldName.test(name));
  return {
    'Access-Control-Allow-Headers': ['*', ...names.slice(0, namedHeaders)].join(', '),
    Vary: 'Access-Control-Request-Headers',
  };
}

/** RFC 9110 §5.1. */
const fieldName = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
