import { hash } from 'node:crypto';

const blockLength = 64;
const digestLength = 32;
/** Bytes of data, at most: more than any derivation of a push needs. */
export const hmacDataLimit = 192;

// Used for one computation at a time.
const inner = Buffer.alloc(blockLength + hmacDataLimit);
const outer = Buffer.alloc(blockLength + digestLength);

/**
 * HMAC-SHA-256 (RFC 2104) of short data under a key of at most one block, which is all that HKDF
 * asks for. Two one-shot hashes take 1.6 µs where `createHmac` takes 2.7, and 10 on Node 24, and
 * `hkdfSync` 8: a push takes five.
 */
export function hmacSha256(key: Buffer, data: Buffer): Buffer {
  if (key.length > blockLength || data.length > hmacDataLimit) {
    throw new RangeError('The key or the data is too long.');
  }
  inner.fill(0x36, 0, blockLength);
  outer.fill(0x5c, 0, blockLength);
  for (const [index, byte] of key.entries()) {
    inner[index]! ^= byte;
    outer[index]! ^= byte;
  }
  data.copy(inner, blockLength);
  const innerDigest = hash('sha256', inner.subarray(0, blockLength + data.length), 'buffer');
  innerDigest.copy(outer, blockLength);
  return hash('sha256', outer, 'buffer');
}
