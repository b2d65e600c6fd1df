import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { SubscriberCounter } from '../../../contract/project.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import type { CountedProject } from '../../../lambdas/store/subscription-keys.ts';
import {
  endpointHash,
  positionCount,
  subscriberPeriods,
  subscriptionKey,
} from '../../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { subscriberCount } from '../../../lambdas/store/usage.ts';
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

async function createProject(subscriberCounter: SubscriberCounter = 'single') {
  return { projectId: await database.createProject(), subscriberCounter };
}

async function itemOf(projectId: string, href: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({
      TableName: database.tables.SUBSCRIPTIONS_TABLE,
      Key: subscriptionKey(projectId, endpointHash(href)),
    }),
  );
  return Item;
}

/** The sum of the subscriber counters, and the number of items. */
async function countsOf({ projectId }: { projectId: string }) {
  const audiences = audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
  const { recipients } = await audiences.everyone(
    projectId,
    { from: 0, to: positionCount },
    { limit: 10_000, consistent: true },
  );
  const count = subscriberCount(database.dynamo, database.tables.USAGE_TABLE);
  return { counter: await count(projectId), items: recipients.length };
}

/** The single counter, then the parts. */
function countersOf({ projectId }: { projectId: string }) {
  return Promise.all(subscriberPeriods.map((period) => database.usage(projectId, period)));
}

function hashesOf(subscriptions: readonly { endpoint: { href: string } }[]) {
  return subscriptions.map(({ endpoint }) => endpointHash(endpoint.href));
}

