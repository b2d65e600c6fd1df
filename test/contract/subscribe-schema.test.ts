import { subscribeSchema, unsubscribeSchema } from '../../contract/schemas.ts';
import { keyPair, subscription } from '../fixtures/subscription.ts';

const schema = subscribeSchema(['http://127.0.0.1:4001']);

function issuesOf(value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('takes what PushSubscription.toJSON() yields, as it is', () => {
  const { endpoint, keys } = subscription();
  const parsed = schema.parse({ endpoint, expirationTime: null, keys });
  expect(parsed).toEqual({ endpoint, keys });
});

test('stores one spelling of an endpoint whatever the case of its host', () => {
  const { keys } = subscription();
  const parsed = schema.parse({ endpoint: 'HTTPS://FCM.googleapis.com:443/fcm/send/A', keys });
  expect(parsed.endpoint).toBe('https://fcm.googleapis.com/fcm/send/A');
});

test('takes keys in either base64 alphabet, padded or not, and stores base64url', () => {
  const publicKey = Buffer.from(keyPair().publicKey, 'base64url');
  const auth = Buffer.from('fb'.repeat(16), 'hex');
  const { endpoint } = subscription();
  const keys = { p256dh: publicKey.toString('base64'), auth: auth.toString('base64') };
  expect(schema.parse({ endpoint, keys }).keys).toEqual({
    p256dh: publicKey.toString('base64url'),
    auth: auth.toString('base64url'),
  });
});

test.each([
  'https://fcm.googleapis.com/fcm/send/abc:def',
  'https://jmt17.google.com/fcm/send/abc',
  'https://updates.push.services.mozilla.com/wpush/v2/abc',
  'https://wns2-par02p.notify.windows.com/w/?token=abc',
  'https://web.push.apple.com/QAbc',
  'http://127.0.0.1:4001/push/abc',
])('admits %s', (endpoint) => {
  expect(issuesOf(subscription({ endpoint }))).toEqual([]);
});

test.each([
  ['not a URL', 'must be an absolute URL'],
  ['ftp://fcm.googleapis.com/x', 'must be an https URL'],
  ['http://fcm.googleapis.com/x', 'must be an https URL'],
  ['https://fcm.googleapis.com:8443/x', 'must use the default port'],
  ['https://a:b@fcm.googleapis.com/x', 'must not carry a user name or password'],
  ['https://fcm.googleapis.com/x#y', 'must not carry a fragment'],
  [
    'https://permanently-removed.invalid/x',
    'must be on a known push service; "permanently-removed.invalid" is not one',
  ],
  [
    'https://127.0.0.1/fcm.googleapis.com',
    'must be on a known push service; "127.0.0.1" is not one',
  ],
  [
    'https://evilpush.apple.com.example.org/x',
    'must be on a known push service; "evilpush.apple.com.example.org" is not one',
  ],
  ['https://push.apple.com/x', 'must be on a known push service; "push.apple.com" is not one'],
  ['http://127.0.0.1:4002/push/abc', 'must be an https URL'],
])('refuses the endpoint %s', (endpoint, message) => {
  expect(issuesOf(subscription({ endpoint }))).toEqual([`endpoint: ${message}`]);
});

test('refuses an endpoint of more than 2,048 characters', () => {
  const longest = `https://fcm.googleapis.com/${'x'.repeat(2048 - 27)}`;
  expect(issuesOf(subscription({ endpoint: longest }))).toEqual([]);
  expect(issuesOf(subscription({ endpoint: `${longest}x` }))).toHaveLength(1);
});

test('refuses an endpoint that is longer than 2,048 characters once it is normalised', () => {
  // A URL percent-encodes each of these characters as nine.
  const endpoint = `https://fcm.googleapis.com/${'中'.repeat(300)}`;
  expect(new URL(endpoint).href.length).toBeGreaterThan(2048);
  expect(issuesOf(subscription({ endpoint }))).toEqual([
    'endpoint: must have at most 2048 characters when it is percent-encoded',
  ]);
  expect(unsubscribeSchema.safeParse({ endpoint }).success).toBe(false);
});

test('names every field that is absent', () => {
  expect(issuesOf({})).toEqual(['endpoint: is required', 'keys: is required']);
  expect(issuesOf(subscription({ keys: {} as never }))).toEqual([
    'keys.p256dh: is required',
    'keys.auth: is required',
  ]);
});

test.each([null, [], 'text', 7])('refuses the body %j', (body) => {
  expect(issuesOf(body)).toEqual([': must be an object']);
});

describe('keys.p256dh', () => {
  const right = Buffer.from(keyPair().publicKey, 'base64url');
  const offCurve = Buffer.from(right);
  offCurve[64]! ^= 1;
  const compressed = Buffer.concat([Buffer.of(2 + (right[64]! & 1)), right.subarray(1, 33)]);
  const beyondField = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 0xff)]);

  test.each([
    ['a point off the curve', offCurve.toString('base64url')],
    ['a compressed point', compressed.toString('base64url')],
    ['coordinates beyond the field', beyondField.toString('base64url')],
    ['the point at infinity', Buffer.of(0).toString('base64url')],
    ['zeros', Buffer.concat([Buffer.of(4), Buffer.alloc(64)]).toString('base64url')],
    ['no base64', `${'*'.repeat(87)}`],
  ])('refuses %s', (_, p256dh) => {
    const { auth } = subscription().keys;
    expect(issuesOf(subscription({ keys: { p256dh, auth } }))).toEqual([
      'keys.p256dh: must be base64url of an uncompressed P-256 point (65 bytes)',
    ]);
  });
});

test.each([15, 17])('refuses an auth secret of %i bytes', (length) => {
  const { p256dh } = subscription().keys;
  const auth = Buffer.alloc(length, 1).toString('base64url');
  expect(issuesOf(subscription({ keys: { p256dh, auth } }))).toEqual([
    'keys.auth: must be base64url of 16 bytes',
  ]);
});

test.each([
  ['', 'must be text of 1 to 256 characters'],
  ['x'.repeat(257), 'must be text of 1 to 256 characters'],
  [7, 'must be text of 1 to 256 characters'],
  [null, 'must be text of 1 to 256 characters'],
  ['\ud800', 'must be well-formed Unicode'],
])('refuses the userId %j', (userId, message) => {
  expect(issuesOf({ ...subscription(), userId })).toEqual([`userId: ${message}`]);
});

test('unsubscribe takes an endpoint that subscribe admits no more, in the same spelling', () => {
  const parsed = unsubscribeSchema.parse({ endpoint: 'https://Push.Example.org/x' });
  expect(parsed.endpoint).toBe('https://push.example.org/x');
});
