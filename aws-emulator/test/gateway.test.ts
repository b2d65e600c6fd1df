import { once } from 'node:events';
import { request } from 'node:http';
import { Throttled } from '../executions.ts';
import { FunctionError } from '../function-pool.ts';
import { startTestGateway, type TestGateway, testRoutes } from './test-gateway.ts';

let gateway: TestGateway;

afterEach(() => gateway.stop());

const returning = (result: unknown) => async () => JSON.stringify(result);

const message = (status: number, text: string) => ({
  status,
  type: 'application/json',
  text: JSON.stringify({ message: text }),
});

describe('the response', () => {
  test('has the function’s status, headers, cookies and body', async () => {
    gateway = await startTestGateway(
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
    expect(response.headers.get('apigw-requestid')).toBe(
      gateway.events[0]!.requestContext.requestId,
    );
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
    gateway = await startTestGateway(returning(result));
    expect(await gateway.call()).toEqual({ status: 200, type, text });
  });

  test.each([
    ['an invalid status', { statusCode: 'fine' }],
    ['a status out of range', { statusCode: 42 }],
    ['a body that is not text', { statusCode: 200, body: { a: 1 } }],
  ])('is 500 for a result with %s', async (_, result) => {
    gateway = await startTestGateway(returning(result));
    expect(await gateway.call()).toEqual(message(500, 'Internal Server Error'));
  });

  test.each<[string, () => Promise<string>]>([
    ['that throws', () => Promise.reject(new FunctionError('RangeError', 'a secret'))],
    ['whose pool fails', () => Promise.reject(new Error('a secret'))],
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
    gateway = await startTestGateway(() => {
      if (!first) return returning({ statusCode: 204 })();
      first = false;
      return invoke();
    });
    expect(await gateway.call()).toEqual(message(500, 'Internal Server Error'));
    expect((await gateway.call()).status).toBe(204);
  });

  test.each([
    ['after the integration’s timeout', () => new Promise<string>(() => {})],
    ['if Lambda throttles', () => Promise.reject(new Throttled())],
  ])('is 503 %s', async (_, invoke) => {
    const routes = testRoutes.map((route) => ({ ...route, timeoutMs: 20 }));
    gateway = await startTestGateway(invoke, { routes });
    expect(await gateway.call()).toEqual(message(503, 'Service Unavailable'));
  });

  test.each([
    ['/nothing', 'GET'],
    ['/things', 'GET'],
    ['/things/', 'GET'],
    ['/things/1/', 'GET'],
    ['/Things/1', 'GET'],
    ['/things/1', 'DELETE'],
    ['/things/1%2F2', 'GET'],
  ])('is 404 for %s with %s', async (path, method) => {
    gateway = await startTestGateway();
    expect(await gateway.call(path, { method })).toEqual(message(404, 'Not Found'));
    expect(gateway.events).toEqual([]);
  });

  test('is 400 for a path that cannot be decoded', async () => {
    gateway = await startTestGateway();
    expect(await gateway.call('/things/%E0%A4')).toEqual(message(400, 'Bad Request'));
  });

  test.each([
    ['API Gateway', 10 * 1024 * 1024 + 1],
    ['Lambda', 6 * 1024 * 1024],
  ])('is 413 for a body beyond the limit of %s', async (_, length) => {
    gateway = await startTestGateway();
    const headers = { 'content-type': 'text/plain' };
    const response = await gateway.call('/things/1', {
      method: 'POST',
      body: 'x'.repeat(length),
      headers,
    });
    expect(response).toEqual(message(413, 'Request Entity Too Large'));
    expect(gateway.events).toEqual([]);
  });

  test('is 431 for headers that are too long', async () => {
    gateway = await startTestGateway();
    expect(
      (await gateway.call('/things/1', { headers: { 'x-long': 'x'.repeat(10_300) } })).status,
    ).toBe(431);
  });
});

describe('a throttle', () => {
  const statuses = async (method = 'GET') => {
    const found = [];
    for (let count = 0; count < 3; count++)
      found.push((await gateway.call('/things/1', { method })).status);
    return found;
  };

  test('returns 429 beyond the burst until the rate allows more', async () => {
    const clock = { ms: 0 };
    gateway = await startTestGateway(undefined, { nowMs: () => clock.ms });
    expect(await statuses()).toEqual([204, 204, 429]);
    expect(gateway.events).toHaveLength(2);
    clock.ms += 1000;
    expect(await statuses()).toEqual([204, 429, 429]);
  });

  test('applies to one route, and its response has no header of a function', async () => {
    gateway = await startTestGateway(undefined, { nowMs: () => 0 });
    await statuses('GET');
    expect(await statuses('POST')).toEqual([204, 204, 429]);
    expect(await gateway.call()).toEqual(message(429, 'Too Many Requests'));
    const { headers } = await fetch(`${gateway.origin}/things/1`);
    expect([...headers.keys()]).not.toContain('access-control-allow-origin');
    expect([...headers.keys()]).not.toContain('retry-after');
  });
});

test('a client that disconnects during its body does not affect other requests', async () => {
  gateway = await startTestGateway();
  const sent = request(`${gateway.origin}/things/1`, {
    method: 'POST',
    headers: { 'content-length': '100' },
  });
  sent.on('error', () => {});
  sent.write('incomplete');
  await once(sent, 'socket');
  sent.destroy();
  expect((await gateway.call()).status).toBe(204);
  expect(gateway.events).toHaveLength(1);
});

describe('the event', () => {
  test('has payload format 2.0', async () => {
    gateway = await startTestGateway();
    const before = Date.now();
    await gateway.call('/things/a%20b?x=1&y=%C3%A9&x=2', { headers: { 'User-Agent': 'test/1' } });
    const [event] = gateway.events;
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
        requestId: expect.stringMatching(/^[\w+/]{15}=$/),
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
    gateway = await startTestGateway();
    const sent = request(`${gateway.origin}/things/1`, {
      headers: { 'X-Many': ['a', 'b'], COOKIE: ['one=1; two=2', 'three=3'] },
    }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(gateway.events[0]!.headers).toMatchObject({ 'x-many': 'a,b' });
    expect(gateway.events[0]!.headers).not.toHaveProperty('cookie');
    expect(gateway.events[0]!.cookies).toEqual(['one=1', 'two=2', 'three=3']);
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
    gateway = await startTestGateway();
    const body = Buffer.from('{"ü":1}');
    await gateway.call('/things/1', {
      method: 'POST',
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    expect(gateway.events[0]).toMatchObject(
      isText
        ? { body: '{"ü":1}', isBase64Encoded: false }
        : { body: body.toString('base64'), isBase64Encoded: true },
    );
  });

  test('has the peer’s address, not the one of X-Forwarded-For', async () => {
    gateway = await startTestGateway();
    await gateway.call('/things/1', { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect(gateway.events[0]!.requestContext.http.sourceIp).toBe('127.0.0.1');
    expect(gateway.events[0]!.headers['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  });

  test('has a query parameter named __proto__', async () => {
    gateway = await startTestGateway();
    await gateway.call('/things/1?__proto__=x');
    expect(Object.entries(gateway.events[0]!.queryStringParameters!)).toEqual([['__proto__', 'x']]);
  });
});
