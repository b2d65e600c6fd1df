import { createPublicKey, verify } from 'node:crypto';
import webpush from 'web-push';
import { newVapidPair } from '../../../../admin/vapid-pair.ts';
import { vapidSigner } from '../../../../lambdas/push/crypto/vapid.ts';

const keys = newVapidPair();
const origin = 'https://push.example.com';
let now: Date;
const sign = () => vapidSigner('mailto:ops@example.com', () => now);

beforeEach(() => {
  now = new Date('2026-11-20T12:00:00Z');
});

function claims(authorization: string): { aud: string; exp: number; sub: string } {
  const [, payload = ''] = authorization.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

test('the header has the public key and a token that expires in 12 hours', () => {
  const authorization = sign()(keys, origin);
  expect(claims(authorization)).toEqual({
    aud: origin,
    sub: 'mailto:ops@example.com',
    exp: now.getTime() / 1000 + 12 * 60 * 60,
  });
  expect(authorization).toMatch(new RegExp(`^vapid t=[^,]+, k=${keys.publicKey}$`));
});

test('a token is reused for its origin until two hours before it expires', () => {
  const signer = sign();
  const first = signer(keys, origin);
  now = new Date('2026-11-20T21:59:59Z');
  expect(signer(keys, origin)).toBe(first);
  now = new Date('2026-11-20T22:00:00Z');
  expect(claims(signer(keys, origin)).exp).toBe(now.getTime() / 1000 + 12 * 60 * 60);
});

test('each origin and each project has its own token', () => {
  const signer = sign();
  const tokens = [
    signer(keys, origin),
    signer(keys, 'https://other.example.com'),
    signer(newVapidPair(), origin),
  ];
  expect(new Set(tokens).size).toBe(3);
  expect(claims(tokens[1]!).aud).toBe('https://other.example.com');
});

/** Reads a token's header and claims, and verifies its signature as ES256 (RFC 7518 §3.4). */
function readToken(authorization: string) {
  const { token, k } = /^vapid t=(?<token>[^,]+), k=(?<k>[\w-]+)$/.exec(authorization)!.groups!;
  const [header = '', payload = '', signature = ''] = token!.split('.');
  const point = Buffer.from(k!, 'base64url');
  const x = point.toString('base64url', 1, 33);
  const y = point.toString('base64url', 33);
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const [joseHeader, claims] = [header, payload].map((part) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()),
  );
  return {
    joseHeader,
    claims,
    verified: verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    ),
  };
}

test('the token has the header and claims of a token of web-push, and a valid signature', () => {
  const subject = 'mailto:ops@example.com';
  const exp = now.getTime() / 1000 + 12 * 60 * 60;
  const { publicKey, privateKey } = keys;
  const reference = webpush.getVapidHeaders(
    origin,
    subject,
    publicKey,
    privateKey,
    'aes128gcm',
    exp,
  );
  const read = readToken(sign()(keys, origin));
  expect(read).toEqual(readToken(reference.Authorization));
  expect(read.verified).toBe(true);
});
