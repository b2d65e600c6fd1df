import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/**
 * Resolves the host of a push service at the moment it is connected to, and refuses one that
 * resolves to an address of a private network: whoever controls the name of an admitted host could
 * have the sender reach into where it runs.
 * @param trustedOrigins origins that an operator admitted: wherever they resolve to is meant.
 */
export function publicLookup(
  trustedOrigins: readonly string[],
  lookup: typeof dns.lookup = dns.lookup,
): LookupFunction {
  const trusted = new Set(trustedOrigins.map((origin) => new URL(origin).hostname));

  return (hostname, options, callback) => {
    if (trusted.has(hostname)) {
      lookup(hostname, options, callback);
      return;
    }
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const isPrivate = !error && addresses.some(({ address }) => !isPublicAddress(address));
      const refusal = isPrivate ? new Error(`${hostname} resolves to a private address.`) : error;
      if (refusal || options.all) callback(refusal, refusal ? [] : addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}
