import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Middleware } from './response.ts';

/** The header in which what is in front of the API, such as CloudFront, sends its secret. */
const secretHeader = 'x-origin-secret';

/**
 * Replaces the source address of a request that came through what is in front of the API: API Gateway sees
 * that one's address. It must be the first middleware, so that the log and the rate limit have the right
 * address. Without the right secret it does nothing.
 * @param secretHash SHA-256 of the secret, in hex; undefined if nothing is in front.
 */
export function viewerAddress(secretHash: string | undefined): Middleware {
  const expected = secretHash === undefined ? undefined : Buffer.from(secretHash, 'hex');
  return {
    before: ({ event }) => {
      if (expected === undefined || !hasSecret(event, expected)) return;
      const { http } = event.requestContext;
      http.sourceIp = forwardedAddress(event) ?? http.sourceIp;
    },
  };
}

function hasSecret({ headers }: APIGatewayProxyEventV2, expected: Buffer): boolean {
  const digest = createHash('sha256')
    .update(headers[secretHeader] ?? '')
    .digest();
  return timingSafeEqual(digest, expected);
}

/**
 * The address from which the request came to what is in front. CloudFront appends it to `X-Forwarded-For`,
 * and API Gateway appends CloudFront's own. Entries before these two are the client's, and may be forged.
 */
function forwardedAddress({ headers }: APIGatewayProxyEventV2): string | undefined {
  const address = headers['x-forwarded-for']?.split(',').at(-2)?.trim() ?? '';
  return isIP(address) === 0 ? undefined : address;
}
