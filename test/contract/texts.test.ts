import { isExampleAddress } from '../../contract/text/addresses.ts';
import { nearestName } from '../../contract/wire/fields.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';

const names = ['stage', 'subscriberCap', 'monthlySendCap'];

test.each([
  ['subscribercap', 'subscriberCap'],
  ['subscibrCap', 'subscriberCap'],
  ['subscribersCap', 'subscriberCap'],
  ['STAGE', 'stage'],
  ['monthlyCap', 'monthlySendCap'],
  ['satge', 'stage'],
])('the nearest name to %s is %s', (typed, name) => {
  expect(nearestName(typed, names)).toBe(name);
});

test.each(['colour', '', 'cap', 'sta'])('%p has no near name', (typed) => {
  expect(nearestName(typed, names)).toBeUndefined();
});

test('an empty list has no near name', () => {
  expect(nearestName('stage', [])).toBeUndefined();
});

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

const extra = ['https://push.example.com', 'http://127.0.0.1:8080'];

test.each([
  ['https://fcm.googleapis.com', 'fcm'],
  ['https://jmt17.google.com', 'jmt17'],
  ['https://updates.push.services.mozilla.com', 'mozilla'],
  ['https://wns2-by3p.notify.windows.com', 'wns'],
  ['https://wns2-.notify.windows.com', undefined],
  ['https://wns2-a-b.notify.windows.com', 'other'],
  ['https://a.wns2-by3p.notify.windows.com', 'other'],
  ['https://db5p.notify.windows.com', 'other'],
  ['https://web.push.apple.com', 'apple'],
  ['https://x1.push.apple.com', 'other'],
  ['https://a.web.push.apple.com', 'other'],
  ['https://push.example.com', 'https://push.example.com'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
])('%s is %s', (origin, name) => {
  expect(pushServiceOf(origin, extra)).toBe(name);
});

test.each([
  ['', 'https://', 'fcm.googleapis.com', 'http://fcm.googleapis.com'],
  ['https://fcm.googleapis.com:443', 'https://fcm.googleapis.com:8443'],
  ['https://fcm.googleapis.com/', 'https://fcm.googleapis.com/path', 'https://fcm.googleapis.com.'],
  ['HTTPS://fcm.googleapis.com', 'https://FCM.googleapis.com', ' https://fcm.googleapis.com'],
  ['https://fcm.googleapis.com@127.0.0.1', 'https://user@fcm.googleapis.com'],
  ['https://push.apple.com', 'https://.push.apple.com', 'https://a..push.apple.com'],
  [
    'https://evil@x.push.apple.com',
    'https://127.0.0.1/x.push.apple.com',
    'https://a\\x.push.apple.com',
  ],
  ['https://xn--a.push.apple.com', 'https://a_b.push.apple.com', 'https://A.push.apple.com'],
  [
    'https://a.push.apple.com\n',
    'https://a\n.push.apple.com',
    'https://x.push.apple.com.example.org',
  ],
  ['https://other.example.com', 'https://push.example.com:8443', 'https://push.example.com@evil'],
])('another origin or spelling is not accepted: %s, %s', (...origins) => {
  for (const origin of origins) expect(pushServiceOf(origin, extra)).toBeUndefined();
});
