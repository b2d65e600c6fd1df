import { once } from 'node:events';
import { request } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  type AccessLine,
  type Api,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../../../local/gateway/gateway.ts';
import { FunctionError } from '../../../local/lambda/function-instance.ts';
import type { GatewayRoute } from '../../../local/template/routes.ts';

const routes: readonly GatewayRoute[] = ['GET', 'POST'].map((method) => ({
  routeKey: `${method} /things/{id}`,
  method,
  segments: ['things', '{id}'],
  functionName: 'Things',
  timeoutMs: 20_000,
  throttle: { ratePerSecond: 1, burst: 2 },
}));

let gateway: Gateway;
let events: APIGatewayProxyEventV2[];
let lines: AccessLine[];
let failures: unknown[];

afterEach(() => gateway.stop());

/** Starts a gateway whose function records the event and then calls `invoke`. */
async function gatewayOf(
  invoke: () => Promise<string> = async () => '{"statusCode":204}',
  { pages, ...api }: Partial<GatewayOptions & Api> = {},
): Promise<void> {
  events = [];
  lines = [];
  failures = [];
  gateway = await startGateway({
    onRequest: (line) => lines.push(line),
    onFailure: (error) => failures.push(error),
    pages,
  });
  gateway.open({
    routes,
    invoke: (_functionName, event) => {
      events.push(JSON.parse(event));
      return invoke();
    },
    ...api,
  });
}

const returning = (result: unknown) => async () => JSON.stringify(result);

/** @returns the response’s status, content type and text. */
async function call(path = '/things/1', init: RequestInit = {}) {
  const response = await fetch(gateway.origin + path, init);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  };
}

const message = (status: number, text: string) => ({
  status,
  type: 'application/json',
  text: JSON.stringify({ message: text }),
});

