import { newVapidPair } from '../../admin/vapid-pair.ts';
import { pathText } from '../../contract/wire/fields.ts';
import { subscribeSchema, unsubscribeSchema } from '../../contract/wire/subscription.ts';

const schema = subscribeSchema(['http://127.0.0.1:4001']);

const validKeys = {
  p256dh: newVapidPair().publicKey,
  auth: Buffer.alloc(16, 1).toString('base64url'),
};

/** The output of a browser's `PushSubscription.toJSON()`. */
function subscription(overrides: { endpoint?: string; keys?: object } = {}) {
  return {
    endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/abc',
    keys: validKeys,
    ...overrides,
  };
}

function issuesOf(value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${pathText(path)}: ${message}`);
}

test('the output of PushSubscription.toJSON() is accepted unchanged', () => {
  const { endpoint } = subscription();
  const keys = validKeys;
  const parsed = schema.parse({ endpoint, expirationTime: null, keys });
  expect(parsed).toEqual({
    endpoint: {
      href: endpoint,
      origin: 'https://updates.push.services.mozilla.com',
      path: '/wpush/v2/abc',
    },
    keys: {
      p256dh: new Uint8Array(Buffer.from(keys.p256dh, 'base64url')),
      auth: new Uint8Array(16).fill(1),
    },
  });
});

test('an application server key is normalised to base64url without padding', () => {
  const point = Buffer.from(newVapidPair().publicKey, 'base64url');
  for (const applicationServerKey of [
    point.toString('base64url'),
    point.toString('base64'),
    `${point.toString('base64url')}=`,
  ]) {
    const parsed = schema.parse({ ...subscription(), applicationServerKey });
    expect(parsed.applicationServerKey).toBe(point.toString('base64url'));
  }
  expect(schema.parse(subscription()).applicationServerKey).toBeUndefined();
});

test('an endpoint is normalised, and split into origin and path', () => {
  const { keys } = subscription();
  const endpoint = 'HTTP://127.0.0.1:4001/fcm/./send/ä?b=c';
  expect(schema.parse({ endpoint, keys }).endpoint).toEqual({
    href: 'http://127.0.0.1:4001/fcm/send/%C3%A4?b=c',
    origin: 'http://127.0.0.1:4001',
    path: '/fcm/send/%C3%A4?b=c',
  });
});

test('keys may be base64 or base64url, padded or not, and become bytes', () => {
  const p256dh = Buffer.from(newVapidPair().publicKey, 'base64url');
  const auth = Buffer.from('fb'.repeat(16), 'hex');
  for (const encode of [
    (bytes: Buffer) => bytes.toString('base64'),
    (bytes: Buffer) => bytes.toString('base64').replaceAll('=', ''),
    (bytes: Buffer) => bytes.toString('base64url'),
  ]) {
    const keys = { p256dh: encode(p256dh), auth: encode(auth) };
    expect(schema.parse(subscription({ keys })).keys).toEqual({
      p256dh: new Uint8Array(p256dh),
      auth: new Uint8Array(auth),
    });
  }
});

test.each([
  'https://fcm.googleapis.com/fcm/send/abc:def',
  'https://jmt17.google.com/fcm/send/abc',
  'https://updates.push.services.mozilla.com/wpush/v2/abc',
  'https://wns2-par02p.notify.windows.com/w/?token=BQYAAACTe%2fR_n-1%2b2A%3d%3d',
  'https://wns2-par02p.notify.windows.com/w/?token=BQYAAACTe%2FR_n-1%2B2A%3D%3D',
  'https://db5p.notify.windows.com/?token=AwYAAACTe/Rn1+2A==',
  'https://web.push.apple.com/QAbc',
  'http://127.0.0.1:4001/push//%41?abc',
])('the endpoint %s is accepted', (endpoint) => {
  expect(issuesOf(subscription({ endpoint }))).toEqual([]);
});

// One case for each rule. Hostile URLs: test/reliability.
test.each<[string, string]>([
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
  ['https://push.apple.com/x', 'must be on a known push service; "push.apple.com" is not one'],
  ['http://127.0.0.1:4002/push/abc', 'must be an https URL'],
  ['https://fcm.googleapis.com/fcm/send/a?1', 'must not have a query'],
  ['https://fcm.googleapis.com/fcm/send/a?', 'must not have a query'],
  ['https://x.push.apple.com/QAbc?', 'must not have a query'],
  ...['fcm/send/%61', 'fcm//send/a', 'fcm/send/a%20', '/fcm/send/a', 'fcm/send/中'].map(
    (path) =>
      [
        `https://fcm.googleapis.com/${path}`,
        'must have a path without "%" and "//", as browsers have it',
      ] as [string, string],
  ),
  ...[
    '',
    '?',
    '?token=',
    '?token=%41',
    '?token=a%2b%2B',
    '?token=a%2b+',
    '?token=a&x',
    '?x&token=a',
  ].map(
    (query) =>
      [
        `https://wns2-par02p.notify.windows.com/w/${query}`,
        'must have the query "?token=…" only, as Edge has it',
      ] as [string, string],
  ),
])('the endpoint %s is refused', (endpoint, message) => {
  expect(issuesOf(subscription({ endpoint }))).toEqual([`endpoint: ${message}`]);
});

