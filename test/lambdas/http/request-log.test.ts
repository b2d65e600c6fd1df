import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import { routes } from '../../../contract/routes.ts';
import { networkOf } from '../../../lambdas/http/client-address.ts';
import { cors } from '../../../lambdas/http/cors.ts';
import { errorResponses } from '../../../lambdas/http/error-responses.ts';
import { requestLog } from '../../../lambdas/http/request-log.ts';
import { respond } from '../../../lambdas/http/response.ts';

/** Runs a request through a chain. @returns the status and the logged lines. */
async function run(method: string, respondWith: () => Promise<ReturnType<typeof respond>>) {
  const lines: object[] = [];
  let attributes = {};
  const write = (level: string) => (message: string, line: object) =>
    lines.push({ level, message, ...attributes, ...line });
  const logger = {
    info: write('INFO'),
    error: write('ERROR'),
    setPersistentLogAttributes: (given: object) => {
      attributes = given;
    },
  } as unknown as Logger;
  const times = [1000, 1012];
  const handler = middy(requestLog(logger, () => new Date(times.shift()!)))
    .use(cors(routes.subscribe))
    .use(errorResponses())
    .handler(respondWith);
  const event = {
    version: '2.0',
    headers: {},
    pathParameters: { projectId: 'shop' },
    requestContext: { requestId: 'r', http: { method, sourceIp: '203.0.113.7' } },
  };
  const { statusCode } = await handler(event as never, { awsRequestId: 'i' } as never);
  return { statusCode, lines };
}

const line = (method: string, status: number, more: object = {}) => ({
  message: 'request',
  request_id: 'r',
  function_request_id: 'i',
  method,
  project_id: 'shop',
  network: '203.0.113.0/24',
  status,
  ms: 12,
  ...more,
});

test('a request logs one line', async () => {
  const { lines } = await run('POST', async () => respond(201, {}));
  expect(lines).toEqual([line('POST', 201, { level: 'INFO' })]);
});

test('a preflight logs one line, without running the handler', async () => {
  const { statusCode, lines } = await run('OPTIONS', () =>
    Promise.reject(new Error('The handler ran.')),
  );
  expect(statusCode).toBe(204);
  expect(lines).toEqual([line('OPTIONS', 204, { level: 'INFO' })]);
});

test('an unexpected error logs one line, with the error', async () => {
  const error = new Error('boom');
  const { lines } = await run('POST', () => Promise.reject(error));
  expect(lines).toEqual([line('POST', 500, { level: 'ERROR', code: 'internal_error', error })]);
});

test.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:DB8:0001::9', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  ['no address', undefined],
])('the address %s is logged as the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
