import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import ece from 'http_ece';
import webpush from 'web-push';
import { limits } from '../../../../contract/limits.ts';
import { encryption } from '../../../../lambdas/push/crypto/encryption.ts';
import {
  type BrowserKeys,
  createBrowserKeys,
} from '../../../../local/push-service/browser-keys.ts';
import { decrypt } from '../../../../local/push-service/decrypt.ts';

const browser = createBrowserKeys();

function subscriptionKeys({ publicKey, authSecret }: BrowserKeys) {
  return { p256dh: publicKey.toString('base64url'), auth: authSecret.toString('base64url') };
}

/** Decrypts as web-push's own tests do. */
function referenceDecrypt(body: Buffer, { ecdh, authSecret }: BrowserKeys): Buffer {
  return ece.decrypt(body, { version: 'aes128gcm', privateKey: ecdh, authSecret });
}

test('the reference reads every message this writes', () => {
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

test('the stand-in reads what the reference writes', () => {
  const message = randomBytes(300);
  const { p256dh, auth } = subscriptionKeys(browser);
  const { cipherText } = webpush.encrypt(p256dh, auth, message, 'aes128gcm');
  expect(decrypt(cipherText, browser)).toEqual(message);
});

test('a body is laid out as the reference lays it out, key and salt aside', () => {
  const message = randomBytes(300);
  const { p256dh, auth } = subscriptionKeys(browser);
  const { cipherText } = webpush.encrypt(p256dh, auth, message, 'aes128gcm');
  const body = encryption(message)({ p256dh, auth });
  expect(body).toHaveLength(cipherText.length);
  expect(body.subarray(16, 22)).toEqual(cipherText.subarray(16, 22));
});

test('the longest message fills the 4,096 bytes a push service must take', () => {
  const body = encryption(randomBytes(limits.messageBytes))(subscriptionKeys(browser));
  expect(body).toHaveLength(4096);
});

test('no two messages of a broadcast share a salt or a key pair', () => {
  const encrypt = encryption(Buffer.from('ding'));
  // More than the salts that are drawn at once.
  const bodies = Array.from({ length: 600 }, () => encrypt(subscriptionKeys(browser)));
  const salts = new Set(bodies.map((body) => body.toString('hex', 0, 16)));
  const senderKeys = new Set(bodies.map((body) => body.toString('hex', 21, 86)));
  expect([salts.size, senderKeys.size]).toEqual([600, 600]);
});

test('a message that was made before another stays as it was', () => {
  const others = createBrowserKeys();
  const encrypt = encryption(Buffer.from('ding'));
  const first = encrypt(subscriptionKeys(browser));
  encrypt(subscriptionKeys(others));
  expect(decrypt(first, browser).toString()).toBe('ding');
});

const { p256dh, auth } = subscriptionKeys(browser);
const offTheCurve = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url');

test.each([
  ['a point that is short', { p256dh: p256dh.slice(0, -1), auth }],
  ['a point that is long', { p256dh: `${p256dh}A`, auth }],
  ['a point off the curve', { p256dh: offTheCurve, auth }],
  ['a point with characters of no base64url', { p256dh: `${p256dh.slice(0, -1)}!`, auth }],
  ['a secret that is short', { p256dh, auth: auth.slice(0, -1) }],
  ['a secret that is long', { p256dh, auth: `${auth}A` }],
])('refuses %s, and reads the next keys well', (_, keys) => {
  const encrypt = encryption(Buffer.from('ding'));
  expect(() => encrypt(keys)).toThrow();
  expect(decrypt(encrypt({ p256dh, auth }), browser).toString()).toBe('ding');
});
