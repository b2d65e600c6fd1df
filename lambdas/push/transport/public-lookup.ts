import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface LookupSettings {
  /** Origins that an operator admitted: their hosts may resolve to any address. */
  readonly trustedOrigins: readonly string[];
  /** Whether a host's IPv6 addresses are looked up and come first. */
  readonly preferIpv6: boolean;
  readonly resolver?: Pick<Resolver, 'resolve4' | 'resolve6'>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Milliseconds for which the addresses of a host are used again. */
const cacheTtlMs = 30_000;
/** Hosts one function remembers; past it the one looked up first is forgotten. */
const capacity = 1000;

/**
 * Resolves the hosts of push services, and refuses one that resolves to an address of a private
 * network: whoever controls the name of an admitted host could have the sender reach into where it
 * runs. Only checked addresses are remembered, and no failure is.
 *
 * Push services are looked up by Node's own DNS queries. Trusted hosts are looked up by the system,
 * which reads /etc/hosts but holds a thread of libuv's pool until it ends: a few names without a DNS
 * response would hold up all other look-ups, DynamoDB's included.
 * @returns a function for sockets that take a list of addresses.
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

  // IPv6 only where it is preferred: a function outside a dual-stack VPC has none.
  async function publicAddresses(host: string): Promise<LookupAddress[]> {
    const queries = [resolver.resolve4(host), ...(preferIpv6 ? [resolver.resolve6(host)] : [])];
    const found = await Promise.allSettled(queries);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length === 0) throw (found[0] as PromiseRejectedResult).reason;
    if (!addresses.every(isPublicAddress)) {
      throw new Error(`${host} resolves to a private address.`);
    }
    return addresses.map((address) => ({ address, family: isIP(address) }));
  }

  const preferredFirst = (one: LookupAddress, other: LookupAddress) =>
    preferIpv6 ? other.family - one.family : one.family - other.family;

  return (host, _options, callback) => {
    addressesOf(host).then(
      (addresses) => {
        // The next connection begins with another one.
        addresses.push(addresses.shift()!);
        callback(null, addresses.toSorted(preferredFirst));
      },
      (error: Error) => callback(error, []),
    );
  };
}
