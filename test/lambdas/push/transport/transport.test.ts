import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type LookupFunction, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type PushRequest, pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import { certificate } from '../../../../local/push-service/certificate.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
const workers: Worker[] = [];

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  await Promise.all(servers.splice(0).map((server) => once(server.close(), 'close')));
});

async function listen(server: Server, scheme: 'http' | 'https'): Promise<string> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A push service that takes every push and counts its connections. */
async function accepting(handler: http.RequestListener = (_, response) => accept(response)) {
  const server = http.createServer(handler);
  const counts = { connections: 0 };
  server.on('connection', () => {
    counts.connections += 1;
  });
  return { origin: await listen(server, 'http'), counts };
}

function accept(response: http.ServerResponse): void {
  response.writeHead(201, { 'content-length': 0 }).end();
}

/** A server that says these bytes to whoever says anything. */
function saying(text: string, then?: (socket: Socket) => void): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(text, 'latin1', () => then?.(socket));
    });
  });
  return listen(server, 'http');
}

/**
 * A server whose queue of new connections is full, so that the next one is not answered. Once
 * released it takes every connection, and accepts every push. The system that connects asks again
 * after a second, so that a connection begun before takes at least that long.
 */
async function busyServer() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { parentPort, workerData: gate } = require('node:worker_threads');
    const accept = 'HTTP/1.1 201 Created\\r\\nContent-Length: 0\\r\\n\\r\\n';
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => {}).on('data', () => socket.write(accept));
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(gate, 0, 0);
    });`;
  const worker = new Worker(source, { eval: true, workerData: gate });
  workers.push(worker);
  const [port] = (await once(worker, 'message')) as [number];
  // More than the queue holds: all have asked by the time that the first is connected. Those that
  // it does not hold would ask again at the same time as the push.
  const queued = Array.from({ length: 8 }, () => net.connect(port, '127.0.0.1'));
  for (const socket of queued) sockets.add(socket);
  await once(queued[0]!, 'connect');
  for (const socket of queued.filter(({ connecting }) => connecting)) socket.destroy();
  const release = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { port, release };
}

/** Resolves every name to these addresses. */
function resolvingTo(...addresses: readonly string[]): LookupFunction {
  return (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    );
}

function request(overrides: Partial<PushRequest> & { origin: string }): PushRequest {
  const headers = { TTL: '60' };
  return { path: '/push/1', headers, body: Buffer.from('body'), timeoutMs: 10_000, ...overrides };
}

test('posts path, headers and body as they are', async () => {
  const body = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256));
  const seen = new Promise<unknown>((resolve) => {
    void accepting((incoming, response) => {
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
  expect(await seen).toEqual({
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

test('reads a refusal with its headers and body, over TLS', async () => {
  const server = https.createServer(certificate, (_, response) => {
    response.writeHead(429, { 'Retry-After': '7' });
    response.write('slow ');
    response.end('down');
  });
  const origin = await listen(server, 'https');
  const answer = await pushTransport({ limit: 1, ca: certificate.cert })(request({ origin }));
  expect(answer).toMatchObject({
    status: 429,
    headers: { 'retry-after': '7' },
    body: 'slow down',
  });
});

test('trusts nobody whose certificate it cannot check', async () => {
  const server = https.createServer(certificate, (_, response) => accept(response));
  server.on('tlsClientError', () => {});
  const origin = await listen(server, 'https');
  await expect(pushTransport({ limit: 1 })(request({ origin }))).rejects.toThrow(/certificate/);
});

test('later connections resume the TLS session of the first', async () => {
  const server = https.createServer(certificate, (_, response) => accept(response));
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  const origin = await listen(server, 'https');
  const transport = pushTransport({ limit: 10, ca: certificate.cert });
  await transport(request({ origin }));
  await Promise.all([transport(request({ origin })), transport(request({ origin }))]);
  expect(resumed).toEqual([false, true]);
});

// Anyone can subscribe endpoints on made-up subdomains of a push service.
test('a thousand origins are remembered, each with its TLS session', async () => {
  const server = https.createServer(certificate, (_, response) => accept(response));
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  const origin = await listen(server, 'https');
  const refusing: LookupFunction = (_, __, callback) => callback(new Error('No such host.'), []);
  const transport = pushTransport({ limit: 1, ca: certificate.cert, lookup: refusing });
  const pushOnNewConnection = async () => {
    await transport(request({ origin }));
    const [socket] = sockets;
    const closed = once(socket!, 'close');
    socket!.end();
    await closed;
  };
  const pushToOthers = async (count: number) => {
    for (let other = 0; other < count; other += 1) {
      const push = transport(request({ origin: `https://h${other}.example` }));
      await expect(push).rejects.toThrow('No such host.');
    }
  };

  await pushOnNewConnection();
  await pushToOthers(999);
  await pushOnNewConnection();
  await pushToOthers(1000);
  await pushOnNewConnection();
  expect(resumed).toEqual([false, true, false]);
});

test('pushes share a connection one after the other, and have their own at once', async () => {
  const { origin, counts } = await accepting();
  const transport = pushTransport({ limit: 10 });
  for (let push = 0; push < 5; push += 1) await transport(request({ origin }));
  expect(counts.connections).toBe(1);
  await Promise.all(Array.from({ length: 5 }, () => transport(request({ origin }))));
  expect(counts.connections).toBe(5);
});

test('a connection that lay idle for half a minute is not used again', async () => {
  const { origin, counts } = await accepting();
  let now = 0;
  const transport = pushTransport({ limit: 10, now: () => now });
  await transport(request({ origin }));
  now += 29_999;
  await transport(request({ origin }));
  expect(counts.connections).toBe(1);
  now += 30_000;
  await transport(request({ origin }));
  expect(counts.connections).toBe(2);
});