test('an endpoint has at most 2,048 characters', () => {
  const longest = `https://fcm.googleapis.com/${'x'.repeat(2048 - 27)}`;
  expect(issuesOf(subscription({ endpoint: longest }))).toEqual([]);
  expect(issuesOf(subscription({ endpoint: `${longest}x` }))).toHaveLength(1);
});

test('an endpoint has at most 2,048 characters after percent-encoding', () => {
  // Percent-encoding turns each of these characters into nine.
  const endpoint = `http://127.0.0.1:4001/${'中'.repeat(300)}`;
  expect(new URL(endpoint).href.length).toBeGreaterThan(2048);
  expect(issuesOf(subscription({ endpoint }))).toEqual([
    'endpoint: must have at most 2048 characters when it is percent-encoded, and has 2722',
  ]);
  expect(unsubscribeSchema.safeParse({ endpoint }).success).toBe(false);
});

test('the issues name every missing field', () => {
  expect(issuesOf({})).toEqual(['endpoint: is required', 'keys: is required']);
  expect(issuesOf(subscription({ keys: {} }))).toEqual([
    'keys.p256dh: is required',
    'keys.auth: is required',
  ]);
});

test.each([null, [], 'text', 7])('the body %j is refused', (body) => {
  expect(issuesOf(body)).toEqual([': must be an object']);
});

const point = Buffer.from(validKeys.p256dh, 'base64url');
const offCurve = Buffer.from(point);
offCurve[64]! ^= 1;
const compressed = Buffer.concat([Buffer.of(2 + (point[64]! & 1)), point.subarray(1, 33)]);
const outOfRange = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 0xff)]);

describe.each([
  ['applicationServerKey', (key: unknown) => ({ ...subscription(), applicationServerKey: key })],
  ['keys.p256dh', (key: unknown) => subscription({ keys: { ...validKeys, p256dh: key } })],
])('%s is refused', (path, withKey) => {
  test.each([
    ['that is empty', ''],
    ['that is not base64', '*'.repeat(87)],
    ['one byte shorter', point.subarray(0, 64).toString('base64url')],
    ['one byte longer', Buffer.concat([point, Buffer.of(0)]).toString('base64url')],
    ['that is not on the curve', offCurve.toString('base64url')],
    ['that is compressed', compressed.toString('base64url')],
    ['with coordinates of p or more', outOfRange.toString('base64url')],
    ['of zeros', Buffer.concat([Buffer.of(4), Buffer.alloc(64)]).toString('base64url')],
    ['that is a private key', newVapidPair().privateKey],
    ['that is a number', 1],
    ['that is null', null],
  ])('%s', (_, key) => {
    expect(issuesOf(withKey(key))).toEqual([
      `${path}: must be base64url of an uncompressed P-256 point (65 bytes)`,
    ]);
  });
});

