import { createHash } from 'node:crypto';
import { secretKeyPrefix } from '../contract/limits.ts';

/** A source of random bytes, such as `randomBytes` of `node:crypto`. */
export type RandomSource = (size: number) => Buffer;

/** A new secret key of 256 random bits: `carillon_sk_` and 43 characters of base64url. */
export function newSecretKey(random: RandomSource): string {
  return `${secretKeyPrefix}${random(32).toString('base64url')}`;
}

/**
 * SHA-256 of a secret key, hex: the form it is stored and looked for in. The key has the entropy
 * of the hash itself, so a slow, salted one would add nothing.
 */
export function hashSecretKey(secretKey: string): string {
  return createHash('sha256').update(secretKey).digest('hex');
}
