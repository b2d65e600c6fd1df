import type { IncomingMessage } from 'node:http';
import type { GatewayResponse } from 'aws-emulator/gateway';

const retryAfterSeconds = '1';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="refresh" content="${retryAfterSeconds}">
    <title>Carillon is starting</title>
  </head>
  <body>
    <p>Carillon is starting. This page reloads by itself.</p>
  </body>
</html>
`;

/** The response while the stack starts: 503, for `GET /` with a page that reloads itself. */
export function startingResponse({ method, url }: IncomingMessage): GatewayResponse {
  const isPage = method === 'GET' && /^\/(\?|$)/.test(url ?? '');
  const body = isPage ? page : JSON.stringify({ message: 'Service Unavailable' });
  return {
    status: 503,
    headers: {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json',
      'cache-control': 'no-store',
      'retry-after': retryAfterSeconds,
    },
    body: Buffer.from(body),
  };
}
