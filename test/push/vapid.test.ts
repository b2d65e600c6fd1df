import { vapidSigner } from '../../lambdas/push/vapid.ts';
import { keyPair } from '../fixtures/subscription.ts';

const keys = keyPair();
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

test('states audience, subject and an end 12 hours ahead, and names the key', () => {
  const authorization = sign()(keys, origin);
  expect(claims(authorization)).toEqual({
    aud: origin,
    sub: 'mailto:ops@example.com',
    exp: now.getTime() / 1000 + 12 * 60 * 60,
  });
  expect(authorization).toMatch(new RegExp(`^vapid t=[^,]+, k=${keys.publicKey}$`));
});

test('one token serves an origin until two hours before its end', () => {
  const signer = sign();
  const first = signer(keys, origin);
  now = new Date('2026-11-20T21:59:59Z');
  expect(signer(keys, origin)).toBe(first);
  now = new Date('2026-11-20T22:00:00Z');
  expect(claims(signer(keys, origin)).exp).toBe(now.getTime() / 1000 + 12 * 60 * 60);
});

test('origins and projects have tokens of their own', () => {
  const signer = sign();
  const tokens = [
    signer(keys, origin),
    signer(keys, 'https://other.example.com'),
    signer(keyPair(), origin),
  ];
  expect(new Set(tokens).size).toBe(3);
  expect(claims(tokens[1]!).aud).toBe('https://other.example.com');
});
