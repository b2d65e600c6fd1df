import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { certificate } from '../../../../bench/certificate.ts';
import {
  NoResponseError,
  NotStartedError,
  UnsendableError,
} from '../../../../lambdas/push/transport/response.ts';
import { pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import {
  accept,
  acceptingServer,
  acceptingTlsServer,
  closeServers,
  listen,
  rawServer,
  request,
  sockets,
} from './servers.ts';

afterEach(closeServers);

test('a push is a POST with the given path, headers and body', async () => {
  const body = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256));
  const received = new Promise<unknown>((resolve) => {
    void acceptingServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => {
        const { method, url, headers } = incoming;
        resolve({ method, url, headers, body: Buffer.concat(chunks) });
        accept(response);
      });
    }).then(({ origin }) =>
      pushTransport({ limit: 1 })(
        request({
          origin,
          path: '/a?b=%20',
          headers: { TTL: '60', Authorization: 'vapid t=x' },
          body,
        }),
      ),
    );
  });
  expect(await received).toEqual({
    method: 'POST',
    url: '/a?b=%20',
    headers: {
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      ttl: '60',
      authorization: 'vapid t=x',
      'content-length': '4096',
    },
    body,
  });
});

test('a response over TLS has status, headers and body', async () => {
  const server = https.createServer(certificate, (_, response) => {
    response.writeHead(429, { 'Retry-After': '7' });
    response.write('slow ');
    response.end('down');
  });
  const origin = await listen(server, 'https');
  const response = await pushTransport({ limit: 1, ca: certificate.cert })(request({ origin }));
  expect(response).toMatchObject({
    status: 429,
    headers: { 'retry-after': '7' },
    body: 'slow down',
  });
});

test('a redirect is returned and not followed', async () => {
  const target = await acceptingServer();
  const { origin } = await acceptingServer((_, response) => {
    response.writeHead(308, { location: target.origin, 'content-length': 0 }).end();
  });
  expect(await pushTransport({ limit: 5 })(request({ origin }))).toMatchObject({ status: 308 });
  expect(target.counts.connections).toBe(0);
});

test('a push without a response times out and closes its connection', async () => {
  const { origin } = await acceptingServer(() => {});
  const transport = pushTransport({ limit: 1 });
  const timedOut = { name: 'NoResponseError', isTimeout: true, mayHaveArrived: true };
  await expect(transport(request({ origin, timeoutMs: 50 }))).rejects.toMatchObject(timedOut);
  // An open connection would make this push fail because of the limit.
  await expect(transport(request({ origin, timeoutMs: 50 }))).rejects.toMatchObject(timedOut);
});

test('a push whose connection does not open in time was not sent', async () => {
  const lookup = () => {};
  const push = pushTransport({ limit: 1, lookup })(
    request({ origin: 'http://push.example', timeoutMs: 50 }),
  );
  await expect(push).rejects.toMatchObject({ isTimeout: true, mayHaveArrived: false });
});

describe('whether a push may start', () => {
  test.each(['http', 'https'] as const)('is asked for each push: %s', async (scheme) => {
    let requests = 0;
    const respond: http.RequestListener = (_, response) => {
      requests += 1;
      accept(response);
    };
    const server =
      scheme === 'http' ? http.createServer(respond) : https.createServer(certificate, respond);
    const origin = await listen(server, scheme);
    const transport = pushTransport({ limit: 1, ca: certificate.cert });
    const refused = transport(request({ origin, mayStart: () => false }));
    await expect(refused).rejects.toThrow(NotStartedError);
    expect(requests).toBe(0);
    expect(sockets.size).toBe(1);
    // On the same connection: another one would exceed the limit.
    expect(await transport(request({ origin }))).toMatchObject({ status: 201 });
    await expect(transport(request({ origin, mayStart: () => false }))).rejects.toThrow(
      NotStartedError,
    );
    expect(requests).toBe(1);
  });

  test('is not asked before the name is found and the certificate is trusted', async () => {
    const { origin } = await acceptingTlsServer();
    const mayStart = jest.fn(() => true);
    const lookup = () => {};
    const never = { origin: 'http://push.example', timeoutMs: 50, mayStart };
    await expect(pushTransport({ limit: 1, lookup })(request(never))).rejects.toThrow();
    await expect(pushTransport({ limit: 1 })(request({ origin, mayStart }))).rejects.toThrow();
    expect(mayStart).not.toHaveBeenCalled();
  });
});

test.each([
  ['stalls', 500, undefined],
  ['breaks off', 10_000, (socket: Socket) => socket.destroy()],
])('the status is returned if the body %s', async (_, timeoutMs, then) => {
  const origin = await rawServer('HTTP/1.1 410 Gone\r\nContent-Length: 10\r\n\r\nhalf', then);
  const response = await pushTransport({ limit: 1 })(request({ origin, timeoutMs }));
  expect(response).toMatchObject({ status: 410, body: 'half' });
});

