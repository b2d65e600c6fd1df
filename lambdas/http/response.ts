import type { MiddlewareObj } from '@middy/core';
import httpCors from '@middy/http-cors';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type ErrorBody, errorTable, ServiceError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { type Route, routes } from '../../contract/routes.ts';

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

export function respond(
  statusCode: number,
  body: object,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return {
    statusCode,
    // Counts change, user ids are personal data, and a proxy may be in front of the API.
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
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

function responseOf({ code, message, issues, retryAfterSeconds }: ServiceError): HttpResponse {
  const body: ErrorBody = { error: { code, message, issues } };
  const { status } = errorTable[code];
  return respond(status, body, {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  });
}

/**
 * Lets pages of any origin call the route, and answers its preflight. Every origin is allowed,
 * because requests carry no cookies or other ambient credentials.
 */
export function cors({ path }: Route & { readonly caller: 'browser' }): Middleware {
  const methods = Object.values<Route>(routes)
    .filter((route) => route.path === path && route.caller === 'browser')
    .map(({ method }) => method);
  return httpCors({
    origin: '*',
    methods: methods.join(', '),
    headers: 'Content-Type',
    exposeHeaders: 'Retry-After',
    maxAge: limits.preflightMaxAge,
    disableBeforePreflightResponse: false,
  });
}
