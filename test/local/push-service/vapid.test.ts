import webpush from 'web-push';
import { VapidVerifier } from '../../../local/push-service/vapid.ts';
import { sender, subject, vapidHeader } from './sender.ts';

const origin = 'https://push.example';
const noonMs = Date.UTC(2026, 10, 20, 12);
const hourMs = 60 * 60 * 1000;
const claims = { aud: origin, exp: (noonMs + hourMs) / 1000, sub: subject };

function verifier() {
  return new VapidVerifier({ origin, nowMs: () => noonMs });
}

test('a header of web-push yields the application server key', () => {
  const { publicKey, privateKey } = sender;
  const headers = webpush.getVapidHeaders(origin, subject, publicKey, privateKey, 'aes128gcm');
  const vapid = new VapidVerifier({ origin, nowMs: Date.now });
  expect(vapid.verify(headers.Authorization)).toBe(publicKey);
});

test('parameters may be in any order and quoted; the scheme is case-insensitive', () => {
  const [, t, k] = /t=(\S+), k=(\S+)/.exec(vapidHeader(claims))!;
  expect(verifier().verify(`VAPID k="${k}",t="${t}"`)).toBe(sender.publicKey);
});

test('a token that expires in exactly 24 hours is accepted, one second later is not', () => {
  const exp = noonMs / 1000 + 24 * 60 * 60;
  expect(verifier().verify(vapidHeader({ ...claims, exp }))).toBe(sender.publicKey);
  expect(() => verifier().verify(vapidHeader({ ...claims, exp: exp + 1 }))).toThrow('24 hours');
});

test('a cached token is refused after it has expired', () => {
  let nowMs = noonMs;
  const vapid = new VapidVerifier({ origin, nowMs: () => nowMs });
  const header = vapidHeader(claims);
  vapid.verify(header);
  nowMs = noonMs + hourMs;
  expect(() => vapid.verify(header)).toThrow('expired');
});

test('more senders than the cache holds are verified correctly', () => {
  const vapid = new VapidVerifier({ origin, nowMs: () => noonMs, maxCachedHeaders: 1 });
  const other = webpush.generateVAPIDKeys();
  for (const keys of [sender, other, sender]) {
    expect(vapid.verify(vapidHeader(claims, { keys }))).toBe(keys.publicKey);
  }
});

const valid = vapidHeader(claims);
const { publicKey: otherKey } = webpush.generateVAPIDKeys();

test.each([
  ['a missing header', undefined, 'missing'],
  ['another scheme', 'Bearer abc', 'vapid scheme'],
  ['a missing token', `vapid k=${sender.publicKey}`, 'token t is missing'],
  ['a missing key', valid.split(',')[0], 'key k is missing'],
  ['a key that is not a point', valid.replace(/k=.*/, 'k=AAAA'), 'P-256 point'],
  ['a padded key', `${valid}=`, 'without padding'],
  ['a key that did not sign the token', valid.replace(/k=.*/, `k=${otherKey}`), 'signature'],
  ['an altered signature', valid.replace(/\.\w/, '.A').replace(/....,/, 'AAAA,'), 'signature'],
  ['a token that is not a JWT', `vapid t=abc, k=${sender.publicKey}`, 'not a JWT'],
  ['a JWT with too many parts', valid.replace(',', '.AAAA,'), 'not a JWT'],
  ['another algorithm', vapidHeader(claims, { alg: 'none' }), 'ES256'],
  ['another audience', vapidHeader({ ...claims, aud: 'https://push.example.org' }), 'audience'],
  ['an audience with a path', vapidHeader({ ...claims, aud: `${origin}/` }), 'audience'],
  ['an expired token', vapidHeader({ ...claims, exp: noonMs / 1000 }), 'expired'],
  ['a missing expiry', vapidHeader({ ...claims, exp: undefined }), 'expiry'],
  ['a missing subject', vapidHeader({ ...claims, sub: undefined }), 'subject'],
  ['a subject with another scheme', vapidHeader({ ...claims, sub: 'tel:112' }), 'subject'],
  ['a space in the subject', vapidHeader({ ...claims, sub: 'mailto: a@b.example' }), 'subject'],
])('%s is refused with 401 and errno 109', (_, header, message) => {
  expect(() => verifier().verify(header)).toThrow(
    expect.objectContaining({
      status: 401,
      errno: 109,
      message: expect.stringContaining(message),
    }),
  );
});
