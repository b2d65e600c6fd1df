import type { Audience, Recipient } from '../contract/audience.ts';

/**
 * An audience in memory.
 * @param recipients in the order of their endpoint hashes.
 * @param pageSize subscriptions per page, as `send` reads them.
 */
export function audienceOf(recipients: readonly Recipient[], pageSize = 1000): Audience {
  return {
    ordered: true,
    async *pages({ from = '' } = {}) {
      const first = recipients.findIndex(({ endpointHash }) => endpointHash >= from);
      if (first === -1) return;
      for (let start = first; start < recipients.length; start += pageSize) {
        yield recipients.slice(start, start + pageSize);
      }
    },
  };
}
