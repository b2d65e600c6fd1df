import webpush from 'web-push';
import { VapidVerifier } from '../../../local/push-service/vapid.ts';
import { sender, subject, vapidHeader } from './sender.ts';

const origin = 'https://push.example';
const noon = Date.UTC(2026, 10, 20, 12);
const hour = 60 * 60 * 1000;
const claims = { aud: origin, exp: (noon + hour) / 1000, sub: subject };

function verifier(at = noon) {
  return new VapidVerifier({ origin, now: () => at });
}

test('a header made by web-push yields the application server key', () => {
  const { publicKey, privateKey } = sender;
  const headers = webpush.getVapidHeaders(origin, subject, publicKey, privateKey, 'aes128gcm');
  const vapid = new VapidVerifier({ origin, now: Date.now });
  expect(vapid.verify(headers.Authorization)).toBe(publicKey);
});

test('parameters may come in any order, quoted, without a space, under any case of the scheme', () => {
  const [, t, k] = /t=(\S+), k=(\S+)/.exec(vapidHeader(claims))!;
  expect(verifier().verify(`VAPID k="${k}",t="${t}"`)).toBe(sender.publicKey);
});

test('a token that lives exactly 24 hours more is accepted, one second longer is not', () => {
  const exp = noon / 1000 + 24 * 60 * 60;
  expect(verifier().verify(vapidHeader({ ...claims, exp }))).toBe(sender.publicKey);
  expect(() => verifier().verify(vapidHeader({ ...claims, exp: exp + 1 }))).toThrow('24 hours');
});

test('a token that was accepted before is refused once it has expired', () => {
  let now = noon;
  const vapid = new VapidVerifier({ origin, now: () => now });
  const header = vapidHeader(claims);
  vapid.verify(header);
  now = noon + hour;
  expect(() => vapid.verify(header)).toThrow('expired');
});

test('more senders than are remembered are still told apart', () => {
  const vapid = new VapidVerifier({ origin, now: () => noon, capacity: 1 });
  const other = webpush.generateVAPIDKeys();
  for (const keys of [sender, other, sender]) {
    expect(vapid.verify(vapidHeader(claims, { keys }))).toBe(keys.publicKey);
  }
});

const valid = vapidHeader(claims);
const { publicKey: foreignKey } = webpush.generateVAPIDKeys();

test.each([
  ['no header', undefined, 'missing'],
  ['another scheme', 'Bearer abc', 'vapid scheme'],
  ['no token', `vapid k=${sender.publicKey}`, 'token t is missing'],
  ['no key', valid.split(',')[0], 'key k is missing'],
  ['a key that is no point', valid.replace(/k=.*/, 'k=AAAA'), 'P-256 point'],
  ['a padded key', `${valid}=`, 'without padding'],
  ['another key than signed it', valid.replace(/k=.*/, `k=${foreignKey}`), 'signature'],
  ['an altered signature', valid.replace(/\.\w/, '.A').replace(/....,/, 'AAAA,'), 'signature'],
  ['no JWT', `vapid t=abc, k=${sender.publicKey}`, 'not a JWT'],
  ['a JWT of too many parts', valid.replace(',', '.AAAA,'), 'not a JWT'],
  ['another algorithm', vapidHeader(claims, { alg: 'none' }), 'ES256'],
  ['another audience', vapidHeader({ ...claims, aud: 'https://push.example.org' }), 'audience'],
  ['an audience with a path', vapidHeader({ ...claims, aud: `${origin}/` }), 'audience'],
  ['an expired token', vapidHeader({ ...claims, exp: noon / 1000 }), 'expired'],
  ['no expiry', vapidHeader({ ...claims, exp: undefined }), 'when it expires'],
  ['no subject', vapidHeader({ ...claims, sub: undefined }), 'subject'],
  ['a subject of another scheme', vapidHeader({ ...claims, sub: 'tel:112' }), 'subject'],
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
