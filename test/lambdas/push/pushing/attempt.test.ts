import { noCounts } from '../../../../contract/counts.ts';
import type { FailureReason } from '../../../../contract/failure-reasons.ts';
import { publicLookup } from '../../../../lambdas/push/transport/public-lookup.ts';
import { pushTransport, type Transport } from '../../../../lambdas/push/transport/transport.ts';
import { pushOverNetwork, skipWaits } from '../../../fixtures/network-pushing.ts';
import { recipient } from '../../../fixtures/recipient.ts';
import { subscription } from '../../../fixtures/subscription.ts';
import { acceptingServer, closeServers, rawServer } from '../transport/servers.ts';

afterEach(closeServers);

const { keys } = subscription();

/** Pushes once, or until it is given up. */
async function push(
  origin: string,
  { path = '/push/1', transport = pushTransport({ limit: 1 }), endMs = 5000 },
) {
  const faults: unknown[] = [];
  let attempts = 0;
  const counts = await pushOverNetwork(
    {
      recipients: [{ ...recipient({ endpoint: `${origin}/`, keys }), path }],
      endAt: Date.now() + endMs,
    },
    {
      extraOrigins: [origin],
      sleep: skipWaits,
      transport: (request) => {
        attempts += 1;
        return transport(request);
      },
      onFault: (error) => faults.push(error),
    },
  );
  return { counts, attempts, faults };
}

const failed = (reason: FailureReason, attempts: number) => ({
  ...{ attempts, faults: [] },
  counts: { ...noCounts, attempted: 1, failed: 1, failures: { [reason]: 1 } },
});

test('a push with a path that is not percent-encoded is unsendable', async () => {
  const { origin, counts } = await acceptingServer();
  expect(await push(origin, { path: '/a b' })).toEqual(failed('unsendable', 1));
  expect(counts.connections).toBe(0);
});

test('a push to a host with a private address is unsendable', async () => {
  const resolver = { resolve4: async () => ['10.0.0.1'], resolve6: async () => [] } as never;
  const lookup = publicLookup({ trustedOrigins: [], preferIpv6: false, resolver });
  const transport = pushTransport({ limit: 1, lookup });
  expect(await push('https://web.push.example', { transport })).toEqual(failed('unsendable', 1));
});

test('a push without a response in time has timed out, and is not repeated while a caller waits', async () => {
  const { origin } = await acceptingServer(() => {});
  expect(await push(origin, { endMs: 50 })).toEqual(failed('no_response', 1));
});

const notFound = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });

test('a host without an address, and one that refuses the connection, are tried three times', async () => {
  const resolver = { resolve4: () => Promise.reject(notFound), resolve6: async () => [] } as never;
  const lookup = publicLookup({ trustedOrigins: [], preferIpv6: false, resolver });
  const transport = pushTransport({ limit: 1, lookup });
  expect(await push('https://web.push.example', { transport })).toEqual(failed('no_response', 3));
  const { origin } = await acceptingServer();
  await closeServers();
  expect(await push(origin, {})).toEqual(failed('no_response', 3));
});

test.each([
  ['breaks off', 'HTTP/1.1 20', true],
  ['is not HTTP', '220 mail.example.com ESMTP\r\n\r\n', false],
  ['is malformed', 'HTTP/1.1 201 Created\r\nno colon\r\n\r\n', false],
])('a push whose response %s is repeated', async (_, text, ends) => {
  const origin = await rawServer(text, (socket) => ends && socket.destroy());
  expect(await push(origin, {})).toEqual(failed('no_response', 3));
});

test.each<[string, () => Transport]>([
  [
    'more pushes than connections',
    () => {
      const transport = pushTransport({ limit: 1 });
      return (request) => {
        transport(request).catch(() => {});
        return transport(request);
      };
    },
  ],
  ['an error of the code', () => () => Promise.reject(new TypeError('x is undefined'))],
  [
    'an error of the code while resolving a host',
    () => pushTransport({ limit: 1, lookup: (_, __, done) => done(new TypeError('x'), []) }),
  ],
])('%s is reported as a fault, and not as one of the network', async (_, transport) => {
  const { origin } = await acceptingServer();
  // A name, because an address is not resolved.
  const byName = origin.replace('127.0.0.1', 'localhost');
  expect(await push(byName, { transport: transport() })).toEqual({
    ...failed('internal_error', 1),
    faults: [expect.any(Error)],
  });
});
