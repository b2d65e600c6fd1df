import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { restoreProjects } from '../../admin/restore.ts';
import { batchImport } from '../../admin/subscriptions/import-batch.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { readTable } from '../fixtures/read-table.ts';
import { subscription } from '../fixtures/subscription.ts';

let backup: Database;
let stack: Database;

beforeAll(async () => {
  backup = await startDatabase();
  stack = await startDatabase();
});
afterAll(async () => {
  await stack.stop();
  await backup.stop();
});

const side = ({ dynamo, tables }: Database) => ({ dynamo, tables: projectTables(tables) });

async function restore() {
  const { dynamo, tables } = stack;
  const store = projectStore(dynamo, tables.PROJECTS_TABLE, () => new Date());
  const importBatch = batchImport(dynamo, projectTables(tables), store, 1000);
  const parts = { importBatch, sleep: async () => {} };
  const restored = [];
  for await (const project of restoreProjects(side(backup), side(stack), parts)) {
    restored.push(project);
  }
  return restored;
}

async function items({ dynamo, tables }: Database) {
  const { PROJECTS_TABLE, VAPID_KEYS_TABLE, SUBSCRIPTIONS_TABLE, USAGE_TABLE } = tables;
  const wanted = [PROJECTS_TABLE, VAPID_KEYS_TABLE, SUBSCRIPTIONS_TABLE, USAGE_TABLE];
  const read = await Promise.all(wanted.map((table) => readTable(dynamo, table)));
  return read.map((table) =>
    table.map((item) => JSON.stringify(Object.entries(item).sort())).sort(),
  );
}

test('projects, keys, subscriptions and months are restored, and subscriptions counted again', async () => {
  const { dynamo, tables } = backup;
  const subscriptions = subscriptionStore(dynamo, projectTables(tables), () => new Date());
  const plans = [{}, { subscriberCap: null }, { subscriberCap: 40 }];
  const ids = await Promise.all(plans.map((plan) => backup.createProject(plan)));
  for (const [index, projectId] of ids.entries()) {
    const subscriberCounter = index === 1 ? 'parts' : 'single';
    for (let count = 0; count < 40; count += 1) {
      const userId = count % 2 === 0 ? {} : { userId: `user-${count}` };
      await subscriptions.save({ projectId, subscriberCounter }, subscription(userId), null);
    }
  }
  await dynamo.send(
    new PutCommand({
      TableName: tables.USAGE_TABLE,
      Item: { projectId: ids[0], period: '2026-10', used: 7 },
    }),
  );

  const restored = await restore();
  expect(restored).toHaveLength(3);
  for (const project of restored) {
    expect(project).toMatchObject({ project: 'created', created: 40, overCap: 0 });
  }
  expect(await items(stack)).toEqual(await items(backup));

  for (const project of await restore()) {
    expect(project).toMatchObject({ project: 'exists', created: 0, unchanged: 40 });
  }
  expect(await items(stack)).toEqual(await items(backup));
});