test('a new endpoint is stored and counted', async () => {
  const project = await createProject();
  const { endpoint, keys } = subscription();
  expect(await store().save(project, { endpoint, keys, userId: 'u1' }, 10)).toBe('created');
  expect(await itemOf(project.projectId, endpoint.href)).toEqual({
    projectPart: expect.stringMatching(new RegExp(`^${project.projectId}#[0-7]$`)),
    endpointHash: new Uint8Array(endpointHash(endpoint.href)),
    origin: endpoint.origin,
    path: endpoint.path,
    ...keys,
    projectUser: `${project.projectId}#u1`,
    createdAt: now.getTime(),
    updatedAt: now.getTime(),
  });
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a repeated endpoint is updated and not counted again', async () => {
  const project = await createProject();
  const first = subscription({ userId: 'u1' });
  await store().save(project, first, 10);
  now = new Date('2026-11-21T00:00:00Z');
  const keys = { ...first.keys, auth: new Uint8Array(16).fill(7) };
  expect(await store().save(project, { ...first, keys, userId: 'u2' }, 10)).toBe('updated');
  expect(await itemOf(project.projectId, first.endpoint.href)).toMatchObject({
    auth: keys.auth,
    projectUser: `${project.projectId}#u2`,
    createdAt: Date.parse('2026-11-20T12:00:00Z'),
    updatedAt: Date.parse('2026-11-21T00:00:00Z'),
  });
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('an update without a user id removes it', async () => {
  const project = await createProject();
  const first = subscription({ userId: 'u1' });
  await store().save(project, first, 10);
  await store().save(project, { endpoint: first.endpoint, keys: first.keys }, 10);
  expect(await itemOf(project.projectId, first.endpoint.href)).not.toHaveProperty('projectUser');
});

describe('the key pair of a subscription', () => {
  const pairOf = async ({ projectId }: CountedProject, href: string) =>
    (await itemOf(projectId, href))?.pair;

  test('is the one that the request names, or else the assumed one', async () => {
    const project = await createProject();
    const [named, assumed, first] = [subscription(), subscription(), subscription()];
    await store().save(project, { ...named, pair: 1, assumedPair: 2 }, null);
    await store().save(project, { ...assumed, assumedPair: 2 }, null);
    await store().save(project, { ...first, assumedPair: 0 }, null);
    expect(await pairOf(project, named.endpoint.href)).toBe(1);
    expect(await pairOf(project, assumed.endpoint.href)).toBe(2);
    expect(await itemOf(project.projectId, first.endpoint.href)).not.toHaveProperty('pair');
  });

  test('stays if an update does not name one', async () => {
    const project = await createProject();
    const one = subscription();
    await store().save(project, { ...one, pair: 1 }, null);
    await store().save(project, { ...one, assumedPair: 2 }, null);
    expect(await pairOf(project, one.endpoint.href)).toBe(1);
    await store().save(project, { ...one, pair: 2 }, null);
    expect(await pairOf(project, one.endpoint.href)).toBe(2);
    await store().save(project, { ...one, pair: 0 }, null);
    expect(await itemOf(project.projectId, one.endpoint.href)).not.toHaveProperty('pair');
  });

  test('is corrected if the subscription exists', async () => {
    const project = await createProject();
    const [one, missing] = [subscription({ userId: 'u1' }), subscription()];
    await store().save(project, { ...one, pair: 2 }, null);
    const before = await itemOf(project.projectId, one.endpoint.href);
    for (const { endpoint } of [one, missing]) {
      await store().correctPair(project.projectId, endpointHash(endpoint.href), 1);
    }
    expect(await itemOf(project.projectId, one.endpoint.href)).toEqual({ ...before, pair: 1 });
    await store().correctPair(project.projectId, endpointHash(one.endpoint.href), 0);
    expect(await pairOf(project, one.endpoint.href)).toBeUndefined();
    expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
  });
});

test('at the cap a new endpoint is refused and an existing one updated', async () => {
  const project = await createProject();
  const existing = subscription();
  await store().save(project, existing, 1);
  expect(await store().save(project, subscription(), 1)).toBe('cap_reached');
  expect(await store().save(project, { ...existing, userId: 'u1' }, 1)).toBe('updated');
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a cap of null does not limit', async () => {
  const project = await createProject();
  expect(await store().save(project, subscription(), null)).toBe('created');
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

// A project that is being deleted has no counter.
test('nothing is stored for a project without a subscriber counter', async () => {
  const target = subscription();
  for (const subscriberCounter of ['single', 'parts'] as const) {
    const project = { projectId: 'no-such-project', subscriberCounter };
    expect(await store().save(project, target, null)).toBe('project_gone');
    expect(await store().save(project, target, 10)).toBe('project_gone');
    expect(await countsOf(project)).toEqual({ counter: 0, items: 0 });
  }
});

test('1,000 concurrent subscribers with a cap of 300 become 300 subscribers', async () => {
  const project = await createProject();
  const saves = Array.from({ length: 1000 }, () => store().save(project, subscription(), 300));
  const outcomes = await Promise.all(saves);
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(300);
  expect(outcomes.filter((outcome) => outcome === 'cap_reached')).toHaveLength(700);
  expect(await countsOf(project)).toEqual({ counter: 300, items: 300 });
});

test('20 concurrent requests with one endpoint create one subscription', async () => {
  const project = await createProject();
  const target = subscription();
  const saves = Array.from({ length: 20 }, () => store().save(project, target, 10));
  const outcomes = await Promise.all(saves);
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'updated')).toHaveLength(19);
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('10 concurrent removals reduce the counter once', async () => {
  const project = await createProject();
  const [stays, goes] = [subscription(), subscription()];
  await store().save(project, stays, 10);
  await store().save(project, goes, 10);
  const removals = Array.from({ length: 10 }, () => store().remove(project, goes.endpoint.href));
  const outcomes = await Promise.all(removals);
  expect(outcomes.filter((outcome) => outcome === 'removed')).toHaveLength(1);
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('removing an endpoint leaves it in other projects', async () => {
  const [one, other] = [await createProject(), await createProject()];
  const target = subscription();
  await store().save(one, target, 10);
  await store().save(other, target, 10);
  expect(await store().remove(one, target.endpoint.href)).toBe('removed');
  expect(await countsOf(other)).toEqual({ counter: 1, items: 1 });
});

test('a batch is removed and the counter reduced, except for those already deleted', async () => {
  const project = await createProject();
  const created = Array.from({ length: 60 }, () => subscription());
  await Promise.all(created.map((one) => store().save(project, one, null)));
  for (const { endpoint } of created.slice(0, 3)) await store().remove(project, endpoint.href);
  expect(await store().removeBatch(project, hashesOf(created.slice(0, 50)))).toBe(47);
  expect(await countsOf(project)).toEqual({ counter: 10, items: 10 });
  expect(await itemOf(project.projectId, created[50]!.endpoint.href)).toBeDefined();
});

test('a batch in which nothing exists changes no counter', async () => {
  const project = await createProject();
  const absent = Array.from({ length: 50 }, () => subscription());
  expect(await store().removeBatch(project, hashesOf(absent))).toBe(0);
  expect(await store().removeBatch(project, [])).toBe(0);
  expect(await countsOf(project)).toEqual({ counter: 0, items: 0 });
});

describe('a project that counts in parts', () => {
  test('counts each subscription in its part', async () => {
    const project = await createProject('parts');
    const created = Array.from({ length: 100 }, () => subscription());
    await Promise.all(created.map((one) => store().save(project, one, null)));
    const parts = Array<number>(8).fill(0);
    for (const hash of hashesOf(created)) parts[hash[0]! >> 5]! += 1;
    expect(await countersOf(project)).toEqual([0, ...parts]);
    expect(await countsOf(project)).toEqual({ counter: 100, items: 100 });
  });

  test('removes a batch from all its parts in one transaction', async () => {
    const project = await createProject('parts');
    const created = Array.from({ length: 50 }, () => subscription());
    await Promise.all(created.map((one) => store().save(project, one, null)));
    const before = database.calls();
    expect(await store().removeBatch(project, hashesOf(created))).toBe(50);
    expect(database.calls()).toBe(before + 1);
    expect(await countersOf(project)).toEqual(Array(9).fill(0));
  });

  test('may have parts below 0, after it counted in the single counter', async () => {
    const project = await createProject('parts');
    const [stays, goes] = [subscription(), subscription()];
    const single = { ...project, subscriberCounter: 'single' as const };
    await store().save(single, stays, null);
    await store().save(single, goes, null);
    expect(await store().remove(project, goes.endpoint.href)).toBe('removed');
    expect((await countersOf(project)).toSorted()).toEqual([-1, 0, 0, 0, 0, 0, 0, 0, 2]);
    expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
  });
});
