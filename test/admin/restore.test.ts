import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../admin/project-registry.ts';
import { restoreProjects } from '../../admin/restore.ts';
import { batchImport } from '../../admin/subscriptions/import-batch.ts';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { readTable } from '../fixtures/read-table.ts';
import { subscription } from '../fixtures/subscription.ts';

let backup: Database;
let stack: Database;

beforeEach(async () => {
  backup = await startDatabase();
  stack = await startDatabase();
});
afterEach(async () => {
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

const source = () => {
  const { dynamo, tables } = backup;
  return {
    subscriptions: subscriptionStore(dynamo, projectTables(tables), () => new Date()),
    registry: projectRegistry(dynamo, projectTables(tables), () => new Date()),
  };
};

test('a project that was rotated keeps both keys, and each subscription its own', async () => {
  const { subscriptions, registry } = source();
  const projectId = await backup.createProject();
  await registry.rotateVapid(projectId);
  const counted = { projectId, subscriberCounter: 'single' } as const;
  for (const pair of [0, 1, 1]) {
    await subscriptions.save(counted, { ...subscription(), pair }, null);
  }
  const [restored] = (await restore()).filter((one) => one.projectId === projectId);
  expect(restored).toMatchObject({ project: 'created', created: 3, keyDropped: 0 });
  expect(await items(stack)).toEqual(await items(backup));
  const [vapidKey] = await readTable(stack.dynamo, stack.tables.VAPID_KEYS_TABLE);
  expect(vapidKey).toHaveProperty('previousPrivateKey');
});

test.each([
  ['a private key of another pair', 'SET privateKey = :key'],
  ['no previous private key', 'REMOVE previousPrivateKey'],
])('a project with %s in the backup is not restored', async (_title, UpdateExpression) => {
  const { dynamo, tables } = backup;
  const projectId = await backup.createProject();
  await source().registry.rotateVapid(projectId);
  await dynamo.send(
    new UpdateCommand({
      TableName: tables.VAPID_KEYS_TABLE,
      Key: { projectId },
      UpdateExpression,
      ...(UpdateExpression.includes(':key') && {
        ExpressionAttributeValues: { ':key': newVapidPair().privateKey },
      }),
    }),
  );
  await expect(restore()).rejects.toThrow(`the same VAPID keys of project "${projectId}"`);
  expect((await items(stack)).flat()).toEqual([]);
});

test('subscriptions whose key the project has dropped since are left out', async () => {
  const { subscriptions } = source();
  const projectId = await backup.createProject();
  const counted = { projectId, subscriberCounter: 'single' } as const;
  await subscriptions.save(counted, subscription(), null);
  await restore();
  await subscriptions.save(counted, subscription(), null);
  const later = projectRegistry(stack.dynamo, projectTables(stack.tables), () => new Date());
  await later.rotateVapid(projectId);
  const waiting = { onWait: () => {}, sleep: async () => {} };
  await later.dropPreviousVapid(projectId, { isForced: true, waiting });
  const [restored] = (await restore()).filter((one) => one.projectId === projectId);
  expect(restored).toMatchObject({ project: 'exists', created: 0, keyDropped: 2 });
  expect(await later.usage(projectId)).toMatchObject({ subscribers: 0 });
});

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
