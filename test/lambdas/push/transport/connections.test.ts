import { once } from 'node:events';
import type { LookupFunction } from 'node:net';
import { certificate } from '../../../../bench/certificate.ts';
import { pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import {
  acceptingServer,
  acceptingTlsServer,
  busyServer,
  closeServers,
  request,
  resolvingTo,
  sockets,
} from './servers.ts';

afterEach(closeServers);

/** Closes the only open connection, from the server's side. */
async function closeConnection(): Promise<void> {
  const [socket] = sockets;
  const closed = once(socket!, 'close');
  socket!.end();
  await closed;
}

test('sequential pushes share a connection, concurrent pushes do not', async () => {
  const { origin, counts } = await acceptingServer();
  const transport = pushTransport({ limit: 10 });
  for (let push = 0; push < 5; push += 1) await transport(request({ origin }));
  expect(counts.connections).toBe(1);
  await Promise.all(Array.from({ length: 5 }, () => transport(request({ origin }))));
  expect(counts.connections).toBe(5);
});

test('a connection that was idle for 30 s is not reused', async () => {
  const { origin, counts } = await acceptingServer();
  let nowMs = 0;
  const transport = pushTransport({ limit: 10, now: () => nowMs });
  await transport(request({ origin }));
  nowMs += 29_999;
  await transport(request({ origin }));
  expect(counts.connections).toBe(1);
  nowMs += 30_000;
  await transport(request({ origin }));
  expect(counts.connections).toBe(2);
});

test('idle connections of one push service leave room for another', async () => {
  const [first, second] = [await acceptingServer(), await acceptingServer()];
  const transport = pushTransport({ limit: 2 });
  const twice = ({ origin }: { origin: string }) =>
    Promise.all([transport(request({ origin })), transport(request({ origin }))]);
  await twice(first);
  const statuses = (await twice(second)).map(({ status }) => status);
  expect(statuses).toEqual([201, 201]);
});

test('a push above the connection limit fails', async () => {
  const { origin } = await acceptingServer();
  const transport = pushTransport({ limit: 1 });
  const [first, second] = await Promise.allSettled([
    transport(request({ origin })),
    transport(request({ origin })),
  ]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  // A fault of the caller, and not of the network.
  expect(second).toMatchObject({ reason: { name: 'Error', message: 'Too many pushes at once.' } });
  expect(await transport(request({ origin }))).toMatchObject({ status: 201 });
});

test('a connection that the server has closed is replaced', async () => {
  const { origin, counts } = await acceptingServer();
  const transport = pushTransport({ limit: 1 });
  await transport(request({ origin }));
  await closeConnection();
  expect(await transport(request({ origin }))).toMatchObject({ status: 201 });
  expect(counts.connections).toBe(2);
});

describe('TLS', () => {
  test('an untrusted certificate is refused', async () => {
    const { origin } = await acceptingTlsServer();
    await expect(pushTransport({ limit: 1 })(request({ origin }))).rejects.toThrow(/certificate/);
  });

  test('later connections resume the session of the first', async () => {
    const { origin, resumed } = await acceptingTlsServer();
    const transport = pushTransport({ limit: 10, ca: certificate.cert });
    await transport(request({ origin }));
    await Promise.all([transport(request({ origin })), transport(request({ origin }))]);
    expect(resumed).toEqual([false, true]);
  });

  // Anyone can subscribe endpoints on made-up subdomains of a push service.
  test('sessions of the last 1,000 origins are kept', async () => {
    const { origin, resumed } = await acceptingTlsServer();
    const refusing: LookupFunction = (_, __, callback) => callback(new Error('No such host.'), []);
    const transport = pushTransport({ limit: 1, ca: certificate.cert, lookup: refusing });
    const pushOnNewConnection = async () => {
      await transport(request({ origin }));
      await closeConnection();
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
});

describe('addresses', () => {
  test('are found with the given look-up', async () => {
    const { origin } = await acceptingServer();
    const hosts: string[] = [];
    const transport = pushTransport({
      limit: 1,
      lookup: (host, _, callback) => {
        hosts.push(host);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    const named = origin.replace('127.0.0.1', 'push.example');
    expect(await transport(request({ origin: named }))).toMatchObject({ status: 201 });
    expect(hosts).toEqual(['push.example']);
  });

  test.each([
    ['127.0.0.2', '127.0.0.1'],
    ['::1', '127.0.0.1'],
  ])('are tried in order: %s refuses the connection, %s accepts it', async (...addresses) => {
    const { origin } = await acceptingServer();
    const named = origin.replace('127.0.0.1', 'push.example');
    const transport = pushTransport({ limit: 1, lookup: resolvingTo(...addresses) });
    expect(await transport(request({ origin: named }))).toMatchObject({ status: 201 });
  });

  // Node's default gives an address 250 ms before it tries the next one.
  test('have more than 250 ms to connect, even if there are others', async () => {
    const { port, release } = await busyServer();
    const lookup: LookupFunction = (host, options, callback) => {
      // No server listens at the second address.
      resolvingTo('127.0.0.1', '127.0.0.2')(host, options, callback);
      release();
    };
    const origin = `http://push.example:${port}`;
    expect(await pushTransport({ limit: 1, lookup })(request({ origin }))).toMatchObject({
      status: 201,
    });
  });
});
