import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { ipv6Groups } from '../../../contract/ipv6-groups.ts';

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
