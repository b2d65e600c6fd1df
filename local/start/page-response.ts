import type { GatewayResponse } from 'aws-emulator/gateway';
import { refusalText } from 'aws-emulator/loopback';

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  map: 'application/json',
  json: 'application/json',
};

/** @param name whose extension tells the media type. */
export function fileResponse(
  name: string,
  contents: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): GatewayResponse {
  return {
    status,
    headers: {
      'content-type': mediaTypes[name.slice(name.lastIndexOf('.') + 1)]!,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    body: Buffer.from(contents),
  };
}

export function jsonResponse(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse {
  return fileResponse('.json', Buffer.from(JSON.stringify(body)), headers, status);
}

/** The response to a request of another site. */
export const forbidden = jsonResponse(403, { message: refusalText });
