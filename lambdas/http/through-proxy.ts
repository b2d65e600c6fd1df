import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ServiceError } from '../../contract/errors.ts';
import type { Middleware } from './response.ts';

/** The header in which a proxy in front of the API, such as CloudFront, sends its secret. */
const secretHeader = 'x-origin-secret';

export interface OriginSecret {
  /** SHA-256 in hex: none without a proxy, two while the secret is rotated. */
  readonly hashes: readonly string[];
  /** Whether requests without the secret are refused. */
  readonly isRequired: boolean;
}

/**
 * Replaces the source address of a request that came through the proxy: API Gateway sees the proxy's address.
 * It must be the first middleware, so that the log and the rate limit have the right address.
 * @throws {ServiceError} `direct_request`.
 */
export function throughProxy({ hashes, isRequired }: OriginSecret): Middleware {
  const expected = hashes.map((hash) => Buffer.from(hash, 'hex'));
  return {
    before: ({ event }) => {
      if (hasSecret(event, expected)) {
        const { http } = event.requestContext;
        http.sourceIp = forwardedAddress(event) ?? http.sourceIp;
      } else if (isRequired) {
        throw new ServiceError(
          'direct_request',
          'This address accepts no direct requests; use the public address of the service.',
        );
      }
    },
  };
}

function hasSecret({ headers }: APIGatewayProxyEventV2, expected: readonly Buffer[]): boolean {
  const secret = headers[secretHeader];
  // The configured hash may be that of an empty text, by mistake.
  if (!secret) return false;
  const digest = createHash('sha256').update(secret).digest();
  return expected.some((hash) => timingSafeEqual(digest, hash));
}

/**
 * The address from which the request came to the proxy. CloudFront appends it to `X-Forwarded-For`, and API
 * Gateway appends CloudFront's own. Entries before these two are the client's, and may be forged.
 */
function forwardedAddress({ headers }: APIGatewayProxyEventV2): string | undefined {
  const address = headers['x-forwarded-for']?.split(',').at(-2)?.trim() ?? '';
  return isIP(address) === 0 ? undefined : address;
}
