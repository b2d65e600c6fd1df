import { once } from 'node:events';
import { request } from 'node:http';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;

afterEach(() => gateway.stop());

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
