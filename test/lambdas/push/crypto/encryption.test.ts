import { createHash, createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import ece from 'http_ece';
import webpush from 'web-push';
import { type BrowserKeys, createBrowserKeys, decrypt } from '../../../../admin/browser.ts';
import { limits } from '../../../../contract/wire/limits.ts';
import {
  encryption,
  hmacDataLimit,
  hmacSha256,
  type SubscriptionKeys,
  topicHeader,
} from '../../../../lambdas/push/crypto/encryption.ts';

const browser = createBrowserKeys();

function subscriptionKeys({ publicKey, authSecret }: BrowserKeys): SubscriptionKeys {
  return { p256dh: new Uint8Array(publicKey), auth: new Uint8Array(authSecret) };
}

/** Encrypts with web-push for the shared browser. */
function referenceEncrypt(message: Buffer): Buffer {
  const { publicKey, authSecret } = browser;
  const p256dh = publicKey.toString('base64url');
  return webpush.encrypt(p256dh, authSecret.toString('base64url'), message, 'aes128gcm').cipherText;
}

/** Decrypts with http_ece, as the tests of web-push do. */
function referenceDecrypt(body: Buffer, { ecdh, authSecret }: BrowserKeys): Buffer {
  return ece.decrypt(body, { version: 'aes128gcm', privateKey: ecdh, authSecret });
}

test('http_ece and the local push service decrypt every message', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: limits.messageBytes }), (bytes) => {
      const message = Buffer.from(bytes);
      const recipient = createBrowserKeys();
      const body = encryption(message)(subscriptionKeys(recipient));
      expect(referenceDecrypt(body, recipient)).toEqual(message);
      expect(decrypt(body, recipient)).toEqual(message);
    }),
  );
});

test('the local push service decrypts a message of web-push', () => {
  const message = randomBytes(300);
  expect(decrypt(referenceEncrypt(message), browser)).toEqual(message);
});

test('a body has the length and the header of a body of web-push', () => {
  const message = randomBytes(300);
  const reference = referenceEncrypt(message);
  const body = encryption(message)(subscriptionKeys(browser));
  expect(body).toHaveLength(reference.length);
  expect(body.subarray(16, 22)).toEqual(reference.subarray(16, 22));
});

// RFC 8030 §7.2: a push service must accept 4,096 bytes.
test('the longest message has a body of 4,096 bytes', () => {
  const body = encryption(randomBytes(limits.messageBytes))(subscriptionKeys(browser));
  expect(body).toHaveLength(4096);
});

test('each message of a broadcast has its own salt and key pair', () => {
  const encrypt = encryption(Buffer.from('ding'));
  // Salts are generated in batches; this needs more than one batch.
  const bodies = Array.from({ length: 600 }, () => encrypt(subscriptionKeys(browser)));
  const salts = new Set(bodies.map((body) => body.toString('hex', 0, 16)));
  const senderKeys = new Set(bodies.map((body) => body.toString('hex', 21, 86)));
  expect([salts.size, senderKeys.size]).toEqual([600, 600]);
});

test('an encrypted message is not overwritten by the next', () => {
  const others = createBrowserKeys();
  const encrypt = encryption(Buffer.from('ding'));
  const first = encrypt(subscriptionKeys(browser));
  encrypt(subscriptionKeys(others));
  expect(decrypt(first, browser).toString()).toBe('ding');
});

const { p256dh, auth } = subscriptionKeys(browser);
const notOnCurve = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]);

test.each([
  ['a public key that is too short', { p256dh: p256dh.subarray(0, -1), auth }],
  ['a public key that is too long', { p256dh: Buffer.concat([p256dh, Buffer.of(0)]), auth }],
  ['a point that is not on the curve', { p256dh: notOnCurve, auth }],
  ['a compressed public key', { p256dh: p256dh.subarray(0, 33), auth }],
  ['an auth secret that is too short', { p256dh, auth: auth.subarray(0, -1) }],
  ['an auth secret that is too long', { p256dh, auth: Buffer.concat([auth, Buffer.of(0)]) }],
])('%s is refused, and the next encryption succeeds', (_, keys) => {
  const encrypt = encryption(Buffer.from('ding'));
  expect(() => encrypt(keys)).toThrow();
  expect(decrypt(encrypt({ p256dh, auth }), browser).toString()).toBe('ding');
});

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

test('hmacSha256 equals Node’s HMAC for keys of at most one block and data within the limit', () => {
  fc.assert(
    fc.property(bytes(64), bytes(hmacDataLimit), (key, data) => {
      expect(hmacSha256(key, data)).toEqual(createHmac('sha256', key).update(data).digest());
    }),
  );
});

test.each([
  [65, 0],
  [0, hmacDataLimit + 1],
])('a key of %i bytes with %i bytes of data is refused', (key, data) => {
  expect(() => hmacSha256(Buffer.alloc(key), Buffer.alloc(data))).toThrow(RangeError);
});

const [secret, otherSecret] = [randomBytes(16), randomBytes(16)];

test.each(['score', '', '€'.repeat(64)])(
  'the topic %j becomes 32 characters of base64url',
  (topic) => {
    const digest = createHash('sha256').update(topic).digest();
    const hmac = createHmac('sha256', secret).update('Carillon topic\0').update(digest).digest();
    const header = topicHeader(topic)(secret);
    expect(header).toBe(hmac.subarray(0, 24).toString('base64url'));
    expect(header).toMatch(/^[\w-]{32}$/);
  },
);

test('a topic is the same for each push to a subscription, and differs between subscriptions', () => {
  expect(topicHeader('score')(secret)).toBe(topicHeader('score')(secret));
  expect(topicHeader('score')(secret)).not.toBe(topicHeader('score')(otherSecret));
  expect(topicHeader('score')(secret)).not.toBe(topicHeader('scores')(secret));
});
