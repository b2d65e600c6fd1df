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
  const made = userIds.map((userId) => subscription({ userId }));
  await Promise.all(made.map((one) => store.save(projectId, one, null)));
  return made;
}

async function read(pages: AsyncIterable<readonly Recipient[]>): Promise<Recipient[]> {
  const all: Recipient[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

function endpoints(of: readonly { endpoint: string }[]): string[] {
  return of.map(({ endpoint }) => endpoint).sort();
}

test('everyone is every subscriber of the project once, in the order of the hashes', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const made = await subscribe(projectId, Array(1200).fill(undefined));
  await subscribe(other, [undefined]);
  const everyone = await read(audiences().everyone(projectId).pages());
  expect(endpoints(everyone)).toEqual(endpoints(made));
  const hashes = everyone.map((one) => one.endpointHash);
  expect(hashes).toEqual([...hashes].sort());
});

test('everyone can be read again from one subscriber on', async () => {
  const projectId = await database.createProject();
  await subscribe(projectId, Array(20).fill(undefined));
  const all = await read(audiences().everyone(projectId).pages());
  const rest = await read(audiences().everyone(projectId).pages({ from: all[12]!.endpointHash }));
  expect(rest).toEqual(all.slice(12));
});

test('a recipient carries what a push needs and no more', async () => {
  const projectId = await database.createProject();
  const [one] = await subscribe(projectId, ['u1']);
  const { endpoint, keys } = one!;
  const recipient = { endpoint, endpointHash: endpointHash(endpoint), ...keys };
  expect(await read(audiences().everyone(projectId).pages())).toEqual([recipient]);
  expect(await read(audiences().users(projectId, ['u1']).pages())).toEqual([recipient]);
});

test('users are the subscribers under these user ids, whatever their number', async () => {
  const projectId = await database.createProject();
  const ids = Array.from({ length: 60 }, (_, index) => `u${index}`);
  const wanted = await subscribe(projectId, [...ids, 'u0', 'u0']);
  await subscribe(projectId, ['someone else', undefined]);
  const users = audiences().users(projectId, [...ids, 'unknown']);
  expect(endpoints(await read(users.pages()))).toEqual(endpoints(wanted));
});

test('the gone are deleted and uncounted, those absent already passed over', async () => {
  const projectId = await database.createProject();
  const made = await subscribe(projectId, Array(130).fill(undefined));
  const store = subscriptionStore(database.dynamo, tables(), () => new Date());
  for (const { endpoint } of made.slice(0, 3)) await store.remove(projectId, endpoint);
  const gone = made.slice(0, 120).map(({ endpoint }) => endpointHash(endpoint));
  await audiences().removeGone(projectId, gone);
  const left = await read(audiences().everyone(projectId).pages());
  expect(endpoints(left)).toEqual(endpoints(made.slice(120)));
  expect(await database.usage(projectId, 'subscribers')).toBe(10);
});
