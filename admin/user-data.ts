import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { limits } from '../contract/limits.ts';
import { removeFound, userSubscriptions } from '../lambdas/store/audience.ts';
import { batchGet } from '../lambdas/store/batches.ts';
import type { SubscriptionItem } from '../lambdas/store/items.ts';
import { projectUser, subscriptionKey } from '../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../lambdas/store/subscriptions.ts';
import type { ProjectRegistry } from './project-registry.ts';
import type { ProjectTables } from './project-tables.ts';
import { applicationServerKeys } from './registered-project.ts';
import { portableSubscription } from './subscriptions/line.ts';

/** SECURITY.md says the same of the whole service. */
const elsewhere = [
  {
    where: 'Notifications',
    what: `texts and URLs as sent, for ${limits.notificationRetentionDays} days; how many users they were sent to, but not to whom`,
  },
  { where: 'RateLimits', what: 'addresses of callers, for two minutes to a few days' },
  { where: 'logs', what: 'networks of callers (/24, or /48 for IPv6), for 30 days' },
  { where: 'backups', what: 'subscriptions of the last 35 days, also deleted ones' },
] as const;

export type UserData = ReturnType<typeof userData>;

/** Exports and deletes what is stored about one person. */
export function userData(
  dynamo: DynamoDBDocumentClient,
  tables: Pick<ProjectTables, 'subscriptions' | 'usage'>,
  registry: Pick<ProjectRegistry, 'get'>,
  clock: () => Date,
) {
  const users = userSubscriptions(dynamo, tables.subscriptions);
  const subscriptions = subscriptionStore(dynamo, tables, clock);

  return {
    /** @throws {ProjectNotFound} */
    async count(projectId: string, userId: string): Promise<number> {
      const { ref } = await registry.get(projectId);
      return (await users.list(ref, userId)).length;
    },

    /** Everything that is stored under a user id. @throws {ProjectNotFound} */
    async export(projectId: string, userId: string) {
      const found: SubscriptionItem[] = [];
      const { ref } = await registry.get(projectId);
      for await (const hashes of await users.endpointHashes(ref, userId)) {
        const keys = hashes.map((hash) => subscriptionKey(ref, hash));
        const items = await batchGet<SubscriptionItem>(dynamo, tables.subscriptions, keys);
        // The index may still have a subscription that has passed to another user.
        found.push(...items.filter((item) => item.projectUser === projectUser(ref, userId)));
      }
      // Read last, so that it has the key of each subscription.
      const keys = applicationServerKeys(await registry.get(projectId));
      const subscriptions = found.map((item) => {
        const { userId: _, channels = [], ...others } = portableSubscription(ref, item);
        // Undefined if the project has dropped the key.
        const applicationServerKey = keys.get(item.vapidPairNumber ?? 0);
        return { ...others, applicationServerKey, channels };
      });
      // Where else there may be data about the person, without the user id.
      return { projectId, userId, subscriptions, elsewhere };
    },

    /**
     * Removes the subscriptions. After a failure, a second call removes the rest.
     * @returns how many it has removed.
     * @throws {ProjectNotFound}
     */
    async remove(projectId: string, userId: string): Promise<number> {
      const { ref } = await registry.get(projectId);
      const found = await users.endpointHashes(ref, userId);
      return removeFound(subscriptions, ref, userId, found);
    },
  };
}
