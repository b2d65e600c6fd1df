import { createHash, randomBytes } from 'node:crypto';

/**
 * Lets this process call the local stack from many addresses: through a proxy with an origin secret, as behind
 * CloudFront. Nobody else knows the secret, so every other caller has the address of its connection.
 */
export function simulatedProxy() {
  const secret = randomBytes(32).toString('base64url');
  return {
    environment: { ORIGIN_SECRET_HASHES: createHash('sha256').update(secret).digest('hex') },
    /** The headers of a request from this address. */
    headersFrom: (address: string) => ({ 'x-origin-secret': secret, 'x-forwarded-for': address }),
  };
}

export type SimulatedProxy = ReturnType<typeof simulatedProxy>;
