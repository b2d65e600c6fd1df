import type { Recipient } from '../../../contract/audience.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { endpointHash, subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { subscription } from '../../fixtures/subscription.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

function tables() {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
  return { subscriptions, usage };
}

const audiences = () => audienceStore(database.dynamo, tables());

async function subscribe(projectId: string, userIds: readonly (string | undefined)[]) {
  const store = subscriptionStore(database.dynamo, tables(), () => new Date());
  const created = userIds.map((userId) => subscription({ userId }));
  await Promise.all(created.map((one) => store.save(projectId, one, null)));
  return created;
}

async function read(pages: AsyncIterable<readonly Recipient[]>): Promise<Recipient[]> {
  const all: Recipient[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

function endpoints(subscriptions: readonly { endpoint: string }[]): string[] {
  return subscriptions.map(({ endpoint }) => endpoint).sort();
}

test('everyone returns each subscriber of the project once, ordered by endpoint hash', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const created = await subscribe(projectId, Array(1200).fill(undefined));
  await subscribe(other, [undefined]);
  const everyone = await read(audiences().everyone(projectId).pages());
  expect(endpoints(everyone)).toEqual(endpoints(created));
  const hashes = everyone.map((one) => one.endpointHash);
  expect(hashes).toEqual([...hashes].sort());
});

test('everyone can be read from a given endpoint hash', async () => {
  const projectId = await database.createProject();
  await subscribe(projectId, Array(20).fill(undefined));
  const all = await read(audiences().everyone(projectId).pages());
  const rest = await read(audiences().everyone(projectId).pages({ from: all[12]!.endpointHash }));
  expect(rest).toEqual(all.slice(12));
});

test('a recipient has only the fields that a push needs', async () => {
  const projectId = await database.createProject();
  const [subscribed] = await subscribe(projectId, ['u1']);
  const { endpoint, keys } = subscribed!;
  const recipient = { endpoint, endpointHash: endpointHash(endpoint), ...keys };
  expect(await read(audiences().everyone(projectId).pages())).toEqual([recipient]);
  expect(await read(audiences().users(projectId, ['u1']).pages())).toEqual([recipient]);
});

test('users returns all subscribers with the given user ids', async () => {
  const projectId = await database.createProject();
  const ids = Array.from({ length: 60 }, (_, index) => `u${index}`);
  const expected = await subscribe(projectId, [...ids, 'u0', 'u0']);
  await subscribe(projectId, ['someone else', undefined]);
  const users = audiences().users(projectId, [...ids, 'unknown']);
  expect(endpoints(await read(users.pages()))).toEqual(endpoints(expected));
});

test('removeGone deletes subscriptions and reduces the counter, except for those already deleted', async () => {
  const projectId = await database.createProject();
  const created = await subscribe(projectId, Array(130).fill(undefined));
  const store = subscriptionStore(database.dynamo, tables(), () => new Date());
  for (const { endpoint } of created.slice(0, 3)) await store.remove(projectId, endpoint);
  const gone = created.slice(0, 120).map(({ endpoint }) => endpointHash(endpoint));
  await audiences().removeGone(projectId, gone);
  const remaining = await read(audiences().everyone(projectId).pages());
  expect(endpoints(remaining)).toEqual(endpoints(created.slice(120)));
  expect(await database.usage(projectId, 'subscribers')).toBe(10);
});