test.each([15, 17])('an auth secret of %i bytes is refused', (length) => {
  const { p256dh } = validKeys;
  const auth = Buffer.alloc(length, 1).toString('base64url');
  expect(issuesOf(subscription({ keys: { p256dh, auth } }))).toEqual([
    'keys.auth: must be base64url of 16 bytes',
  ]);
});

test.each([
  ['', 'must be text of 1 to 256 characters'],
  ['x'.repeat(257), 'must be text of 1 to 256 characters, and has 257'],
  [7, 'must be text of 1 to 256 characters, not a number: write it in quotes, "7"'],
  [true, 'must be text of 1 to 256 characters'],
  ['\ud800', 'must be well-formed Unicode'],
])('the userId %j is refused', (userId, message) => {
  expect(issuesOf({ ...subscription(), userId })).toEqual([`userId: ${message}`]);
});

test('a userId of null means nobody, and no userId that the request says nothing', () => {
  expect(schema.parse({ ...subscription(), userId: null }).userId).toBeNull();
  expect(schema.parse(subscription()).userId).toBeUndefined();
});

describe('channels', () => {
  const names = Array.from({ length: 20 }, (_, index) => `channel-${index}`);
  const rule = 'must be 1 to 32 lowercase letters, digits or hyphens';

  test.each([
    ['none', [], []],
    ['the most', names, names],
    ['one of each allowed character', ['a-z-0-9'], ['a-z-0-9']],
    ['the longest name', ['a'.repeat(32)], ['a'.repeat(32)]],
    ['a name twice, which counts once', ['b', 'a', 'b'], ['b', 'a']],
    ['the most, and one of them twice', [...names, names[0]], names],
  ])('%s: accepted', (_, channels, read) => {
    expect(schema.parse({ ...subscription(), channels }).channels).toEqual(read);
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'channels: must be an array of channels'],
    ['a text', 'news', 'channels: must be an array of channels'],
    ['one too many', [...names, 'one-more'], 'channels: must name at most 20 channels'],
    ['an empty name', ['a', ''], `channels[1]: ${rule}`],
    ['a name that is too long', ['a'.repeat(33)], `channels[0]: ${rule}, and has 33`],
    ['a capital', ['News'], `channels[0]: ${rule}`],
    ['a space', ['a b'], `channels[0]: ${rule}`],
    ['a line feed at the end', ['a\n'], `channels[0]: ${rule}`],
    ['a number', [7], `channels[0]: ${rule}, not a number: write it in quotes, "7"`],
  ])('%s: refused', (_, channels, issue) => {
    expect(issuesOf({ ...subscription(), channels })).toEqual([issue]);
  });
});

test.each([null, ['a'], {}, true])('the userIdSignature %j is refused', (userIdSignature) => {
  expect(issuesOf({ ...subscription(), userId: 'ada', userIdSignature })).toEqual([
    'userIdSignature: must be text',
  ]);
});

test('a userIdSignature without a userId is refused', () => {
  for (const userId of [undefined, null]) {
    expect(issuesOf({ ...subscription(), userId, userIdSignature: 'x' })).toEqual([
      'userIdSignature: needs "userId", which it signs',
    ]);
  }
  expect(issuesOf({ ...subscription(), userId: null })).toEqual([]);
});

test('unsubscribe accepts endpoints of any push service and normalises them', () => {
  const parsed = unsubscribeSchema.parse({ endpoint: 'https://Push.Example.org/x' });
  expect(parsed.endpoint).toEqual({
    href: 'https://push.example.org/x',
    origin: 'https://push.example.org',
    path: '/x',
  });
});
