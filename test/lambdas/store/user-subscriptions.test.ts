import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../../admin/project-tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { removeFound, userSubscriptions } from '../../../lambdas/store/audience.ts';
import { endpointHash, projectUser, subscriptionKey } from '../../../lambdas/store/items.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { subscription } from '../../fixtures/subscription.ts';

const database = useDatabase();

const users = () => userSubscriptions(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);

const subscriptions = () =>
  subscriptionStore(database.dynamo, projectTables(database.tables), () => new Date());

async function removeUser(
  removals: Parameters<typeof removeFound>[0],
  project: ProjectRef,
  userId: string,
  signal?: AbortSignal,
) {
  const found = await users().endpointHashes(project, userId, signal);
  return removeFound(removals, project, userId, found, signal);
}

/** @returns the endpoint hashes. */
async function subscribe(project: ProjectRef, userId: string, count: number) {
  const saved = Array.from({ length: count }, () => subscription({ userId }));
  await Promise.all(saved.map((one) => subscriptions().save(keyed(project), one, null)));
  return saved.map(({ endpoint }) => endpointHash(keyed(project), endpoint.href));
}

const counted = (project: ProjectRef) => database.usage(project, 'subscribers');

test('a removal that fails is continued by the next', async () => {
  const { ref: project } = await database.createProject();
  await subscribe(project, 'ada', 101);
  let batches = 0;
  const failing = {
    removeOfUser: async (
      ...batch: Parameters<ReturnType<typeof subscriptions>['removeOfUser']>
    ) => {
      batches += 1;
      if (batches === 2) throw new Error('a fault');
      return subscriptions().removeOfUser(...batch);
    },
  };
  await expect(removeUser(failing, project, 'ada')).rejects.toThrow('a fault');
  expect(await counted(project)).toBe(51);
  expect(await removeUser(subscriptions(), project, 'ada')).toBe(51);
  expect(await counted(project)).toBe(0);
});

test('more subscriptions than fit one page of DynamoDB are counted and found', async () => {
  const { ref: project } = await database.createProject();
  // With 2,900 bytes each, 500 of them are more than 1 MB.
  const path = `/wpush/v2/${'x'.repeat(1900)}`;
  const userId = 'ﷺ'.repeat(256);
  const origin = 'https://updates.push.services.mozilla.com';
  const requests = Array.from({ length: 500 }, (_, index) => {
    const key = subscriptionKey(project, endpointHash(keyed(project), `${origin}${path}${index}`));
    const Item = {
      ...{ ...key, origin, path: `${path}${index}`, projectUser: projectUser(project, userId) },
      ...subscription().keys,
    };
    return { PutRequest: { Item } };
  });
  for (let start = 0; start < requests.length; start += 25) {
    const batch = requests.slice(start, start + 25);
    const RequestItems = { [database.tables.SUBSCRIPTIONS_TABLE]: batch };
    await database.dynamo.send(new BatchWriteCommand({ RequestItems }));
  }
  const before = database.calls();
  expect(await users().list(project, userId)).toHaveLength(500);
  expect(database.calls() - before).toBeGreaterThan(1);
  let found = 0;
  for await (const hashes of await users().endpointHashes(project, userId)) {
    found += hashes.length;
  }
  expect(found).toBe(500);
});
