import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';
import { ipv6Groups } from '../../../contract/text/addresses.ts';
import { UnsendableError } from './response.ts';

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

/**
 * IPv4 ranges that are not globally reachable: IANA's special-purpose registry (RFC 6890), and
 * multicast. 192.0.0.0/24 has a few reachable addresses, but no push services: all of it is refused.
 */
const privateIpv4 = [
  '0.0.0.0/8', // this network (RFC 791)
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // carrier-grade NAT (RFC 6598)
  '127.0.0.0/8', // loopback (RFC 1122)
  '169.254.0.0/16', // link-local (RFC 3927): metadata services of clouds and containers
  '172.16.0.0/12', // private (RFC 1918)
  '192.0.0.0/24', // protocol assignments (RFC 6890)
  '192.0.2.0/24', // documentation (RFC 5737)
  '192.88.99.0/24', // 6to4 relays (RFC 7526)
  '192.168.0.0/16', // private (RFC 1918)
  '198.18.0.0/15', // benchmarks (RFC 2544)
  '198.51.100.0/24', // documentation (RFC 5737)
  '203.0.113.0/24', // documentation (RFC 5737)
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved (RFC 1112) and broadcast
];

/** The range of global unicast addresses (RFC 4291 §2.4). */
const publicIpv6 = ['2000::/3'];

/** Ranges within it that are not globally reachable. */
const privateIpv6 = [
  '2001::/23', // protocol assignments (RFC 2928): Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation (RFC 3849)
  '3fff::/20', // documentation (RFC 9637)
];

const private4 = rangesOf(privateIpv4, 'ipv4');
const public6 = rangesOf(publicIpv6, 'ipv6');
const private6 = rangesOf(privateIpv6, 'ipv6');

/**
 * Whether an address is globally reachable. An IPv6 address that contains an IPv4 address is decided
 * by that: IPv4-mapped (RFC 4291 §2.5.5.2), NAT64 (RFC 6052 §2.1) and 6to4 (RFC 3056 §2).
 *
 * The ranges are checked by Node's `BlockList`. A library for addresses would hide the list that this
 * check is about.
 * @returns false for text that is not an address, and for an address with a zone.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !private4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  const groups = ipv6Groups(address);
  const embedded = embeddedIpv4(groups);
  if (embedded !== undefined) return isPublicAddress(embedded);
  // In full: a BlockList treats a mapped address as the IPv4 address.
  const full = groups.map((group) => group.toString(16)).join(':');
  return public6.check(full, 'ipv6') && !private6.check(full, 'ipv6');
}

function embeddedIpv4(groups: readonly number[]): string | undefined {
  const [a, b, c] = groups as [number, number, number];
  const begins = (...prefix: number[]) => prefix.every((group, index) => groups[index] === group);
  if (begins(0, 0, 0, 0, 0, 0xffff) || begins(0x64, 0xff9b, 0, 0, 0, 0)) {
    return dotted(groups[6]!, groups[7]!);
  }
  return a === 0x2002 ? dotted(b, c) : undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function rangesOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, prefix] = range.split('/') as [string, string];
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