describe('the event', () => {
  test('has payload format 2.0', async () => {
    await gatewayOf();
    const before = Date.now();
    await call('/things/a%20b?x=1&y=%C3%A9&x=2', { headers: { 'User-Agent': 'test/1' } });
    const [event] = events;
    const host = gateway.origin.replace('http://', '');
    expect(event).toEqual({
      version: '2.0',
      routeKey: 'GET /things/{id}',
      rawPath: '/things/a b',
      rawQueryString: 'x=1&y=%C3%A9&x=2',
      headers: expect.objectContaining({
        host,
        'user-agent': 'test/1',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': host.split(':')[1],
        'x-forwarded-proto': 'http',
      }),
      queryStringParameters: { x: '1,2', y: 'é' },
      pathParameters: { id: 'a b' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'localhost',
        domainPrefix: 'local',
        http: {
          method: 'GET',
          path: '/things/a b',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'test/1',
        },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        routeKey: 'GET /things/{id}',
        stage: '$default',
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        timeEpoch: expect.any(Number),
      },
      isBase64Encoded: false,
    });
    expect(event!.requestContext.timeEpoch).toBeGreaterThanOrEqual(before);
  });

  test('has lower-case header names, joined repetitions and separate cookies', async () => {
    await gatewayOf();
    const sent = request(`${gateway.origin}/things/1`, {
      headers: { 'X-Many': ['a', 'b'], COOKIE: ['one=1; two=2', 'three=3'] },
    }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(events[0]!.headers).toMatchObject({ 'x-many': 'a,b' });
    expect(events[0]!.headers).not.toHaveProperty('cookie');
    expect(events[0]!.cookies).toEqual(['one=1', 'two=2', 'three=3']);
  });

  test.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['text/plain', true],
    ['application/xml', true],
    ['application/octet-stream', false],
    ['application/x-www-form-urlencoded', false],
    ['application/vnd.thing+json', false],
    [undefined, false],
  ])('has a body of type %s as text: %s', async (type, isText) => {
    await gatewayOf();
    const body = Buffer.from('{"ü":1}');
    await call('/things/1', {
      method: 'POST',
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    expect(events[0]).toMatchObject(
      isText
        ? { body: '{"ü":1}', isBase64Encoded: false }
        : { body: body.toString('base64'), isBase64Encoded: true },
    );
  });

  test('has the peer’s address, not the one of X-Forwarded-For', async () => {
    await gatewayOf();
    await call('/things/1', { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect(events[0]!.requestContext.http.sourceIp).toBe('127.0.0.1');
    expect(events[0]!.headers['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  });

  test('has the address of X-Forwarded-For with trustForwardedFor', async () => {
    await gatewayOf(undefined, { trustForwardedFor: true });
    await call('/things/1', { headers: { 'X-Forwarded-For': '2001:db8::1, 203.0.113.9' } });
    await call('/things/1');
    const addresses = events.map(({ requestContext }) => requestContext.http.sourceIp);
    expect(addresses).toEqual(['2001:db8::1', '127.0.0.1']);
  });

  test('has a query parameter named __proto__', async () => {
    await gatewayOf();
    await call('/things/1?__proto__=x');
    expect(Object.entries(events[0]!.queryStringParameters!)).toEqual([['__proto__', 'x']]);
  });
});

describe('the response', () => {
  test('has the function’s status, headers, cookies and body', async () => {
    await gatewayOf(
      returning({
        statusCode: 418,
        headers: { 'X-Number': 3, 'Content-Type': 'text/html' },
        cookies: ['a=1', 'b=2'],
        body: '<p>',
      }),
    );
    const response = await fetch(`${gateway.origin}/things/1`);
    expect(response.status).toBe(418);
    expect(response.headers.get('x-number')).toBe('3');
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('apigw-requestid')).toBe(events[0]!.requestContext.requestId);
    expect(await response.text()).toBe('<p>');
  });

  test.each([
    [
      'base64',
      { statusCode: 200, body: 'w7w=', isBase64Encoded: true },
      'text/plain;charset=UTF-8',
      'ü',
    ],
    ['no content type', { statusCode: 200, body: 'ü' }, 'text/plain;charset=UTF-8', 'ü'],
    ['no body', { statusCode: 200 }, null, ''],
    ['no status', { ok: true }, 'application/json', '{"ok":true}'],
    ['a string', 'hello', 'application/json', 'hello'],
    ['null', null, 'application/json', 'null'],
  ])('is 200 for a result: %s', async (_, result, type, text) => {
    await gatewayOf(returning(result));
    expect(await call()).toEqual({ status: 200, type, text });
  });

  test.each([
    ['an invalid status', { statusCode: 'fine' }],
    ['a status out of range', { statusCode: 42 }],
    ['a body that is not text', { statusCode: 200, body: { a: 1 } }],
  ])('is 500 for a result with %s', async (_, result) => {
    await gatewayOf(returning(result));
    expect(await call()).toEqual(message(500, 'Internal Server Error'));
  });

  test('is 500 for a function error, without its message', async () => {
    await gatewayOf(() => Promise.reject(new FunctionError('RangeError', 'a secret')));
    expect(await call()).toEqual(message(500, 'Internal Server Error'));
  });

  const broken = new Error('a secret');
  test.each<[string, () => Promise<string>]>([
    ['whose pool fails', () => Promise.reject(broken)],
    ['whose result is not JSON', async () => 'a secret'],
    ['whose headers are null', returning({ statusCode: 200, headers: null })],
    ['with a line break in a header', returning({ statusCode: 200, headers: { a: 'b\nc' } })],
    [
      'with a space in the name of a header',
      returning({ statusCode: 200, headers: { 'a b': '' } }),
    ],
    ['with a line break in a cookie', returning({ statusCode: 200, cookies: ['a=b\nc'] })],
  ])('is 500 for a function %s, and the next request succeeds', async (_, invoke) => {
    let first = true;
    await gatewayOf(() => {
      if (!first) return returning({ statusCode: 204 })();
      first = false;
      return invoke();
    });
    expect(await call()).toEqual(message(500, 'Internal Server Error'));
    expect(failures).toHaveLength(1);
    expect((await call()).status).toBe(204);
  });

  test('is 500 if the pages fail, and the next request succeeds', async () => {
    await gatewayOf(undefined, { pages: () => Promise.reject(broken) });
    expect(await call('/page')).toEqual(message(500, 'Internal Server Error'));
    expect(failures).toEqual([broken]);
    expect((await call()).status).toBe(204);
  });

  test('is 503 after the integration’s timeout', async () => {
    await gatewayOf(() => new Promise(() => {}), {
      routes: routes.map((route) => ({ ...route, timeoutMs: 20 })),
    });
    expect(await call()).toEqual(message(503, 'Service Unavailable'));
  });

  test.each([
    ['/nothing', 'GET'],
    ['/things', 'GET'],
    ['/things/1', 'DELETE'],
    ['/things/1%2F2', 'GET'],
  ])('is 404 for %s with %s', async (path, method) => {
    await gatewayOf();
    expect(await call(path, { method })).toEqual(message(404, 'Not Found'));
    expect(events).toEqual([]);
  });

  test('is 400 for a path that cannot be decoded', async () => {
    await gatewayOf();
    expect(await call('/things/%E0%A4')).toEqual(message(400, 'Bad Request'));
  });

  test.each([
    ['API Gateway', 10 * 1024 * 1024 + 1],
    ['Lambda', 6 * 1024 * 1024],
  ])('is 413 for a body beyond the limit of %s', async (_, length) => {
    await gatewayOf();
    const headers = { 'content-type': 'text/plain' };
    const response = await call('/things/1', { method: 'POST', body: 'x'.repeat(length), headers });
    expect(response).toEqual(message(413, 'Request Entity Too Large'));
    expect(events).toEqual([]);
  });

  test('is 431 for headers that are too long', async () => {
    await gatewayOf();
    expect((await call('/things/1', { headers: { 'x-long': 'x'.repeat(10_300) } })).status).toBe(
      431,
    );
  });
});

describe('a throttle', () => {
  const statuses = async (method = 'GET') => {
    const found = [];
    for (let count = 0; count < 3; count++)
      found.push((await call('/things/1', { method })).status);
    return found;
  };

  test('returns 429 beyond the burst until the rate allows more', async () => {
    const clock = { ms: 0 };
    await gatewayOf(undefined, { nowMs: () => clock.ms });
    expect(await statuses()).toEqual([204, 204, 429]);
    expect(events).toHaveLength(2);
    clock.ms += 1000;
    expect(await statuses()).toEqual([204, 429, 429]);
  });

  test('applies to one route', async () => {
    await gatewayOf(undefined, { nowMs: () => 0 });
    await statuses('GET');
    expect(await statuses('POST')).toEqual([204, 204, 429]);
  });

  test('returns the gateway’s response without the function’s headers', async () => {
    const cors = { 'access-control-allow-origin': '*' };
    await gatewayOf(returning({ statusCode: 204, headers: cors }), { nowMs: () => 0 });
    await statuses();
    expect(await call()).toEqual(message(429, 'Too Many Requests'));
    const { headers } = await fetch(`${gateway.origin}/things/1`);
    expect([...headers.keys()]).not.toContain('access-control-allow-origin');
    expect([...headers.keys()]).not.toContain('retry-after');
  });

  test('can be switched off', async () => {
    await gatewayOf(undefined, { nowMs: () => 0, throttled: false });
    expect(await statuses()).toEqual([204, 204, 204]);
  });
});

describe('before it is opened, the gateway', () => {
  beforeEach(async () => {
    gateway = await startGateway({});
  });

  test.each([
    ['/things/1', 'GET'],
    ['/api/v1/projects/demo', 'POST'],
    ['/', 'POST'],
    ['/nothing', 'GET'],
  ])('returns 503 for %s with %s', async (path, method) => {
    const response = await fetch(gateway.origin + path, { method });
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect([response.status, await response.json()]).toEqual([
      503,
      { message: 'Service Unavailable' },
    ]);
  });

  test.each(['/', '/?projectId=x'])('returns a page that reloads itself for %s', async (path) => {
    const response = await fetch(gateway.origin + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('<meta http-equiv="refresh" content="1">');
  });
});

test('each response is one line of the access log', async () => {
  await gatewayOf();
  await call('/things/1?a=b');
  await call('/nothing', { method: 'PUT' });
  const durationMs = expect.any(Number);
  expect(lines).toEqual([
    {
      method: 'GET',
      match: { route: routes[0], parameters: { id: '1' } },
      status: 204,
      durationMs,
    },
    { method: 'PUT', match: undefined, status: 404, durationMs },
  ]);
});

test('a client that disconnects during its body does not affect other requests', async () => {
  await gatewayOf();
  const sent = request(`${gateway.origin}/things/1`, {
    method: 'POST',
    headers: { 'content-length': '100' },
  });
  sent.on('error', () => {});
  sent.write('incomplete');
  await once(sent, 'socket');
  sent.destroy();
  expect((await call()).status).toBe(204);
  expect(events).toHaveLength(1);
});
