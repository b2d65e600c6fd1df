import { hash } from 'node:crypto';

const blockLength = 64;
const digestLength = 32;
/** Most bytes of data: more than any key derivation of a push needs. */
export const hmacDataLimit = 192;

// Overwritten for each computation.
const inner = Buffer.alloc(blockLength + hmacDataLimit);
const outer = Buffer.alloc(blockLength + digestLength);

/**
 * HMAC-SHA-256 (RFC 2104) of short data with a key of at most one block: what HKDF needs. A push
 * needs five. Two one-shot hashes take 1.6 µs; `createHmac` takes 2.7 (10 on Node 24) and `hkdfSync` 8.
 */
export function hmacSha256(key: Uint8Array, data: Buffer): Buffer {
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