test('a body is cut to 4,096 bytes', async () => {
  const origin = await rawServer(`HTTP/1.1 400 No\r\n\r\n${'x'.repeat(100_000)}`);
  const response = await pushTransport({ limit: 1 })(request({ origin }));
  expect(response.status).toBe(400);
  expect(response.body).toHaveLength(4096);
});

test.each([
  ['endless headers', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(100_000)}`, false],
  ['endless interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000), false],
  ['another protocol', '220 mail.example.com ESMTP\r\n\r\n', false],
  ['a broken connection', 'HTTP/1.1 20', true],
])('a response with %s counts as missing', async (_, text, ends) => {
  const origin = await rawServer(text, (socket) => ends && socket.destroy());
  const push = pushTransport({ limit: 1 })(request({ origin }));
  await expect(push).rejects.toThrow(NoResponseError);
  await expect(push).rejects.toMatchObject({ isTimeout: false });
});

describe('a push without a response may have arrived', () => {
  /** A server that responds to the first pushes of a connection, and does something else with the next one. */
  async function failing(responses: number, then: (socket: Socket) => void): Promise<string> {
    const { origin } = await acceptingServer((incoming, response) => {
      incoming.resume().on('end', () => {
        const { socket } = incoming;
        const before = served.get(socket) ?? 0;
        served.set(socket, before + 1);
        if (before < responses) accept(response);
        else then(socket);
      });
    });
    return origin;
  }
  const served = new WeakMap<Socket, number>();
  const ways: Readonly<Record<string, (socket: Socket) => void>> = {
    closes: (socket) => socket.end(),
    resets: (socket) => socket.resetAndDestroy(),
    'sends another protocol': (socket) => socket.end('220 mail.example.com ESMTP\r\n\r\n'),
    'breaks off its response': (socket) => socket.end('HTTP/1.1 20'),
    'is silent': () => {},
  };

  test.each([
    ['closes', 0, true],
    ['resets', 0, true],
    ['sends another protocol', 0, true],
    ['breaks off its response', 0, true],
    ['is silent', 0, true],
    // The push service may have closed the connection before it read the push.
    ['closes', 1, false],
    ['resets', 1, false],
    ['sends another protocol', 1, true],
    ['breaks off its response', 1, true],
    ['is silent', 1, true],
  ])('if the push service %s after %i responses: %s', async (how, responses, mayHaveArrived) => {
    const origin = await failing(responses, ways[how]!);
    const transport = pushTransport({ limit: 1 });
    for (let push = 0; push < responses; push += 1) await transport(request({ origin }));
    const push = transport(request({ origin, timeoutMs: 200 }));
    await expect(push).rejects.toMatchObject({ name: 'NoResponseError', mayHaveArrived });
  });
});

test('a server that refuses the connection gives no response', async () => {
  const { origin } = await acceptingServer();
  await closeServers();
  await expect(pushTransport({ limit: 1 })(request({ origin }))).rejects.toMatchObject({
    ...{ name: 'NoResponseError', mayHaveArrived: false, isUnknownHost: false },
  });
});

test.each([
  [
    'a host without an address',
    Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
    NoResponseError,
  ],
  ['a private address', new UnsendableError('x'), UnsendableError],
  ['a fault of the code', new TypeError('x'), TypeError],
])('%s is told apart from other errors of a look-up', async (_, error, kind) => {
  const transport = pushTransport({ limit: 1, lookup: (_, __, done) => done(error, []) });
  const push = transport(request({ origin: 'http://push.example' }));
  await expect(push).rejects.toThrow(kind);
  if (kind === NoResponseError) await expect(push).rejects.toMatchObject({ isUnknownHost: true });
});

test('an unrequested response is not used for the next push', async () => {
  const created = 'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n';
  const origin = await rawServer(`${created}HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n`);
  const transport = pushTransport({ limit: 1 });
  const statuses = [];
  for (let push = 0; push < 3; push += 1) {
    statuses.push((await transport(request({ origin }))).status);
  }
  expect(statuses).toEqual([201, 201, 201]);
});

test.each(['/a b', '/a\r\nHost: x', '/\u010a', 'a'])('the path %j is refused', async (path) => {
  const { origin, counts } = await acceptingServer();
  await expect(pushTransport({ limit: 1 })(request({ origin, path }))).rejects.toThrow(
    UnsendableError,
  );
  expect(counts.connections).toBe(0);
});

test('a header with a line break is refused', async () => {
  const { origin } = await acceptingServer();
  const headers = { TTL: '60\r\nHost: x' };
  await expect(pushTransport({ limit: 1 })(request({ origin, headers }))).rejects.toThrow(
    UnsendableError,
  );
});
