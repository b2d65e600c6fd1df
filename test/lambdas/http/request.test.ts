import { createHash } from 'node:crypto';
import middy from '@middy/core';
import { countedAddress, networkOf, throughProxy } from '../../../lambdas/http/request.ts';
import { respond } from '../../../lambdas/http/response.ts';

test.each([
  ['203.0.113.7', '203.0.113.7', undefined],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:DB8:1:0002::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['::', '0:0:0:0::/64', '0:0:0::/48'],
  ['::ffff:203.0.113.7', '203.0.113.7', undefined],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
])('requests from %s are counted under %s and %s', (address, counted, network) => {
  expect(countedAddress(address)).toEqual({ address: counted, network });
});

test.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:DB8:0001::9', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  ['no address', undefined],
])('the address %s is logged as the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

test.each<[string, Record<string, string>]>([
  ['no secret', {}],
  ['an empty secret', { 'x-origin-secret': '' }],
])('a request with %s is direct, even if the hash is that of the empty text', async (_, sent) => {
  const handler = middy()
    .use(throughProxy({ hashes: [hashOf('')], isRequired: true }))
    .handler(async () => respond(200, {}));
  const event = {
    headers: { 'x-forwarded-for': '203.0.113.7, 192.0.2.1', ...sent },
    requestContext: { http: { sourceIp: '192.0.2.1' } },
  };
  await expect(handler(event as never, {} as never)).rejects.toMatchObject({
    code: 'direct_request',
  });
});
