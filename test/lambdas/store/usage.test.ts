import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { projectUsage, subscriberCount } from '../../../lambdas/store/usage.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const count = (projectId: string) =>
  subscriberCount(database.dynamo, database.tables.USAGE_TABLE)(projectId);

function put(Item: Record<string, unknown>) {
  return database.dynamo.send(new PutCommand({ TableName: database.tables.USAGE_TABLE, Item }));
}

test('the number of subscribers is the sum of the parts', async () => {
  const projectId = await database.createProject();
  expect(await count(projectId)).toBe(0);
  await put({ projectId, period: 'subscribers#0', used: -3 });
  await put({ projectId, period: 'subscribers#7', used: 5 });
  await put({ projectId, period: '2026-11#0', used: 100 });
  expect(await count(projectId)).toBe(2);
});

test('the usage of a project is that of one month', async () => {
  const projectId = await database.createProject();
  await put({ projectId, period: 'subscribers#4', used: 9 });
  for (const [period, used] of [
    ['2026-10#0', 1],
    ['2026-11#0', 20],
    ['2026-11#7', -3],
    ['2026-12#0', 400],
  ]) {
    await put({ projectId, period, used });
  }
  const usage = projectUsage(database.dynamo, database.tables.USAGE_TABLE);
  expect(await usage(projectId, '2026-11')).toEqual({
    subscribers: 9,
    month: '2026-11',
    sends: 17,
  });
});

test('a part of a project that is being removed counts 0', async () => {
  const projectId = await database.createProject();
  await put({ projectId, period: 'subscribers#0', removal: 'r' });
  await put({ projectId, period: 'subscribers#3', used: 4 });
  expect(await count(projectId)).toBe(4);
});

test('an unknown project has no subscribers', async () => {
  expect(await count('no-such-project')).toBe(0);
});
