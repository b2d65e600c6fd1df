import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface LookupSettings {
  /** Origins that an operator admitted: their hosts may resolve to any address. */
  readonly trustedOrigins: readonly string[];
  readonly resolver?: Pick<Resolver, 'resolve4'>;
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
 * Push services are looked up by DNS queries of this thread, trusted hosts as the system does it,
 * with /etc/hosts. That takes one of libuv's four threads until it ends, so that a few hosts whose
 * names are not resolved would hold up all other look-ups, DynamoDB's included.
 * @returns a function for sockets that take a list of addresses.
 */
export function publicLookup(settings: LookupSettings): LookupFunction {
  const { trustedOrigins, resolver = new Resolver(), now = Date.now } = settings;
  const trusted = new Set(trustedOrigins.map((origin) => new URL(origin).hostname));
  const cache = new Map<string, { addresses: Promise<LookupAddress[]>; until: number }>();

  function addressesOf(host: string): Promise<LookupAddress[]> {
    const cached = cache.get(host);
    if (cached !== undefined && now() < cached.until) return cached.addresses;

    const addresses = trusted.has(host)
      ? lookup(host, { all: true })
      : publicAddresses(resolver, host);
    const entry = { addresses, until: now() + cacheTtlMs };
    cache.delete(host);
    cache.set(host, entry);
    if (cache.size > capacity) cache.delete(cache.keys().next().value!);
    addresses.catch(() => {
      if (cache.get(host) === entry) cache.delete(host);
    });
    return addresses;
  }

  return (host, _options, callback) => {
    addressesOf(host).then(
      (addresses) => {
        // The next connection begins with another one.
        addresses.push(addresses.shift()!);
        callback(null, addresses.toSorted(ipv4First));
      },
      (error: Error) => callback(error, []),
    );
  };
}

/** IPv4 only: a function outside a dual-stack VPC has no IPv6. */
async function publicAddresses(
  resolver: Pick<Resolver, 'resolve4'>,
  host: string,
): Promise<LookupAddress[]> {
  const addresses = await resolver.resolve4(host);
  if (!addresses.every(isPublicAddress)) {
    throw new Error(`${host} resolves to a private address.`);
  }
  return addresses.map((address) => ({ address, family: 4 }));
}

function ipv4First(one: LookupAddress, other: LookupAddress): number {
  return one.family - other.family;
}
