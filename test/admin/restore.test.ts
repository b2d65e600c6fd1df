import { randomBytes } from 'node:crypto';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { restoreProjects } from '../../admin/commands/restore.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { projectTables } from '../../admin/project-tables.ts';
import { batchImport } from '../../admin/store/subscription-import.ts';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import { projectUsage } from '../../lambdas/store/counters.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { keyed } from '../fixtures/known-project.ts';
import { readTable, readTables } from '../fixtures/read-table.ts';
import { rotatedLongAgo } from '../fixtures/rotated-long-ago.ts';
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

async function restore(dryRun = false) {
  const { dynamo, tables } = stack;
  const store = projectStore(dynamo, tables.PROJECTS_TABLE, () => new Date());
  const importBatch = batchImport(dynamo, projectTables(tables), store, 1000, dryRun);
  const parts = { importBatch, sleep: async () => {}, dryRun };
  const restored = [];
  for await (const project of restoreProjects(side(backup), side(stack), parts)) {
    restored.push(project);
  }
  return restored;
}

/** All but the counters, whose parts may differ. */
function items({ dynamo, tables }: Database) {
  const { PROJECTS_TABLE, VAPID_KEYS_TABLE, IDENTITY_KEYS_TABLE, SUBSCRIPTIONS_TABLE } = tables;
  const wanted = { PROJECTS_TABLE, VAPID_KEYS_TABLE, IDENTITY_KEYS_TABLE, SUBSCRIPTIONS_TABLE };
  return readTables(dynamo, wanted);
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
  const { projectId, ref } = await backup.createProject();
  await registry.rotateVapid(projectId);
  for (const vapidPairNumber of [0, 1, 1]) {
    await subscriptions.save(keyed(ref), { ...subscription(), vapidPairNumber }, null);
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
  const { projectId } = await backup.createProject();
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
  await expect(restore()).rejects.toThrow(`the same keys of project "${projectId}"`);
  expect((await items(stack)).flat()).toEqual([]);
});

test('subscriptions whose key the project has dropped since are left out', async () => {
  const { subscriptions } = source();
  const { projectId, ref } = await backup.createProject();
  await subscriptions.save(keyed(ref), subscription(), null);
  await restore();
  await subscriptions.save(keyed(ref), subscription(), null);
  const later = projectRegistry(stack.dynamo, projectTables(stack.tables), () => new Date());
  await later.rotateVapid(projectId);
  await rotatedLongAgo(stack.dynamo, stack.tables.PROJECTS_TABLE, projectId);
  const waiting = { onWait: () => {}, sleep: async () => {} };
  await later.dropPreviousVapid(projectId, { isForced: true, waiting });
  const [restored] = (await restore()).filter((one) => one.projectId === projectId);
  expect(restored).toMatchObject({ project: 'exists', created: 0, keyDropped: 2 });
  expect(await later.usage(projectId)).toMatchObject({ subscribers: 0 });
});

test('a project that was being removed in the backup is not restored', async () => {
  const { dynamo, tables } = backup;
  const { projectId } = await backup.createProject();
  const mark = { projectId: 'removed', ref: 'r', removed: true };
  await dynamo.send(new PutCommand({ TableName: tables.PROJECTS_TABLE, Item: mark }));
  expect(await restore()).toMatchObject([{ projectId, project: 'created' }]);
});

test.each([true, false])(
  'a project that is being removed in the stack is not restored before (dry run: %s)',
  async (dryRun) => {
    const { projectId } = await backup.createProject();
    const mark = { projectId, ref: 'r', removed: true };
    await stack.dynamo.send(new PutCommand({ TableName: stack.tables.PROJECTS_TABLE, Item: mark }));
    await expect(restore(dryRun)).rejects.toMatchObject({
      code: 'project_half_removed',
    });
  },
);

test.each([true, false])(
  'a later project with the id of a restored one keeps what it has (dry run: %s)',
  async (dryRun) => {
    const { subscriptions } = source();
    const { projectId, ref } = await backup.createProject();
    await subscriptions.save(keyed(ref), subscription(), null);
    const later = projectRegistry(stack.dynamo, projectTables(stack.tables), () => new Date());
    await later.create({ projectId, random: randomBytes });
    const before = await items(stack);
    expect(await restore(dryRun)).toMatchObject([{ projectId, project: 'other', created: 0 }]);
    expect(await items(stack)).toEqual(before);
    expect(await later.usage(projectId)).toMatchObject({ subscribers: 0 });
  },
);

test('projects, keys, subscriptions and months are restored, and subscriptions counted again', async () => {
  const { dynamo, tables } = backup;
  const subscriptions = subscriptionStore(dynamo, projectTables(tables), () => new Date());
  const plans = [{}, { subscriberCap: null }, { subscriberCap: 40 }];
  const created = await Promise.all(plans.map((plan) => backup.createProject(plan)));
  for (const { ref } of created) {
    for (let count = 0; count < 40; count += 1) {
      const choice = count % 2 === 0 ? {} : { userId: `user-${count}` };
      await subscriptions.save(keyed(ref), subscription({ choice }), null);
    }
  }
  // Units were given back to other parts than they were taken from.
  for (const [part, used] of [9, 0, -2].entries()) {
    const Item = { projectRef: created[0]!.ref, period: `2026-10#${part}`, used };
    await dynamo.send(new PutCommand({ TableName: tables.USAGE_TABLE, Item }));
  }

  const { USAGE_TABLE: usage } = stack.tables;
  const restored = await restore();
  expect(restored).toHaveLength(3);
  for (const project of restored) {
    expect(project).toMatchObject({ project: 'created', created: 40, overCap: 0 });
  }
  expect(await items(stack)).toEqual(await items(backup));
  const counted = () =>
    Promise.all(created.map(({ ref }) => projectUsage(stack.dynamo, usage)(ref, '2026-10')));
  const expected = [7, 0, 0].map((sends) => ({ subscribers: 40, month: '2026-10', sends }));
  expect(await counted()).toEqual(expected);

  for (const project of await restore()) {
    expect(project).toMatchObject({ project: 'exists', created: 0, unchanged: 40 });
  }
  expect(await items(stack)).toEqual(await items(backup));
  expect(await counted()).toEqual(expected);
});
