import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

export type Reply = APIGatewayProxyStructuredResultV2;

/** A middleware that adds `Added` to the gateway's event (payload format 2.0). */
export type Step<Added = object> = MiddlewareObj<APIGatewayProxyEventV2 & Added, Reply>;

export function reply(statusCode: number, body: object, headers: Reply['headers'] = {}): Reply {
  return {
    statusCode,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}
