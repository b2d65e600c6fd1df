import { Resolver } from 'node:dns/promises';
import { promisify } from 'node:util';
import { publicLookup } from '../../../../lambdas/push/transport/public-lookup.ts';
import { pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import { type PushService, startPushService } from '../../../../local/push-service/push-service.ts';
import { type DnsServer, startDnsServer } from '../../../fixtures/dns-server.ts';

const host = 'web.push.example';
const address = '93.184.216.34';

let pushService: PushService;
let dns: DnsServer;
let resolver: Resolver;
let now: number;

beforeAll(async () => {
  pushService = await startPushService();
});
afterAll(() => pushService.stop());

beforeEach(async () => {
  dns = await startDnsServer();
  resolver = new Resolver();
  resolver.setServers([dns.address]);
  now = 0;
});
afterEach(async () => {
  resolver.cancel();
  await dns.stop();
});

function lookUp({ trustedOrigins = [] as string[], preferIpv6 = false } = {}) {
  const lookup = publicLookup({ trustedOrigins, preferIpv6, resolver, now: () => now });
  return promisify((name: string, done: (error: Error | null, found: unknown) => void) =>
    lookup(name, { all: true }, done),
  );
}

/** Pushes to a host on the port of the local push service. */
function push(name: string, trusted: boolean) {
  const origin = `http://${name}:${new URL(pushService.origin).port}`;
  const trustedOrigins = trusted ? [origin] : [];
  const lookup = publicLookup({ trustedOrigins, preferIpv6: false, resolver });
  const body = Buffer.alloc(1);
  return pushTransport({ limit: 1, lookup })({
    origin,
    path: '/push/x',
    headers: {},
    body,
    timeoutMs: 2000,
    mayStart: () => true,
  });
}

test.each([
  ['loopback', ['127.0.0.1']],
  ['a private network', ['10.0.0.1']],
  ['the metadata service', ['169.254.169.254']],
  ['a public address and a private one', [address, '127.0.0.1']],
])('a host that resolves to %s gets no connection', async (_, addresses) => {
  dns.addresses.set(host, addresses);
  const before = pushService.stats().connections;
  await expect(push(host, false)).rejects.toThrow(`${host} resolves to a private address.`);
  expect(pushService.stats().connections).toBe(before);
});

test('a trusted origin may be in a private network and in /etc/hosts', async () => {
  expect((await push('localhost', true)).status).toBe(404);
  expect(dns.queried).toEqual([]);
});

test('a host that is not trusted is not looked up in /etc/hosts', async () => {
  await expect(push('localhost', false)).rejects.toThrow('ENOTFOUND');
});

test('concurrent look-ups of a host share one query', async () => {
  dns.addresses.set(host, [address]);
  const lookUpHost = lookUp();
  const found = await Promise.all(Array.from({ length: 100 }, () => lookUpHost(host)));
  expect(found).toEqual(Array(100).fill([{ address, family: 4 }]));
  expect(dns.queried).toEqual([host]);
});

test('an address is cached for 30 s', async () => {
  dns.addresses.set(host, [address]);
  const lookUpHost = lookUp();
  await lookUpHost(host);
  dns.addresses.set(host, ['93.184.216.35']);
  now = 29_999;
  expect(await lookUpHost(host)).toEqual([{ address, family: 4 }]);
  now = 30_000;
  expect(await lookUpHost(host)).toEqual([{ address: '93.184.216.35', family: 4 }]);
});

test('a host whose address becomes private is refused at the next look-up', async () => {
  dns.addresses.set(host, [address]);
  const lookUpHost = lookUp();
  await lookUpHost(host);
  dns.addresses.set(host, ['169.254.169.254']);
  now = 30_000;
  await expect(lookUpHost(host)).rejects.toThrow('resolves to a private address');
});

test('a failed look-up is not cached', async () => {
  const lookUpHost = lookUp();
  await expect(lookUpHost(host)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  dns.addresses.set(host, ['10.0.0.1']);
  await expect(lookUpHost(host)).rejects.toThrow('resolves to a private address');
  dns.addresses.set(host, [address]);
  expect(await lookUpHost(host)).toEqual([{ address, family: 4 }]);
});

test('hosts without a DNS response do not delay others', async () => {
  dns.addresses.set(host, [address]);
  const lookUpHost = lookUp();
  let ended = 0;
  for (let one = 0; one < 20; one += 1) {
    dns.silent.add(`silent-${one}.push.example`);
    const end = () => {
      ended += 1;
    };
    lookUpHost(`silent-${one}.push.example`).then(end, end);
  }
  expect(await lookUpHost(host)).toEqual([{ address, family: 4 }]);
  expect(ended).toBe(0);
});

test('the last 1,000 hosts are cached', async () => {
  const lookUpHost = lookUp();
  const hosts = Array.from({ length: 1001 }, (_, index) => `h${index}.push.example`);
  for (const one of hosts) {
    dns.addresses.set(one, [address]);
    await lookUpHost(one);
  }
  dns.queried.length = 0;
  await lookUpHost(hosts[1]!);
  await lookUpHost(hosts[1000]!);
  expect(dns.queried).toEqual([]);
  await lookUpHost(hosts[0]!);
  expect(dns.queried).toEqual([hosts[0]]);
});

test('each connection starts with the next address of the host', async () => {
  const addresses = ['93.184.216.34', '93.184.216.35', '93.184.216.36'];
  dns.addresses.set(host, addresses);
  const lookUpHost = lookUp();
  const first: string[] = [];
  for (let connection = 0; connection < 6; connection += 1) {
    const found = (await lookUpHost(host)) as { address: string }[];
    expect(found.map((one) => one.address).sort()).toEqual(addresses);
    first.push(found[0]!.address);
  }
  expect(first.slice(0, 3).sort()).toEqual(addresses);
  expect(first.slice(3)).toEqual(first.slice(0, 3));
});

describe('look-ups of IPv4 and IPv6 addresses', () => {
  const ipv6 = '2606:4700:0:0:0:0:0:1111';
  const compressed = '2606:4700::1111';

  test('return IPv4 addresses only, by default', async () => {
    dns.addresses.set(host, [address, ipv6]);
    expect(await lookUp()(host)).toEqual([{ address, family: 4 }]);
    expect(dns.queried).toEqual([host]);
  });

  test('return IPv6 addresses first, if preferred', async () => {
    dns.addresses.set(host, [address, ipv6]);
    const lookUpHost = lookUp({ preferIpv6: true });
    for (let connection = 0; connection < 3; connection += 1) {
      expect(await lookUpHost(host)).toEqual([
        { address: compressed, family: 6 },
        { address, family: 4 },
      ]);
    }
  });

  test.each([
    ['IPv4', [address], [{ address, family: 4 }]],
    ['IPv6', [ipv6], [{ address: compressed, family: 6 }]],
  ])('return the %s address if the host has no other', async (_, addresses, found) => {
    dns.addresses.set(host, addresses);
    expect(await lookUp({ preferIpv6: true })(host)).toEqual(found);
  });

  test('fail if the host has no address', async () => {
    dns.addresses.set(host, []);
    for (const preferIpv6 of [false, true]) {
      await expect(lookUp({ preferIpv6 })(host)).rejects.toMatchObject({ code: 'ENODATA' });
    }
  });

  test('refuse a private IPv6 address', async () => {
    dns.addresses.set(host, [address, 'fd00:0:0:0:0:0:0:1']);
    await expect(lookUp({ preferIpv6: true })(host)).rejects.toThrow(
      'resolves to a private address',
    );
  });
});
