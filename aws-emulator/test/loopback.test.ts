import type { IncomingHttpHeaders } from 'node:http';
import { startDynamoDbProxy, startGuard } from '../dynamodb-proxy.ts';
import { Executions } from '../executions.ts';
import { startLambdaApi } from '../lambda-api.ts';
import { type AwsService, isAllowedRequest } from '../loopback.ts';

const host = { host: 'localhost:4000' };
const isAllowed = (headers: IncomingHttpHeaders) =>
  isAllowedRequest({ headers, socket: { localPort: 4000 } });

test.each<[string, IncomingHttpHeaders]>([
  ['a tool', host],
  ['a tool that uses 127.0.0.1', { host: '127.0.0.1:4000' }],
  ['its page', { ...host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ['its page with an Origin header', { ...host, origin: 'http://localhost:4000' }],
  ['the address bar', { ...host, 'sec-fetch-site': 'none' }],
  [
    'Firefox for its push messages',
    { host: '127.0.0.1:4000', origin: 'ws://127.0.0.1:4000/', 'sec-fetch-site': 'none' },
  ],
])('a request of %s is allowed', (_, headers) => {
  expect(isAllowed(headers)).toBe(true);
});

test.each<[string, IncomingHttpHeaders]>([
  ['to another host', { host: 'evil.example' }],
  ['to another host on this port', { host: 'evil.example:4000' }],
  [
    'of a page whose name resolves to this machine',
    { host: 'evil.example:4000', origin: 'http://evil.example:4000' },
  ],
  ['to another port', { host: 'localhost:4001' }],
  ['without a host', {}],
  ['from a page of another site', { ...host, origin: 'https://evil.example' }],
  ['from a page on another port', { ...host, origin: 'http://localhost:3000' }],
  ['from a page on another loopback address', { ...host, origin: 'http://127.0.0.1:4000' }],
  ['from a page with an opaque origin', { ...host, origin: 'null' }],
  ['by a fetch from another site', { ...host, 'sec-fetch-site': 'cross-site' }],
  ['by a fetch from another port', { ...host, 'sec-fetch-site': 'same-site' }],
  [
    'by a navigation from another site',
    { ...host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ],
])('a request %s is refused', (_, headers) => {
  expect(isAllowed(headers)).toBe(false);
});

/** The check comes before the database, which does not exist. */
const target = 'http://127.0.0.1:1';

test.each<[server: string, start: () => Promise<AwsService>]>([
  ['the guard of DynamoDB Local', () => startGuard(target, 'id')],
  ['the database proxy', () => startDynamoDbProxy({ target, grants: new Map() })],
  [
    'the Lambda API',
    () =>
      startLambdaApi({
        functions: [],
        environments: new Map(),
        grants: new Map(),
        executions: new Executions(() => Promise.reject(new Error('No function is invoked.'))),
      }),
  ],
])('%s refuses a request of a page, and says why', async (_, start) => {
  const { endpoint, stop } = await start();
  try {
    const headers = { origin: 'https://evil.example' };
    const response = await fetch(endpoint, { method: 'POST', headers });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('no page of another origin');
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  } finally {
    await stop();
  }
});
