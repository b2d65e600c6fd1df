import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

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
