import { shareSizes } from '../../contract/share-sizes.ts';
import { shareOf } from '../../lambdas/store/counters.ts';
import { partCount } from '../../lambdas/store/subscription-keys.ts';

/** Calls to DynamoDB in rounds: the calls of one round are under way at the same time. */
export type Rounds = readonly (readonly string[])[];

const counted = ['UpdateItem RateLimits'];
/** What an owner's request needs is read while the request is counted. */
const countedAnd = (read: string) => [...counted, read];
/** Sends have an `Idempotency-Key`: the second notification item. */
const begun = 'TransactWriteItems Usage Notifications Notifications';
const begunAndClaimed = [`${begun} Tallies`];
const saved = ['UpdateItem Tallies'];

/**
 * The calls of each request to DynamoDB: the operation, and the table of each of its items. A test
 * asserts them and their rounds, which are most of a request's time. The costs are calculated from them.
 */
export const databaseCalls = {
  newSubscription: [
    counted,
    ['UpdateItem Subscriptions'],
    ['TransactWriteItems Subscriptions Usage'],
  ],
  /** All parts of the counter are full. */
  refusedSubscription: [
    counted,
    ['UpdateItem Subscriptions'],
    ['TransactWriteItems Subscriptions Usage'],
    ['Query Usage'],
    ['TransactWriteItems Subscriptions Usage'],
  ],
  updatedSubscription: [counted, ['UpdateItem Subscriptions']],
  /** The project in memory does not have the key that the request names, or that signed its user id. */
  unknownKeyOrSignature: [counted, ['GetItem Projects', 'GetItem IdentityKeys']],
  unsubscribe: [counted, ['TransactWriteItems Subscriptions Usage']],
  event: [counted, ['UpdateItem Tallies']],
  readProject: [countedAnd('Query Usage')],
  /** One read in each partition of the subscriptions. */
  sampleSubscribers: [
    [...countedAnd('Query Usage'), ...Array<string>(partCount).fill('Query Subscriptions')],
  ],
  /** A page whose notifications have at most 100 tallies together. */
  listNotifications: [countedAnd('Query Notifications'), ['BatchGetItem Tallies']],
  readUser: [countedAnd('Query Subscriptions/byUser')],
  removeUser: [
    countedAnd('Query Subscriptions/byUser'),
    ['TransactWriteItems Subscriptions Usage'],
  ],
  readNotification: [countedAnd('GetItem Notifications'), ['BatchGetItem Tallies']],
  /** The notification has one share, which has not ended. */
  stopNotification: [
    countedAnd('GetItem Notifications'),
    ['BatchGetItem Tallies'],
    ['UpdateItem Tallies'],
    ['GetItem Notifications'],
    ['BatchGetItem Tallies'],
  ],
  /** A function has not read the project within the last 30 s. */
  uncachedProject: [['GetItem Projects']],
  /** The same for the function that subscribes. */
  uncachedIdentityProject: [['GetItem Projects', 'GetItem IdentityKeys']],
  /** The same for a function that sends. */
  uncachedSigningProject: [['TransactGetItems Projects VapidKeys']],
  /** A broadcast that one function delivers in one chunk. */
  broadcast(gone: number): Rounds {
    const parts = Array<string>(partCount).fill('Query Subscriptions');
    const removed = gone === 0 ? [] : [removals(gone)];
    return [countedAnd('Query Usage'), parts, begunAndClaimed, ...removed, saved];
  },
  targetedSend(users: number): Rounds {
    const read = Array<string>(users).fill('Query Subscriptions/byUser');
    return [counted, read, begunAndClaimed, saved];
  },
  /** What an asynchronous broadcast does before it is handed over. */
  beginAsync: [countedAnd('Query Usage'), [begun]],
  /** The first send of a month makes this call, and begins again. */
  newMonth: [[`TransactWriteItems${' Usage'.repeat(1 + partCount)}`]],
  /** A push succeeded with the other key pair than the stored one. */
  correctedPair: [['UpdateItem Subscriptions']],
  invalidRequest: [counted],
} as const satisfies Readonly<Record<string, Rounds | ((count: number) => Rounds)>>;

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
