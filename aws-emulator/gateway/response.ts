import { gatewayResponseTable } from '../../contract/gateway-responses.ts';

/** A response to the client. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

const jsonType = { 'content-type': 'application/json' };

/** The responses that API Gateway itself sends. */
export const gatewayResponses = {
  badRequest: messageResponse('badRequest'),
  notFound: messageResponse('notFound'),
  tooLarge: messageResponse('tooLarge'),
  throttled: messageResponse('throttled'),
  failed: messageResponse('failed'),
  unavailable: messageResponse('unavailable'),
} as const;

/**
 * Converts a function's result by the rules of payload format 2.0: a result with a `statusCode` is a
 * response; any other result is the JSON body of a 200.
 * @param payload JSON.
 */
export function gatewayResponse(payload: string): GatewayResponse {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = typeof result === 'string' ? result : payload;
    return { status: 200, headers: jsonType, body: Buffer.from(body) };
  }
  const { statusCode, headers = {}, body = '', cookies = [], isBase64Encoded } = result as Result;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599 || typeof body !== 'string') {
    return gatewayResponses.failed;
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

function messageResponse(name: keyof typeof gatewayResponseTable): GatewayResponse {
  const { status, message } = gatewayResponseTable[name];
  return { status, headers: jsonType, body: Buffer.from(JSON.stringify({ message })) };
}
