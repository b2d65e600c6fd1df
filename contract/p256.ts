// NIST P-256 (FIPS 186-5, SP 800-186 §3.2.1.3): y² = x³ − 3x + b over the prime field of p.
const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * Whether bytes are an uncompressed point on P-256: 0x04, then x and y of 32 bytes each. Browsers'
 * keys are; with any other key, a message could not be encrypted.
 */
export function isUncompressedPoint(bytes: Uint8Array): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  const x = integer(bytes.subarray(1, 33));
  const y = integer(bytes.subarray(33));
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

function integer(bytes: Uint8Array): bigint {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${hex.join('')}`);
}
