import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { UnsendableError } from './errors.ts';
import { isPublicAddress } from './public-address.ts';

export interface LookupSettings {
  /** Origins that the operator accepted: their hosts may resolve to any address. */
  readonly trustedOrigins: readonly string[];
  /** Whether IPv6 addresses are looked up, and come first. */
  readonly preferIpv6: boolean;
  readonly resolver?: Pick<Resolver, 'resolve4' | 'resolve6'>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Milliseconds for which the addresses of a host are kept. */
const cacheTtlMs = 30_000;
/** Hosts that are kept. Above it the oldest is dropped. */
const capacity = 1000;

/**
 * Resolves the hosts of push services, and refuses a host with an address in a private network:
 * whoever controls a host's DNS could otherwise make the sender connect to its own network. Only
 * checked addresses are kept; failures are not.
 *
 * Push services are resolved by Node's own DNS queries. Trusted hosts are resolved by the system,
 * which reads /etc/hosts but blocks a thread of libuv's pool: a few names without a DNS response would
 * delay all other look-ups, DynamoDB's included.
 * @returns a function for sockets that accept a list of addresses.
 */
export function publicLookup(settings: LookupSettings): LookupFunction {
  const { trustedOrigins, preferIpv6, resolver = new Resolver(), now = Date.now } = settings;
  const trusted = new Set(trustedOrigins.map((origin) => new URL(origin).hostname));
  const cache = new Map<string, { addresses: Promise<LookupAddress[]>; until: number }>();

  function addressesOf(host: string): Promise<LookupAddress[]> {
    const cached = cache.get(host);
    if (cached !== undefined && now() < cached.until) return cached.addresses;

    const addresses = trusted.has(host) ? lookup(host, { all: true }) : publicAddresses(host);
    const entry = { addresses, until: now() + cacheTtlMs };
    cache.delete(host);
    cache.set(host, entry);
    if (cache.size > capacity) cache.delete(cache.keys().next().value!);
    addresses.catch(() => {
      if (cache.get(host) === entry) cache.delete(host);
    });
    return addresses;
  }

  // IPv6 only if preferred: functions outside a dual-stack VPC do not have it.
  async function publicAddresses(host: string): Promise<LookupAddress[]> {
    const queries = [resolver.resolve4(host), ...(preferIpv6 ? [resolver.resolve6(host)] : [])];
    const found = await Promise.allSettled(queries);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length === 0) throw (found[0] as PromiseRejectedResult).reason;
    if (!addresses.every(isPublicAddress)) {
      throw new UnsendableError(`${host} resolves to a private address.`);
    }
    return addresses.map((address) => ({ address, family: isIP(address) }));
  }

  const preferredFirst = (one: LookupAddress, other: LookupAddress) =>
    preferIpv6 ? other.family - one.family : one.family - other.family;

  return (host, _options, callback) => {
    addressesOf(host).then(
      (addresses) => {
        // The next connection starts with another address.
        addresses.push(addresses.shift()!);
        callback(null, addresses.toSorted(preferredFirst));
      },
      (error: Error) => callback(error, []),
    );
  };
}
