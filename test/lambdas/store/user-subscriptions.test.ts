import type { SubscriberCounter } from '../../../contract/project.ts';
import { endpointHash } from '../../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { subscriberCount } from '../../../lambdas/store/usage.ts';
import { userSubscriptions } from '../../../lambdas/store/user-subscriptions.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { subscription } from '../../fixtures/subscription.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const users = () => userSubscriptions(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);

function subscriptions() {
  const { SUBSCRIPTIONS_TABLE, USAGE_TABLE } = database.tables;
  const tables = { subscriptions: SUBSCRIPTIONS_TABLE, usage: USAGE_TABLE };
  return subscriptionStore(database.dynamo, tables, () => new Date());
}

async function createProject(subscriberCounter: SubscriberCounter = 'single') {
  return { projectId: await database.createProject(), subscriberCounter };
}
type TestProject = Awaited<ReturnType<typeof createProject>>;

/** @returns the endpoint hashes. */
async function subscribe(project: TestProject, userId: string, count: number) {
  const saved = Array.from({ length: count }, () => subscription({ userId }));
  await Promise.all(saved.map((one) => subscriptions().save(project, one, null)));
  return saved.map(({ endpoint }) => endpointHash(endpoint.href));
}

const counted = ({ projectId }: TestProject) =>
  subscriberCount(database.dynamo, database.tables.USAGE_TABLE)(projectId);

test.each(['single', 'parts'] as const)(
  'a user is removed in batches, with counts in the counter "%s"',
  async (counter) => {
    const project = await createProject(counter);
    await subscribe(project, 'ada', 101);
    await subscribe(project, 'bob', 1);
    expect(await users().count(project.projectId, 'ada')).toBe(101);
    expect(await users().remove(subscriptions(), project, 'ada')).toBe(101);
    expect(await users().count(project.projectId, 'ada')).toBe(0);
    expect(await users().remove(subscriptions(), project, 'ada')).toBe(0);
    expect(await counted(project)).toBe(1);
  },
);

test('a subscription that passes to another user after it was found is kept', async () => {
  const project = await createProject();
  const hashes = await subscribe(project, 'ada', 2);
  const passed = subscription({ userId: 'ada' });
  await subscriptions().save(project, passed, null);
  await subscriptions().save(project, { ...passed, userId: 'bob' }, null);
  const found = [...hashes, endpointHash(passed.endpoint.href)];
  expect(await subscriptions().removeOfUser(project, 'ada', found)).toBe(2);
  expect(await users().count(project.projectId, 'bob')).toBe(1);
  expect(await counted(project)).toBe(1);
});

test('a removal that fails is continued by the next', async () => {
  const project = await createProject();
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
  await expect(users().remove(failing, project, 'ada')).rejects.toThrow('a fault');
  expect(await counted(project)).toBe(51);
  expect(await users().remove(subscriptions(), project, 'ada')).toBe(51);
  expect(await counted(project)).toBe(0);
});

test('after its time nothing is read or removed', async () => {
  const project = await createProject();
  await subscribe(project, 'ada', 1);
  const over = AbortSignal.abort();
  const unavailable = { code: 'unavailable' };
  await expect(users().count(project.projectId, 'ada', over)).rejects.toMatchObject(unavailable);
  const removal = users().remove(subscriptions(), project, 'ada', over);
  await expect(removal).rejects.toMatchObject(unavailable);
  expect(await counted(project)).toBe(1);
});

test('more subscriptions than fit one page of DynamoDB are counted', async () => {
  const project = await createProject();
  // With 2,900 bytes each, 500 of them are more than 1 MB.
  const path = `/wpush/v2/${'x'.repeat(1900)}`;
  const saved = Array.from({ length: 500 }, (_, index) => {
    const href = `https://updates.push.services.mozilla.com${path}${index}`;
    const endpoint = { href, origin: new URL(href).origin, path: `${path}${index}` };
    return subscription({ userId: 'ﷺ'.repeat(256), endpoint });
  });
  for (const one of saved) await subscriptions().save(project, one, null);
  const before = database.calls();
  expect(await users().count(project.projectId, 'ﷺ'.repeat(256))).toBe(500);
  expect(database.calls() - before).toBeGreaterThan(1);
});
