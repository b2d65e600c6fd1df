import webpush from 'web-push';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { until } from '../../fixtures/until.ts';
import { post, push, pushRequest, refusalOf, sender, subject, vapidHeader } from './sender.ts';

const hourMs = 60 * 60 * 1000;
let nowMs: () => number;
let pushService: PushService;

beforeEach(async () => {
  nowMs = Date.now;
  pushService = await startPushService({ nowMs: () => nowMs() });
});
afterEach(() => pushService.stop());

function subscribe() {
  return pushService.subscribe({ applicationServerKey: sender.publicKey });
}

/** Sends a valid push with changed headers. Undefined removes a header. */
function pushWith(headers: Record<string, string | undefined>, body?: Uint8Array<ArrayBuffer>) {
  const request = pushRequest(subscribe(), 'ding');
  const changed = Object.entries({ ...request.headers, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return post({ ...request, headers: Object.fromEntries(changed), body: body ?? request.body });
}

const { publicKey: otherKey } = webpush.generateVAPIDKeys();

/** An `Authorization` header that is valid but for these claims. */
function signed(claims: object = {}, options: { alg?: string } = {}): string {
  const exp = Math.floor(Date.now() / 1000) + 60;
  return vapidHeader({ aud: pushService.origin, exp, sub: subject, ...claims }, options);
}

test.each<[what: string, Authorization: () => string | undefined, message: string]>([
  ['a missing header', () => undefined, 'missing'],
  ['another scheme', () => 'Bearer abc', 'vapid scheme'],
  ['a missing token', () => `vapid k=${sender.publicKey}`, 'token t is missing'],
  ['a missing key', () => signed().split(',')[0], 'key k is missing'],
  ['a key that is not a point', () => signed().replace(/k=.*/, 'k=AAAA'), 'P-256 point'],
  ['a padded key', () => `${signed()}=`, 'without padding'],
  ['a key that did not sign', () => signed().replace(/k=.*/, `k=${otherKey}`), 'signature'],
  ['an altered signature', () => signed().replace(/....,/, 'AAAA,'), 'signature'],
  ['a token that is not a JWT', () => `vapid t=abc, k=${sender.publicKey}`, 'not a JWT'],
  ['a JWT with too many parts', () => signed().replace(',', '.AAAA,'), 'not a JWT'],
  ['another algorithm', () => signed({}, { alg: 'none' }), 'ES256'],
  ['another audience', () => signed({ aud: 'https://push.example' }), 'audience'],
  ['an audience with a path', () => signed({ aud: `${pushService.origin}/` }), 'audience'],
  ['an expired token', () => signed({ exp: Math.floor(Date.now() / 1000) - 1 }), 'expired'],
  ['a missing expiry', () => signed({ exp: undefined }), 'expiry'],
  ['a missing subject', () => signed({ sub: undefined }), 'subject'],
  ['a subject with another scheme', () => signed({ sub: 'tel:112' }), 'subject'],
  ['a space in the subject', () => signed({ sub: 'mailto: a@b.example' }), 'subject'],
])('VAPID: %s is refused', async (_, header, message) => {
  const response = await pushWith({ Authorization: header() });
  expect(response.headers.get('www-authenticate')).toBe('vapid');
  const expected = { status: 401, errno: 109, message: expect.stringContaining(message) };
  expect(await refusalOf(response)).toEqual(expected);
});

test.each([
  ['a missing TTL', { TTL: undefined }, 111, 'TTL'],
  ['a negative TTL', { TTL: '-1' }, 114, 'TTL'],
  ['a fractional TTL', { TTL: '1.5' }, 114, 'TTL'],
  ['another encoding', { 'Content-Encoding': 'aesgcm' }, 110, 'aes128gcm'],
  ['a missing encoding', { 'Content-Encoding': undefined }, 110, 'aes128gcm'],
  ['a topic of 33 characters', { Topic: 'a'.repeat(33) }, 113, 'Topic'],
  ['a topic with a character outside base64url', { Topic: 'a+b' }, 113, 'Topic'],
])('%s is refused', async (_, headers, errno, message) => {
  const response = await pushWith(headers);
  const expected = { status: 400, errno, message: expect.stringContaining(message) };
  expect(await refusalOf(response)).toEqual(expected);
});

test('a token is refused after it has expired, and more than 24 hours before', async () => {
  const request = pushRequest(subscribe(), 'ding');
  expect((await post(request)).status).toBe(201);
  for (const [hours, message] of [
    [13, 'The token has expired.'],
    [-13, 'The token expires more than 24 hours ahead.'],
  ] as const) {
    nowMs = () => Date.now() + hours * hourMs;
    expect(await refusalOf(await post(request))).toEqual({ status: 401, errno: 109, message });
  }
});

test('only the application server key of a subscription may send', async () => {
  expect(await refusalOf(await push(subscribe(), 'ding', webpush.generateVAPIDKeys()))).toEqual({
    status: 401,
    errno: 109,
    message: expect.stringContaining('VAPID public key mismatch'),
  });
});

test('a body of 4,096 bytes is accepted; one of 4,097, none, and one for another browser are not', async () => {
  const browser = subscribe();
  const largest = pushRequest(browser, Buffer.alloc(3993, 'x'));
  expect(largest.body).toHaveLength(4096);
  expect((await post(largest)).status).toBe(201);
  expect(browser.messages[0]?.text).toHaveLength(3993);
  const refusals: unknown[] = [];
  for (const body of [
    new Uint8Array(4097),
    new Uint8Array(0),
    pushRequest(subscribe(), 'ding').body,
  ]) {
    refusals.push(await refusalOf(await pushWith({}, body)));
  }
  expect(refusals).toMatchObject([
    { status: 413, errno: 104 },
    { status: 400, errno: 110, message: 'The body is empty.' },
    { status: 400, errno: 110 },
  ]);
});

test('an unknown endpoint and another method are refused', async () => {
  const request = pushRequest(subscribe(), 'ding');
  const unknown = await post({ ...request, endpoint: `${pushService.origin}/push/unknown` });
  expect([unknown.status, await unknown.text()]).toEqual([404, '']);
  const read = await fetch(request.endpoint);
  expect(read.headers.get('allow')).toBe('POST');
  expect(await refusalOf(read)).toMatchObject({ status: 405, errno: null });
});

test('as Mozilla’s, it closes the connection with 401 and 404, and lets a 410 be cached', async () => {
  const gone = subscribe();
  gone.unsubscribe();
  const responses = [
    await pushWith({ Authorization: undefined }),
    await fetch(`${pushService.origin}/push/unknown`, { method: 'POST' }),
    await push(gone),
    await push(subscribe()),
  ];
  const headers = responses.map(({ status, headers: found }) => [
    status,
    found.get('connection'),
    found.get('cache-control'),
  ]);
  expect(headers).toEqual([
    [401, 'close', null],
    [404, 'close', null],
    [410, 'keep-alive', 'max-age=86400'],
    [201, 'keep-alive', null],
  ]);
});

test('a behaviour hides no mistake of the sender, and an invalid push does not use it up', async () => {
  const browser = subscribe();
  browser.behave({ status: 503, times: 1 });
  expect((await fetch(browser.endpoint, { method: 'POST' })).status).toBe(400);
  expect((await push(browser)).status).toBe(503);
  expect((await push(browser)).status).toBe(201);
});

test('a push whose sender hangs up during a delay is not delivered', async () => {
  const browser = subscribe();
  browser.behave({ delayMs: 60_000 });
  const { endpoint, headers, body } = pushRequest(browser, 'ding');
  const abort = new AbortController();
  const pending = fetch(endpoint, { method: 'POST', headers, body, signal: abort.signal });
  await until('the push', async () => pushService.stats().inFlight === 1);
  abort.abort();
  await expect(pending).rejects.toThrow('aborted');
  await until('the end of the push', async () => pushService.stats().inFlight === 0);
  expect(pushService.stats()).toMatchObject({ accepted: 0, withoutResponse: 1, responses: {} });
});
