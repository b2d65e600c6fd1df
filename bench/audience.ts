import type { Audience } from '../lambdas/push/delivery.ts';
import type { Subscription } from './sender-process.ts';

const pageSize = 1000;

/** Subscriptions in the pages that the table would yield them in. */
export function audienceOf(subscriptions: readonly Subscription[]): Audience {
  return {
    ordered: false,
    async *pages() {
      for (let start = 0; start < subscriptions.length; start += pageSize) {
        yield subscriptions.slice(start, start + pageSize).map(({ endpoint, keys }) => ({
          endpoint,
          endpointHash: '',
          ...keys,
        }));
      }
    },
  };
}
