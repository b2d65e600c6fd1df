import { newVapidPair } from '../../../../admin/vapid-pair.ts';
import { attempt } from '../../../../lambdas/push/pushing/attempt.ts';
import type { Push } from '../../../../lambdas/push/pushing/push.ts';
import { publicLookup } from '../../../../lambdas/push/transport/public-lookup.ts';
import { pushTransport, type Transport } from '../../../../lambdas/push/transport/transport.ts';
import { recipient } from '../../../fixtures/recipient.ts';
import { subscription } from '../../../fixtures/subscription.ts';
import { acceptingServer, closeServers, rawServer } from '../transport/servers.ts';

afterEach(closeServers);

const { keys } = subscription();

/** Attempts one push. @returns its outcome, and the faults that were reported. */
async function outcomeOf(
  origin: string,
  { path = '/push/1', headers = {}, transport = pushTransport({ limit: 1 }), timeoutMs = 5000 },
) {
  const push: Push = {
    recipient: { ...recipient({ endpoint: `${origin}/`, keys }), path },
    origin: { name: origin, vapid: { number: 0, ...newVapidPair() } },
    encrypt: () => Buffer.alloc(1),
    headers: { TTL: '60', ...headers },
    body: Buffer.from('body'),
    attempts: 0,
  };
  const faults: unknown[] = [];
  const settings = {
    transport,
    clock: () => new Date(0),
    onFault: (error: unknown) => faults.push(error),
  };
  return { outcome: await attempt(push, settings, timeoutMs), faults };
}

const unsendable = { outcome: { kind: 'failed', reason: 'unsendable' }, faults: [] };
const noResponse = (isTimeout: boolean) => ({
  outcome: { kind: 'transient', reason: 'no_response', isTimeout },
  faults: [],
});

test.each([
  ['a path that is not percent-encoded', { path: '/a b' }],
  ['a header with a line break', { headers: { TTL: '60\r\nHost: x' } }],
])('a push with %s is unsendable', async (_, change) => {
  const { origin, counts } = await acceptingServer();
  expect(await outcomeOf(origin, change)).toEqual(unsendable);
  expect(counts.connections).toBe(0);
});

test('a push to a host with a private address is unsendable', async () => {
  const resolver = { resolve4: async () => ['10.0.0.1'], resolve6: async () => [] } as never;
  const lookup = publicLookup({ trustedOrigins: [], preferIpv6: false, resolver });
  const transport = pushTransport({ limit: 1, lookup });
  expect(await outcomeOf('https://web.push.example', { transport })).toEqual(unsendable);
});

test('a push without a response in time has timed out', async () => {
  const { origin } = await acceptingServer(() => {});
  expect(await outcomeOf(origin, { timeoutMs: 50 })).toEqual(noResponse(true));
});

test('a refused connection is not a time-out', async () => {
  const { origin } = await acceptingServer();
  await closeServers();
  expect(await outcomeOf(origin, {})).toEqual(noResponse(false));
});

test('a host without an address is not a time-out', async () => {
  const notFound = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
  const resolver = { resolve4: () => Promise.reject(notFound), resolve6: async () => [] } as never;
  const lookup = publicLookup({ trustedOrigins: [], preferIpv6: false, resolver });
  const transport = pushTransport({ limit: 1, lookup });
  expect(await outcomeOf('https://web.push.example', { transport })).toEqual(noResponse(false));
});

test.each([
  ['breaks off', 'HTTP/1.1 20', true],
  ['is not HTTP', '220 mail.example.com ESMTP\r\n\r\n', false],
  ['is malformed', 'HTTP/1.1 201 Created\r\nno colon\r\n\r\n', false],
])('a response that %s is not a time-out', async (_, text, ends) => {
  const origin = await rawServer(text, (socket) => ends && socket.destroy());
  expect(await outcomeOf(origin, {})).toEqual(noResponse(false));
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
  const { outcome, faults } = await outcomeOf(origin.replace('127.0.0.1', 'localhost'), {
    transport: transport(),
  });
  expect(outcome).toEqual({ kind: 'failed', reason: 'internal_error' });
  expect(faults).toEqual([expect.any(Error)]);
});
