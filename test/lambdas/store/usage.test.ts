import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { subscriberCount } from '../../../lambdas/store/usage.ts';
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

test('the number of subscribers is the sum of the single counter and the parts', async () => {
  const projectId = await database.createProject();
  expect(await count(projectId)).toBe(0);
  await put({ projectId, period: 'subscribers', used: 10 });
  await put({ projectId, period: 'subscribers#0', used: -3 });
  await put({ projectId, period: 'subscribers#7', used: 5 });
  await put({ projectId, period: '2026-11', used: 100 });
  expect(await count(projectId)).toBe(12);
});

test('a counter of a project that is being removed counts 0', async () => {
  const projectId = await database.createProject();
  await put({ projectId, period: 'subscribers', removal: 'r' });
  await put({ projectId, period: 'subscribers#3', used: 4 });
  expect(await count(projectId)).toBe(4);
});

test('an unknown project has no subscribers', async () => {
  expect(await count('no-such-project')).toBe(0);
});
