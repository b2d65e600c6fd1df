import type dns from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { publicLookup } from '../../lambdas/push/public-lookup.ts';
import { pushTransport } from '../../lambdas/push/transport.ts';
import { type PushService, startPushService } from '../../local/push-service/push-service.ts';

let service: PushService;
beforeAll(async () => {
  service = await startPushService();
});
afterAll(() => service.stop());

/** A resolver that gives these addresses for every name. */
function resolvesTo(...addresses: readonly string[]): typeof dns.lookup {
  const found: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
  const lookup = (
    _: string,
    { all }: { all?: boolean },
    callback: (error: null, address: string | LookupAddress[], family?: number) => void,
  ) => (all ? callback(null, found) : callback(null, found[0]!.address, 4));
  return lookup as unknown as typeof dns.lookup;
}

/** Pushes to a host of that name, on the port of a push service of this machine. */
function push(trustedOrigins: readonly string[], lookup: typeof dns.lookup) {
  const origin = `http://push.example.com:${new URL(service.origin).port}`;
  const transport = pushTransport({ limit: 1, lookup: publicLookup(trustedOrigins, lookup) });
  const body = Buffer.alloc(1);
  return transport({ origin, path: '/push/x', headers: {}, body, timeout: 2000 });
}

test.each([
  ['loopback', ['127.0.0.1']],
  ['a private network', ['10.0.0.1']],
  ['the metadata service', ['169.254.169.254']],
  ['a public address and a private one', ['93.184.216.34', '127.0.0.1']],
])('a host that resolves to %s is not connected to', async (_, addresses) => {
  const before = service.stats().connections;
  await expect(push([], resolvesTo(...addresses))).rejects.toThrow('resolves to a private address');
  expect(service.stats().connections).toBe(before);
});

test('an origin that an operator admitted may lie in a private network', async () => {
  const trusted = [`http://push.example.com:${new URL(service.origin).port}`];
  expect((await push(trusted, resolvesTo('127.0.0.1'))).status).toBe(404);
});

test('a public address is handed on, as one or as a list', async () => {
  const lookup = publicLookup([], resolvesTo('93.184.216.34'));
  const one = await new Promise((resolve) =>
    lookup('a.example', {}, (...result) => resolve(result)),
  );
  expect(one).toEqual([null, '93.184.216.34', 4]);
  const all = await new Promise((resolve) =>
    lookup('a.example', { all: true }, (...result) => resolve(result)),
  );
  expect(all).toEqual([null, [{ address: '93.184.216.34', family: 4 }]]);
});
