import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { sendTimeline } from '../../contract/infrastructure/delivery.ts';
import { ipv6Groups } from '../../contract/text/addresses.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { notificationIdSchema, projectIdSchema } from '../../contract/wire/fields.ts';
import type { CountedRequest } from '../store/rate-limits.ts';
import type { Middleware } from './response.ts';

/** The ids in a path. A parameter that is missing, or cannot be an id, is undefined. */
export interface PathIds {
  readonly projectId: string | undefined;
  readonly notificationId: string | undefined;
}

/** Validates the path parameters; the rest of the chain finds them as `ids`. */
export function pathIds(): Middleware<{ ids: PathIds }> {
  return {
    before: ({ event }) => {
      event.ids = readPathIds(event);
    },
  };
}

export function readPathIds({ pathParameters }: APIGatewayProxyEventV2): PathIds {
  return {
    projectId: projectIdSchema.safeParse(pathParameters?.projectId).data,
    notificationId: notificationIdSchema.safeParse(pathParameters?.notificationId).data,
  };
}

/** Time for the response after the last call to the database has been given up. */
const lastMs = 1000;

/** What the calls of a request to the database take. Those that the signal ends fail with `unavailable`. */
export interface TimeLimit {
  signal: AbortSignal;
}

/**
 * Sets a signal that fires while a response still reaches the caller: shortly before Lambda ends the function,
 * and before API Gateway gives up.
 */
export function timeLimit(
  clock: () => Date,
  abortAfter: (ms: number) => AbortSignal,
): Middleware<TimeLimit> {
  return {
    before: ({ event, context }) => {
      const gatewayMs = event.requestContext.timeEpoch + sendTimeline.endMs - clock().getTime();
      const functionMs = context.getRemainingTimeInMillis() - lastMs;
      event.signal = abortAfter(Math.min(gatewayMs, functionMs));
    },
  };
}

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

/**
 * What a caller's requests are counted under. An IPv6 address counts as its /64, the smallest network that is assigned: its
 * holder can use 2⁶⁴ addresses in turn. Its /48 is the largest that anybody gets for nothing: 65,536 of these.
 */
export function countedAddress(address: string): Pick<CountedRequest, 'address' | 'network'> {
  if (!isIPv6(address)) return { address };
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return { address: mapped[1]! };
  const groups = ipv6Groups(address).map((group) => group.toString(16));
  const prefix = (length: number) => `${groups.slice(0, length / 16).join(':')}::/${length}`;
  return { address: prefix(64), network: prefix(48) };
}

/**
 * The network that a log line names in place of the address: /24 of IPv4, /48 of IPv6. It is too
 * large to identify a person.
 * @returns undefined for text that is not an address.
 */
export function networkOf(address: string): string | undefined {
  const { address: counted, network } = countedAddress(address);
  return isIPv4(counted) ? `${counted.split('.').slice(0, 3).join('.')}.0/24` : network;
}
