import fc from 'fast-check';
import { isPublicAddress } from '../../../../lambdas/push/transport/public-lookup.ts';

/** A range, addresses in it with its first and last, and the public addresses next to it. */
type Range = readonly [name: string, inside: string, outside: string];

const privateIpv4: readonly Range[] = [
  ['this network', '0.0.0.0 0.255.255.255', '1.0.0.0'],
  ['private 10', '10.0.0.0 10.255.255.255', '9.255.255.255 11.0.0.0'],
  ['carrier-grade NAT', '100.64.0.0 100.127.255.255', '100.63.255.255 100.128.0.0'],
  ['loopback', '127.0.0.0 127.0.0.1 127.255.255.255', '126.255.255.255 128.0.0.0'],
  [
    'link-local',
    '169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255',
    '169.253.255.255 169.255.0.0',
  ],
  ['private 172.16', '172.16.0.0 172.31.255.255', '172.15.255.255 172.32.0.0'],
  ['protocol assignments', '192.0.0.0 192.0.0.255', '191.255.255.255 192.0.1.0'],
  ['documentation 1', '192.0.2.0 192.0.2.255', '192.0.1.255 192.0.3.0'],
  ['6to4 relays', '192.88.99.0 192.88.99.255', '192.88.98.255 192.88.100.0'],
  ['private 192.168', '192.168.0.0 192.168.255.255', '192.167.255.255 192.169.0.0'],
  ['benchmarks', '198.18.0.0 198.19.255.255', '198.17.255.255 198.20.0.0'],
  ['documentation 2', '198.51.100.0 198.51.100.255', '198.51.99.255 198.51.101.0'],
  ['documentation 3', '203.0.113.0 203.0.113.255', '203.0.112.255 203.0.114.0'],
  [
    'multicast, reserved and broadcast',
    '224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255',
    '223.255.255.255',
  ],
];

const privateIpv6: readonly Range[] = [
  ['unspecified', ':: 0:0:0:0:0:0:0:0', ''],
  ['loopback', '::1 0:0:0:0:0:0:0:1 0000::0001', ''],
  ['IPv4-compatible', '::8.8.8.8 ::127.0.0.1 ::808:808', ''],
  ['IPv4-translated', '::ffff:0:8.8.8.8', ''],
  ['local-use NAT64', '64:ff9b:1::8.8.8.8 64:ff9b:1::', ''],
  ['discard', '100:: 100::1 100:0:0:1::', ''],
  [
    'protocol assignments',
    '2001:: 2001:0:4136:e378:: 2001:20::1 2001:1ff:ffff::',
    '2001:200:: 2000:ffff::',
  ],
  [
    'documentation 1',
    '2001:db8:: 2001:DB8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db7:ffff:: 2001:db9::',
  ],
  ['documentation 2', '3fff:: 3fff:fff:ffff::', '3ffe:ffff:: 3fff:1000::'],
  ['outside 2000::/3', '1fff:ffff:: 4000:: 5f00::1 8000:: e000::', '2000:: 3ffe::'],
  ['unique local', 'fc00:: fd00:ec2::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ''],
  ['link-local', 'fe80:: fe80::1 febf:ffff::', ''],
  ['site-local', 'fec0::1', ''],
  ['multicast', 'ff00:: ff02::1 ffff:ffff::', ''],
];

const addresses = (text: string) => text.split(' ').filter((address) => address !== '');

describe.each([...privateIpv4, ...privateIpv6])('%s', (_, inside, outside) => {
  test.each(addresses(inside))('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  if (outside === '') return;
  test.each(addresses(outside))('%s next to it is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

test.each([
  '8.8.8.8',
  '142.250.1.188',
  '52.223.46.12',
  '17.57.146.20',
  '2a00:1450:4001:82b::200a',
  '2620:149:a44::1',
  '2600:1f18::',
])('the push service address %s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

/** IPv6 addresses that contain an IPv4 address. */
const embeddings: readonly [string, (dotted: string) => string][] = [
  ['mapped', (dotted) => `::ffff:${dotted}`],
  ['mapped, upper case', (dotted) => `::FFFF:${dotted}`],
  ['mapped, in full', (dotted) => `0:0:0:0:0:ffff:${dotted}`],
  ['mapped, in hexadecimal', (dotted) => `::ffff:${hexadecimal(dotted)}`],
  ['NAT64', (dotted) => `64:ff9b::${dotted}`],
  ['NAT64, in hexadecimal', (dotted) => `0064:ff9b:0:0:0:0:${hexadecimal(dotted)}`],
  ['6to4', (dotted) => `2002:${hexadecimal(dotted)}::1`],
  ['6to4, in full', (dotted) => `2002:${hexadecimal(dotted)}:1:2:3:4:5`],
];

function hexadecimal(dotted: string): string {
  const bytes = dotted.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `${bytes[0]}${bytes[1]}:${bytes[2]}${bytes[3]}`;
}

describe.each(embeddings)('an IPv4 address embedded in IPv6, %s', (_, embed) => {
  test.each(privateIpv4.flatMap(([, inside]) => addresses(inside)))(
    'is not public: %s',
    (dotted) => {
      expect(isPublicAddress(embed(dotted))).toBe(false);
    },
  );

  test('is public: 8.8.8.8', () => {
    expect(isPublicAddress(embed('8.8.8.8'))).toBe(true);
  });

  test('is public if the IPv4 address is', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        (dotted) => isPublicAddress(embed(dotted)) === isPublicAddress(dotted),
      ),
      { numRuns: 1000 },
    );
  });
});

test.each([
  '',
  ' ',
  'localhost',
  'fcm.googleapis.com',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '8.8.8.8 ',
  '8.8.8',
  '8.8.8.8.8',
  '8.8.8.256',
  '08.8.8.8',
  '[::1]',
  '[2a00:1450::1]',
  '2a00:1450::1%eth0',
  'fe80::1%1',
  '2a00::1450::1',
  '2a00:1450',
  '2a00:1450::1/64',
  '::ffff:8.8.8',
])('"%s" is not an address, and not public', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test('any text returns a boolean', () => {
  // The library's own unit of all code points takes a second to make.
  const unit = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  const texts = fc.oneof(fc.string({ unit }), fc.ipV6(), fc.ipV4Extended());
  fc.assert(fc.property(texts, (text) => typeof isPublicAddress(text) === 'boolean'));
});

test('an address outside 2000::/3 is not public, unless it embeds a public IPv4 address', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const outside = fc
    .tuple(group, fc.array(group, { minLength: 7, maxLength: 7 }))
    .filter(([first]) => first >> 13 !== 1 && first !== 0 && first !== 0x64);
  fc.assert(
    fc.property(outside, ([first, rest]) => {
      const address = [first, ...rest].map((one) => one.toString(16)).join(':');
      return !isPublicAddress(address);
    }),
    { numRuns: 1000 },
  );
});
