import webpush from 'web-push';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { post, push, pushRequest, refusalOf, sender, vapidHeader } from './sender.ts';

const hour = 60 * 60 * 1000;
let now: () => number;
let service: PushService;

beforeEach(async () => {
  now = Date.now;
  service = await startPushService({ now: () => now() });
});
afterEach(() => service.stop());

function subscribe() {
  return service.subscribe({ applicationServerKey: sender.publicKey });
}

/** Sends a valid push after a change to its headers; undefined takes a header away. */
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

test('what web-push sends arrives decrypted, with its headers', async () => {
  const browser = subscribe();
  const payload = JSON.stringify({ title: 'Glöckchen 🔔' });
  const response = await push(browser, payload);
  expect(response.status).toBe(201);
  expect(response.headers.get('location')).toBe(`${service.origin}/message/1`);
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

test('a time to live beyond 30 days is cut to that', async () => {
  const response = await pushWith({ TTL: '99999999' });
  expect(response.headers.get('ttl')).toBe('2592000');
});

test('a subscription without an application server key takes pushes of any sender', async () => {
  const response = await push(service.subscribe(), 'ding', webpush.generateVAPIDKeys());
  expect(response.status).toBe(201);
});

test.each([
  ['no time to live', { TTL: undefined }, 400, 111, 'TTL'],
  ['a negative time to live', { TTL: '-1' }, 400, 112, 'TTL'],
  ['a fractional time to live', { TTL: '1.5' }, 400, 112, 'TTL'],
  ['another encoding', { 'Content-Encoding': 'aesgcm' }, 400, 110, 'aes128gcm'],
  ['no encoding', { 'Content-Encoding': undefined }, 400, 110, 'aes128gcm'],
  ['a topic of 33 characters', { Topic: 'a'.repeat(33) }, 400, 113, 'Topic'],
  ['a topic beyond base64url', { Topic: 'a+b' }, 400, 113, 'Topic'],
  ['no authorization', { Authorization: undefined }, 401, 109, 'missing'],
  ['a wrong audience', audience('https://push.example'), 401, 109, 'audience'],
])('%s is refused', async (_, headers, status, errno, message) => {
  const response = await pushWith(headers);
  expect(await refusalOf(response)).toEqual({
    status,
    errno,
    message: expect.stringContaining(message),
  });
  expect(service.stats().accepted).toBe(0);
});

function audience(aud: string) {
  const exp = Math.floor(Date.now() / 1000) + 60;
  return { Authorization: vapidHeader({ aud, exp, sub: 'https://example.com' }) };
}

test('a signature that does not verify is refused', async () => {
  const request = pushRequest(subscribe(), 'ding');
  const authorization = request.headers.Authorization!;
  const altered = authorization.replace(/\.[^.]{8}([^.]*)$/, '.AAAAAAAA$1');
  expect(altered).not.toBe(authorization);
  const response = await pushWith({ Authorization: altered });
  expect(await refusalOf(response)).toMatchObject({ status: 401, errno: 109 });
});

test('an expired token is refused', async () => {
  now = () => Date.now() + 13 * hour;
  expect(await refusalOf(await push(subscribe()))).toEqual({
    status: 401,
    errno: 109,
    message: 'The token has expired.',
  });
});

test('a token that expires more than 24 hours ahead is refused', async () => {
  now = () => Date.now() - 13 * hour;
  expect(await refusalOf(await push(subscribe()))).toEqual({
    status: 401,
    errno: 109,
    message: 'The token expires more than 24 hours ahead.',
  });
});

test("a sender with another key than the subscription's is refused", async () => {
  const response = await push(subscribe(), 'ding', webpush.generateVAPIDKeys());
  expect(response.headers.get('www-authenticate')).toBe('vapid');
  expect(await refusalOf(response)).toEqual({
    status: 401,
    errno: 109,
    message: expect.stringContaining('VAPID public key mismatch'),
  });
});

test('a body of 4,097 bytes is refused, and the connection serves the next push', async () => {
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

test('an unknown endpoint answers 404', async () => {
  const request = pushRequest(subscribe(), 'ding');
  const response = await post({ ...request, endpoint: `${service.origin}/push/unknown` });
  expect(await refusalOf(response)).toMatchObject({ status: 404, errno: 102 });
});

test('an ended subscription answers 410', async () => {
  const browser = subscribe();
  browser.unsubscribe();
  expect(await refusalOf(await push(browser))).toMatchObject({ status: 410, errno: 106 });
  expect(browser.messages).toEqual([]);
  expect(service.stats()).toMatchObject({ live: 0, gone: 1, answers: { 410: 1 } });
});

test('another method than POST is refused with the one there is', async () => {
  const response = await fetch(subscribe().endpoint);
  expect(response.headers.get('allow')).toBe('POST');
  expect(await refusalOf(response)).toMatchObject({ status: 405, errno: null });
});
