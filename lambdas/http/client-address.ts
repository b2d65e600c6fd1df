import { isIPv4, isIPv6 } from 'node:net';
import { ipv6Groups } from '../../contract/ipv6-groups.ts';

/**
 * The address that a caller's requests are counted under. An IPv6 address counts as its /64, the
 * smallest network that is assigned: its holder can use 2⁶⁴ addresses in turn.
 */
export function countedAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  const network = ipv6Groups(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * The network that a log line names in place of the address: /24 of IPv4, /48 of IPv6. It is too
 * large to identify a person.
 * @returns undefined for text that is not an address.
 */
export function networkOf(address: string): string | undefined {
  const counted = countedAddress(address);
  if (isIPv4(counted)) return `${counted.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIPv6(address)) return `${counted.split(':').slice(0, 3).join(':')}::/48`;
  return undefined;
}
