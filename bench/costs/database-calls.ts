import { shareSizes } from '../../contract/share-sizes.ts';
import { shareOf } from '../../lambdas/store/counters.ts';
import { partCount } from '../../lambdas/store/subscription-keys.ts';

/**
 * The calls of each request to DynamoDB: the operation, and the table of each of its items. A test
 * asserts them, and the costs are calculated from them.
 */
export const databaseCalls = {
  newSubscription: [
    'UpdateItem RateLimits',
    'UpdateItem Subscriptions',
    'TransactWriteItems Subscriptions Usage',
  ],
  /** All parts of the counter are full. */
  refusedSubscription: [
    'UpdateItem RateLimits',
    'UpdateItem Subscriptions',
    'TransactWriteItems Subscriptions Usage',
    'Query Usage',
    'TransactWriteItems Subscriptions Usage',
  ],
  updatedSubscription: ['UpdateItem RateLimits', 'UpdateItem Subscriptions'],
  /** The request names a key that the project in memory does not have. */
  unknownServerKey: ['UpdateItem RateLimits', 'GetItem Projects'],
  unsubscribe: ['UpdateItem RateLimits', 'TransactWriteItems Subscriptions Usage'],
  event: ['UpdateItem RateLimits', 'UpdateItem Tallies'],
  readProject: ['UpdateItem RateLimits', 'Query Usage'],
  /** A page whose notifications have at most 100 tallies together. */
  listNotifications: ['UpdateItem RateLimits', 'Query Notifications', 'BatchGetItem Tallies'],
  readUser: ['UpdateItem RateLimits', 'Query Subscriptions/byUser'],
  removeUser: [
    'UpdateItem RateLimits',
    'Query Subscriptions/byUser',
    'TransactWriteItems Subscriptions Usage',
  ],
  readNotification: ['UpdateItem RateLimits', 'GetItem Notifications', 'BatchGetItem Tallies'],
  /** A function that sends has not read the project within the last 30 s. */
  uncachedProject: ['TransactGetItems Projects VapidKeys'],
  /** What a broadcast does before its delivery. Sends have an `Idempotency-Key`: the second notification item. */
  beginBroadcast: [
    'UpdateItem RateLimits',
    'Query Usage',
    'TransactWriteItems Usage Usage Notifications Notifications',
  ],
  /** A broadcast that one function delivers in one chunk. */
  deliverBroadcast(gone: number) {
    return [
      // One for each part of the project, at the same time.
      ...Array<string>(partCount).fill('Query Subscriptions'),
      'UpdateItem Tallies',
      ...removals(gone),
      'UpdateItem Tallies',
    ];
  },
  targetedSend(users: number) {
    return [
      'UpdateItem RateLimits',
      'TransactWriteItems Usage Usage Notifications Notifications',
      ...Array<string>(users).fill('Query Subscriptions/byUser'),
      'UpdateItem Tallies',
      'UpdateItem Tallies',
    ];
  },
  /** A push succeeded with the other key pair than the stored one. */
  correctedPair: ['UpdateItem Subscriptions'],
  invalidRequest: ['UpdateItem RateLimits'],
} as const;

/** The removals of gone subscriptions, which are evenly divided among the parts of the project. */
export function removals(gone: number): string[] {
  const parts = Array.from({ length: partCount }, (_, part) => shareOf(gone, part));
  return parts.flatMap((inPart) => {
    const batches = Math.ceil(inPart / shareSizes.removalBatch);
    return Array.from({ length: batches }, (_, batch) => {
      const left = inPart - batch * shareSizes.removalBatch;
      const items = Array<string>(Math.min(left, shareSizes.removalBatch)).fill('Subscriptions');
      return ['TransactWriteItems', ...items, 'Usage'].join(' ');
    });
  });
}
