import { isExampleAddress } from '../../contract/text/addresses.ts';

test.each([
  'mailto:you@your-domain.example',
  'https://example.com/contact',
  'you@shop.test',
  'mailto:Ops@Corp.LOCAL',
  'mailto:admin@printer.local',
  'mailto:ops@carillon.internal',
  'https://nas.lan:8443/contact',
  'https://intranet/contact',
  'mailto:root@localhost',
])('nobody can be reached at %s', (address) => {
  expect(isExampleAddress(address)).toBe(true);
});

test.each([
  'mailto:push@carillon.net',
  'https://local.carillon.net/internal.lan',
  'mailto:ops@internal.carillon.net',
])('somebody may be reached at %s', (address) => {
  expect(isExampleAddress(address)).toBe(false);
});
