import { createECDH } from 'node:crypto';
import { InvalidVapidPair, newVapidPair, readVapidPair } from '../../admin/vapid-pair.ts';

function pairFrom(scalarHex: string) {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalarHex.padStart(64, '0'), 'hex');
  return {
    publicKey: curve.getPublicKey('base64url'),
    privateKey: Buffer.from(scalarHex.padStart(64, '0'), 'hex').toString('base64url'),
  };
}

describe('newVapidPair', () => {
  it('keeps leading zero bytes: keys have 65 and 32 bytes', () => {
    // One private key in 256 starts with a zero byte. Of 3,000, at least one almost certainly does.
    const pairs = Array.from({ length: 3000 }, newVapidPair);
    const privateKeys = pairs.map(({ privateKey }) => Buffer.from(privateKey, 'base64url'));
    expect(new Set(privateKeys.map(({ length }) => length))).toEqual(new Set([32]));
    const publicKeys = pairs.map(({ publicKey }) => Buffer.from(publicKey, 'base64url'));
    expect(new Set(publicKeys.map(({ length }) => length))).toEqual(new Set([65]));
    for (const key of pairs.flatMap(Object.values)) expect(key).toMatch(/^[\w-]+$/);
    const padded = pairs.filter((_, index) => privateKeys[index]?.[0] === 0);
    expect(padded.length).toBeGreaterThan(0);
    for (const pair of padded) expect(readVapidPair(pair.publicKey, pair.privateKey)).toEqual(pair);
  });
});

describe('readVapidPair', () => {
  const pair = pairFrom('123456789abcdef0');
  const other = pairFrom('fedcba9876543210');

  it('accepts base64 with padding, and returns base64url', () => {
    const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64');
    expect(readVapidPair(standard(pair.publicKey), standard(pair.privateKey))).toEqual(pair);
  });

  it.each([
    ['keys of two pairs', pair.publicKey, other.privateKey, /not a pair/],
    ['swapped keys', pair.privateKey, pair.publicKey, /public VAPID key/],
    ['a public key off the curve', `${pair.publicKey.slice(0, -2)}AA`, pair.privateKey, /public/],
    ['a short private key', pair.publicKey, pair.privateKey.slice(2), /private .* 32 bytes/],
    ['a private key of 0', pair.publicKey, Buffer.alloc(32).toString('base64url'), /out of range/],
  ])('refuses %s', (_case, publicKey, privateKey, message) => {
    expect(() => readVapidPair(publicKey, privateKey)).toThrow(InvalidVapidPair);
    expect(() => readVapidPair(publicKey, privateKey)).toThrow(message);
  });
});
