import webpush from 'web-push';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { post, push, pushRequest, refusalOf, sender, vapidHeader } from './sender.ts';

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
  return post({
    ...request,
    headers: Object.fromEntries(changed),
    body: body ?? request.body,
  });
}

test('a push of web-push is decrypted and kept with its headers', async () => {
  const browser = subscribe();
  const payload = JSON.stringify({ title: 'Glöckchen 🔔' });
  const response = await push(browser, payload);
  expect(response.status).toBe(201);
  expect(response.headers.get('location')).toBe(`${pushService.origin}/message/1`);
  expect(response.headers.get('ttl')).toBe('60');
  expect(browser.messages).toEqual([
    { text: payload, headers: expect.objectContaining({ ttl: '60' }) },
  ]);
});

test('a body of exactly 4,096 bytes is accepted', async () => {
  const browser = subscribe();
  const request = pushRequest(browser, Buffer.alloc(3993, 'x'));
  expect(request.body).toHaveLength(4096);
  expect((await post(request)).status).toBe(201);
  expect(browser.messages[0]?.text).toHaveLength(3993);
});

test('a TTL of more than 30 days is reduced to 30 days', async () => {
  const response = await pushWith({ TTL: '99999999' });
  expect(response.headers.get('ttl')).toBe('2592000');
});

test('a subscription without an application server key accepts pushes of any sender', async () => {
  const response = await push(pushService.subscribe(), 'ding', webpush.generateVAPIDKeys());
  expect(response.status).toBe(201);
});

test.each([
  ['a missing TTL', { TTL: undefined }, 400, 111, 'TTL'],
  ['a negative TTL', { TTL: '-1' }, 400, 112, 'TTL'],
  ['a fractional TTL', { TTL: '1.5' }, 400, 112, 'TTL'],
  ['another encoding', { 'Content-Encoding': 'aesgcm' }, 400, 110, 'aes128gcm'],
  ['a missing encoding', { 'Content-Encoding': undefined }, 400, 110, 'aes128gcm'],
  ['a topic of 33 characters', { Topic: 'a'.repeat(33) }, 400, 113, 'Topic'],
  ['a topic with a character outside base64url', { Topic: 'a+b' }, 400, 113, 'Topic'],
  ['a missing authorization', { Authorization: undefined }, 401, 109, 'missing'],
  ['another audience', audience('https://push.example'), 401, 109, 'audience'],
])('%s is refused', async (_, headers, status, errno, message) => {
  const response = await pushWith(headers);
  expect(await refusalOf(response)).toEqual({
    status,
    errno,
    message: expect.stringContaining(message),
  });
  expect(pushService.stats().accepted).toBe(0);
});

function audience(aud: string) {
  const exp = Math.floor(Date.now() / 1000) + 60;
  return { Authorization: vapidHeader({ aud, exp, sub: 'https://example.com' }) };
}

test('an invalid signature is refused', async () => {
  const request = pushRequest(subscribe(), 'ding');
  const authorization = request.headers.Authorization!;
  const altered = authorization.replace(/\.[^.]{8}([^.]*)$/, '.AAAAAAAA$1');
  expect(altered).not.toBe(authorization);
  const response = await pushWith({ Authorization: altered });
  expect(await refusalOf(response)).toMatchObject({ status: 401, errno: 109 });
});

test('an expired token is refused', async () => {
  nowMs = () => Date.now() + 13 * hourMs;
  expect(await refusalOf(await push(subscribe()))).toEqual({
    status: 401,
    errno: 109,
    message: 'The token has expired.',
  });
});

test('a token that expires more than 24 hours ahead is refused', async () => {
  nowMs = () => Date.now() - 13 * hourMs;
  expect(await refusalOf(await push(subscribe()))).toEqual({
    status: 401,
    errno: 109,
    message: 'The token expires more than 24 hours ahead.',
  });
});

test('a sender with another application server key is refused', async () => {
  const response = await push(subscribe(), 'ding', webpush.generateVAPIDKeys());
  expect(response.headers.get('www-authenticate')).toBe('vapid');
  expect(await refusalOf(response)).toEqual({
    status: 401,
    errno: 109,
    message: expect.stringContaining('VAPID public key mismatch'),
  });
});

test('a body of 4,097 bytes is refused, and the next push is accepted', async () => {
  const response = await pushWith({}, new Uint8Array(4097));
  expect(await refusalOf(response)).toMatchObject({ status: 413, errno: 104 });
  expect((await push(subscribe())).status).toBe(201);
});

test('an empty body is refused', async () => {
  const response = await pushWith({}, new Uint8Array(0));
  expect(await refusalOf(response)).toEqual({
    status: 400,
    errno: 110,
    message: 'The body is empty.',
  });
});

test('a message encrypted for another browser is refused', async () => {
  const { body } = pushRequest(subscribe(), 'ding');
  expect(await refusalOf(await pushWith({}, body))).toMatchObject({ status: 400, errno: 110 });
});

test('an unknown endpoint returns 404', async () => {
  const request = pushRequest(subscribe(), 'ding');
  const response = await post({ ...request, endpoint: `${pushService.origin}/push/unknown` });
  expect(await refusalOf(response)).toMatchObject({ status: 404, errno: 102 });
});

test('an ended subscription returns 410', async () => {
  const browser = subscribe();
  browser.unsubscribe();
  expect(await refusalOf(await push(browser))).toMatchObject({ status: 410, errno: 106 });
  expect(browser.messages).toEqual([]);
  expect(pushService.stats()).toMatchObject({ live: 0, gone: 1, responses: { 410: 1 } });
});

test('a method other than POST is refused with an Allow header', async () => {
  const response = await fetch(subscribe().endpoint);
  expect(response.headers.get('allow')).toBe('POST');
  expect(await refusalOf(response)).toMatchObject({ status: 405, errno: null });
});
