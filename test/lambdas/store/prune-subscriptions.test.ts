import { projectTables } from '../../../admin/project-tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { pruneSubscriptions } from '../../../lambdas/store/all-subscriptions.ts';
import { endpointHash } from '../../../lambdas/store/items.ts';
import {
  type SavedSubscription,
  type SubscriptionStore,
  subscriptionStore,
} from '../../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { subscription } from '../../fixtures/subscription.ts';

const database = useDatabase();
let project: ProjectRef;

beforeEach(async () => {
  project = (await database.createProject()).ref;
});

const before = Date.parse('2026-06-01T00:00:00Z');

function storeAt(time: number) {
  const tables = projectTables(database.tables);
  return subscriptionStore(database.dynamo, tables, () => new Date(time));
}

async function save(count: number, time: number): Promise<readonly SavedSubscription[]> {
  const saved = Array.from({ length: count }, () => subscription());
  await Promise.all(saved.map((one) => storeAt(time).save(keyed(project), one, null)));
  return saved;
}

function prune(
  removeUnseen: SubscriptionStore['removeUnseen'] = storeAt(before).removeUnseen,
  onProgress?: (read: number) => void,
) {
  const { dynamo, tables } = database;
  const deps = { dynamo, table: tables.SUBSCRIPTIONS_TABLE, subscriptions: { removeUnseen } };
  return pruneSubscriptions(deps, project, before, false, onProgress);
}

const counted = () => database.usage(project, 'subscribers');

test('subscriptions that were updated before the time are removed, with counts', async () => {
  await save(3, before - 1);
  await save(2, before);
  const other = (await database.createProject()).ref;
  await storeAt(before - 1).save(keyed(other), subscription(), null);
  expect(await prune()).toEqual({ removed: 3, kept: 2 });
  expect(await counted()).toBe(2);
  expect(await prune()).toEqual({ removed: 0, kept: 2 });
  expect(await database.usage(other, 'subscribers')).toBe(1);
});

test('a subscription that is updated after it was read is kept', async () => {
  const saved = await save(3, before - 1);
  let visits = 0;
  const afterVisit: SubscriptionStore['removeUnseen'] = async (ref, time, hashes) => {
    const isRead = ({ endpoint }: SavedSubscription) =>
      Buffer.from(endpointHash(keyed(project), endpoint.href)).equals(hashes[0]!);
    if (visits === 0) await storeAt(before).save(keyed(project), saved.find(isRead)!, null);
    visits += 1;
    return storeAt(before).removeUnseen(ref, time, hashes);
  };
  expect(await prune(afterVisit)).toEqual({ removed: 2, kept: 1 });
  expect(await counted()).toBe(1);
});

test('after an interruption, the next one removes the rest', async () => {
  await save(250, before - 1);
  let batches = 0;
  const interrupted: SubscriptionStore['removeUnseen'] = async (...batch) => {
    batches += 1;
    if (batches === 3) throw new Error('interrupted');
    return storeAt(before).removeUnseen(...batch);
  };
  await expect(prune(interrupted)).rejects.toThrow('interrupted');
  const left = await counted();
  expect([left > 0, left < 250]).toEqual([true, true]);
  expect(await prune()).toEqual({ removed: left, kept: 0 });
  expect(await counted()).toBe(0);
});

test('the number of subscriptions read grows to the number of all', async () => {
  await save(60, before - 1);
  await save(3, before);
  const progress: number[] = [];
  await prune(undefined, (read) => progress.push(read));
  expect(progress.at(-1)).toBe(63);
  expect(progress).toEqual(progress.toSorted((one, other) => one - other));
});