test('idle connections make room for another push service', async () => {
  const [first, second] = [await accepting(), await accepting()];
  const transport = pushTransport({ limit: 2 });
  const twice = ({ origin }: { origin: string }) =>
    Promise.all([transport(request({ origin })), transport(request({ origin }))]);
  await twice(first);
  const statuses = (await twice(second)).map(({ status }) => status);
  expect(statuses).toEqual([201, 201]);
});

test('one push more than there may be connections fails', async () => {
  const { origin } = await accepting();
  const transport = pushTransport({ limit: 1 });
  const [first, second] = await Promise.allSettled([
    transport(request({ origin })),
    transport(request({ origin })),
  ]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  expect(await transport(request({ origin }))).toMatchObject({ status: 201 });
});

test('a connection that the server has closed is replaced', async () => {
  const { origin, counts } = await accepting();
  const transport = pushTransport({ limit: 1 });
  await transport(request({ origin }));
  const [socket] = sockets;
  const closed = once(socket!, 'close');
  socket!.end();
  await closed;
  expect(await transport(request({ origin }))).toMatchObject({ status: 201 });
  expect(counts.connections).toBe(2);
});

test('a redirect is an answer, and nobody follows it', async () => {
  const elsewhere = await accepting();
  const { origin } = await accepting((_, response) => {
    response.writeHead(308, { location: elsewhere.origin, 'content-length': 0 }).end();
  });
  expect(await pushTransport({ limit: 5 })(request({ origin }))).toMatchObject({ status: 308 });
  expect(elsewhere.counts.connections).toBe(0);
});

test('a server that stalls is given up in time, and its connection with it', async () => {
  const { origin } = await accepting(() => {});
  const transport = pushTransport({ limit: 1 });
  await expect(transport(request({ origin, timeoutMs: 50 }))).rejects.toThrow(
    'No response in time.',
  );
  // The only connection there may be is free again.
  await expect(transport(request({ origin, timeoutMs: 50 }))).rejects.toThrow(
    'No response in time.',
  );
});

test.each([
  ['stalls', undefined],
  ['breaks off', (socket: Socket) => socket.destroy()],
])('the status counts where the body %s', async (_, then) => {
  const origin = await saying('HTTP/1.1 410 Gone\r\nContent-Length: 10\r\n\r\nhalf', then);
  const answer = await pushTransport({ limit: 1 })(request({ origin, timeoutMs: 200 }));
  expect(answer).toMatchObject({ status: 410, body: 'half' });
});

test('a body without end is cut off', async () => {
  const origin = await saying(`HTTP/1.1 400 No\r\n\r\n${'x'.repeat(100_000)}`);
  const answer = await pushTransport({ limit: 1 })(request({ origin }));
  expect(answer.status).toBe(400);
  expect(answer.body).toHaveLength(4096);
});

test.each([
  ['headers without end', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(100_000)}`],
  ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000)],
  ['no HTTP', '220 mail.example.com ESMTP\r\n\r\n'],
])('%s are no answer', async (_, text) => {
  const origin = await saying(text);
  await expect(pushTransport({ limit: 1 })(request({ origin }))).rejects.toThrow();
});

test('what comes unasked is never taken for the answer to the next push', async () => {
  const answer = 'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n';
  const origin = await saying(`${answer}HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n`);
  const transport = pushTransport({ limit: 1 });
  const statuses = [];
  for (let push = 0; push < 3; push += 1)
    statuses.push((await transport(request({ origin }))).status);
  expect(statuses).toEqual([201, 201, 201]);
});

test.each(['/a b', '/a\r\nHost: x', '/\u010a', 'a'])('refuses the path %j', async (path) => {
  const { origin, counts } = await accepting();
  await expect(pushTransport({ limit: 1 })(request({ origin, path }))).rejects.toThrow(TypeError);
  expect(counts.connections).toBe(0);
});

test('refuses a header that would end its line', async () => {
  const { origin } = await accepting();
  const headers = { TTL: '60\r\nHost: x' };
  await expect(pushTransport({ limit: 1 })(request({ origin, headers }))).rejects.toThrow(
    'Invalid',
  );
});

test('a connection may take longer than 250 ms, whatever other addresses there are', async () => {
  const { port, release } = await busyServer();
  const lookup: LookupFunction = (host, options, callback) => {
    // Nobody listens at the second address.
    resolvingTo('127.0.0.1', '127.0.0.2')(host, options, callback);
    release();
  };
  const origin = `http://push.example:${port}`;
  expect(await pushTransport({ limit: 1, lookup })(request({ origin }))).toMatchObject({
    status: 201,
  });
});

test.each([
  ['127.0.0.2', '127.0.0.1'],
  ['::1', '127.0.0.1'],
])('an address that refuses, %s, is followed by the next one', async (...addresses) => {
  const { origin } = await accepting();
  const named = origin.replace('127.0.0.1', 'push.example');
  const transport = pushTransport({ limit: 1, lookup: resolvingTo(...addresses) });
  expect(await transport(request({ origin: named }))).toMatchObject({ status: 201 });
});

test('asks the given function for addresses', async () => {
  const { origin } = await accepting();
  const asked: string[] = [];
  const transport = pushTransport({
    limit: 1,
    lookup: (host, _, callback) => {
      asked.push(host);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
  });
  const named = origin.replace('127.0.0.1', 'push.example');
  expect(await transport(request({ origin: named }))).toMatchObject({ status: 201 });
  expect(asked).toEqual(['push.example']);
});
