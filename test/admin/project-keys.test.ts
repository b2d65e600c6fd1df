import { randomBytes } from 'node:crypto';
import { hashKey, newIdentityKey, newSecretKey } from '../../admin/project-keys.ts';
import { identityKeyPattern, secretKeyPattern } from '../../contract/formats.ts';

describe('newSecretKey', () => {
  it('has 256 random bits after the prefix', () => {
    expect(newSecretKey(randomBytes)).toMatch(secretKeyPattern);
    expect(newSecretKey((size) => Buffer.alloc(size))).toBe(`carillon_sk_${'A'.repeat(43)}`);
  });
});

describe('newIdentityKey', () => {
  it('has 256 random bits after the prefix', () => {
    expect(newIdentityKey(randomBytes)).toMatch(identityKeyPattern);
    expect(newIdentityKey((size) => Buffer.alloc(size))).toBe(`carillon_id_${'A'.repeat(43)}`);
  });
});

describe('hashKey', () => {
  it('returns SHA-256 in hex', () => {
    // FIPS 180-2, appendix B.1.
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
