import type { Audience, Recipient } from '../lambdas/push/delivery/delivery.ts';

/**
 * An audience in memory.
 * @param addressees in the order of their endpoint hashes.
 * @param pageSize subscriptions per page, as `send` reads them.
 */
export function audienceOf(addressees: readonly Recipient[], pageSize = 1000): Audience {
  return {
    ordered: true,
    async *pages({ from = '' } = {}) {
      const first = addressees.findIndex(({ endpointHash }) => endpointHash >= from);
      if (first === -1) return;
      for (let start = first; start < addressees.length; start += pageSize) {
        yield addressees.slice(start, start + pageSize);
      }
    },
  };
}
