import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { endpointHash, subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { subscription } from '../../fixtures/subscription.ts';

let database: Database;
let now: Date;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(() => {
  now = new Date('2026-11-20T12:00:00Z');
});

function store() {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
  return subscriptionStore(database.dynamo, { subscriptions, usage }, () => now);
}

async function itemOf(projectId: string, endpoint: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({
      TableName: database.tables.SUBSCRIPTIONS_TABLE,
      Key: { projectId, endpointHash: endpointHash(endpoint) },
    }),
  );
  return Item;
}

/** The subscriber counter, and the number of items. */
async function countsOf(projectId: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({
      TableName: database.tables.USAGE_TABLE,
      Key: { projectId, period: 'subscribers' },
    }),
  );
  const { Count } = await database.dynamo.send(
    new QueryCommand({
      TableName: database.tables.SUBSCRIPTIONS_TABLE,
      KeyConditionExpression: 'projectId = :projectId',
      ExpressionAttributeValues: { ':projectId': projectId },
    }),
  );
  return { counter: Item?.used, items: Count };
}

test('a new endpoint is stored and counted', async () => {
  const projectId = await database.createProject();
  const { endpoint, keys } = subscription();
  expect(await store().save(projectId, { endpoint, keys, userId: 'u1' }, 10)).toBe('created');
  expect(await itemOf(projectId, endpoint)).toEqual({
    projectId,
    endpointHash: endpointHash(endpoint),
    endpoint,
    ...keys,
    userId: 'u1',
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:00.000Z',
  });
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

test('a repeated endpoint is updated and not counted again', async () => {
  const projectId = await database.createProject();
  const first = subscription({ userId: 'u1' });
  await store().save(projectId, first, 10);
  now = new Date('2026-11-21T00:00:00Z');
  const keys = { ...first.keys, auth: Buffer.alloc(16, 7).toString('base64url') };
  expect(await store().save(projectId, { ...first, keys, userId: 'u2' }, 10)).toBe('updated');
  expect(await itemOf(projectId, first.endpoint)).toMatchObject({
    auth: keys.auth,
    userId: 'u2',
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-21T00:00:00.000Z',
  });
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

test('an update without a user id removes it', async () => {
  const projectId = await database.createProject();
  const first = subscription({ userId: 'u1' });
  await store().save(projectId, first, 10);
  await store().save(projectId, { endpoint: first.endpoint, keys: first.keys }, 10);
  expect(await itemOf(projectId, first.endpoint)).not.toHaveProperty('userId');
});

test('at the cap a new endpoint is refused and an existing one updated', async () => {
  const projectId = await database.createProject();
  const existing = subscription();
  await store().save(projectId, existing, 1);
  expect(await store().save(projectId, subscription(), 1)).toBe('cap_reached');
  expect(await store().save(projectId, { ...existing, userId: 'u1' }, 1)).toBe('updated');
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

test('a cap of null does not limit', async () => {
  const projectId = await database.createProject();
  expect(await store().save(projectId, subscription(), null)).toBe('created');
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

// A project that is being deleted has no counter.
test('nothing is stored for a project without a subscriber counter', async () => {
  const target = subscription();
  expect(await store().save('no-such-project', target, null)).toBe('project_gone');
  expect(await store().save('no-such-project', target, 10)).toBe('project_gone');
  expect(await countsOf('no-such-project')).toEqual({ counter: undefined, items: 0 });
});

test('1,000 concurrent subscribers with a cap of 300 become 300 subscribers', async () => {
  const projectId = await database.createProject();
  const saves = Array.from({ length: 1000 }, () => store().save(projectId, subscription(), 300));
  const outcomes = await Promise.all(saves);
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(300);
  expect(outcomes.filter((outcome) => outcome === 'cap_reached')).toHaveLength(700);
  expect(await countsOf(projectId)).toEqual({ counter: 300, items: 300 });
});

test('20 concurrent requests with one endpoint create one subscription', async () => {
  const projectId = await database.createProject();
  const target = subscription();
  const saves = Array.from({ length: 20 }, () => store().save(projectId, target, 10));
  const outcomes = await Promise.all(saves);
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'updated')).toHaveLength(19);
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

test('10 concurrent removals reduce the counter once', async () => {
  const projectId = await database.createProject();
  const [stays, goes] = [subscription(), subscription()];
  await store().save(projectId, stays, 10);
  await store().save(projectId, goes, 10);
  const removals = Array.from({ length: 10 }, () => store().remove(projectId, goes.endpoint));
  const outcomes = await Promise.all(removals);
  expect(outcomes.filter((outcome) => outcome === 'removed')).toHaveLength(1);
  expect(await countsOf(projectId)).toEqual({ counter: 1, items: 1 });
});

test('removing an endpoint leaves it in other projects', async () => {
  const [one, other] = [await database.createProject(), await database.createProject()];
  const target = subscription();
  await store().save(one, target, 10);
  await store().save(other, target, 10);
  expect(await store().remove(one, target.endpoint)).toBe('removed');
  expect(await countsOf(other)).toEqual({ counter: 1, items: 1 });
});
