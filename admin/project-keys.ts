import { createHash } from 'node:crypto';
import { identityKeyPrefix, memberKeyPrefix, secretKeyPrefix } from '../contract/formats.ts';

/** A source of random bytes, such as `randomBytes` of `node:crypto`. */
export type RandomSource = (sizeBytes: number) => Buffer;

/** Creates a secret key with 256 random bits: `carillon_sk_` and 43 characters of base64url. */
export function newSecretKey(random: RandomSource): string {
  return newKey(secretKeyPrefix, random);
}

/** Creates the key that signs user ids: `carillon_id_` and 43 characters of base64url. */
export function newIdentityKey(random: RandomSource): string {
  return newKey(identityKeyPrefix, random);
}

/** Creates the key of a member: `carillon_mk_` and 43 characters of base64url. */
export function newMemberKey(random: RandomSource): string {
  return newKey(memberKeyPrefix, random);
}

function newKey(prefix: string, random: RandomSource): string {
  return `${prefix}${random(32).toString('base64url')}`;
}

/**
 * SHA-256 of a secret key or a member key, in hex: the form that is stored. A slow or salted hash would add
 * nothing, because the key has 256 random bits.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
