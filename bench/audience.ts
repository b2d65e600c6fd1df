import type { Audience, Recipient } from '../contract/audience.ts';

/**
 * An audience in memory.
 * @param recipients sorted by endpoint hash.
 * @param pageSizeItems recipients per page; 1,000 as in `send`.
 */
export function audienceOf(recipients: readonly Recipient[], pageSizeItems = 1000): Audience {
  return {
    ordered: true,
    async *pages({ from = '' } = {}) {
      const first = recipients.findIndex(({ endpointHash }) => endpointHash >= from);
      if (first === -1) return;
      for (let start = first; start < recipients.length; start += pageSizeItems) {
        yield recipients.slice(start, start + pageSizeItems);
      }
    },
  };
}
