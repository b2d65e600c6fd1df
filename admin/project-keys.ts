import { createHash } from 'node:crypto';

/** A source of random bytes, such as `randomBytes` of `node:crypto`. */
export type RandomSource = (sizeBytes: number) => Buffer;

/** Creates a key with 256 random bits: the prefix of its kind, and 43 characters of base64url. */
export function newKey(prefix: string, random: RandomSource): string {
  return `${prefix}${random(32).toString('base64url')}`;
}

/**
 * SHA-256 of a secret key or a member key, in hex: the form that is stored. A slow or salted hash would add
 * nothing, because the key has 256 random bits.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
