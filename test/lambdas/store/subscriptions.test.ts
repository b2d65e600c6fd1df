import { BatchWriteCommand, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { pruneSubscriptions } from '../../../admin/store/all-subscriptions.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { audienceStore, eraseFound, userSubscriptions } from '../../../lambdas/store/audience.ts';
import { readParts, subscriberCounter, sumOf } from '../../../lambdas/store/counters.ts';
import {
  endpointHash,
  positionCount,
  projectUser,
  subscriptionKey,
} from '../../../lambdas/store/items.ts';
import {
  type SavedSubscription,
  type SubscriptionStore,
  subscriptionStore,
} from '../../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { subscription } from '../../fixtures/subscription.ts';

const database = useDatabase();

let now: Date;
beforeEach(() => {
  now = new Date('2026-11-20T12:00:00Z');
});

const store = () => subscriptionStore(database.dynamo, projectTables(database.tables), () => now);

async function itemOf(project: ProjectRef, href: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({
      TableName: database.tables.SUBSCRIPTIONS_TABLE,
      Key: subscriptionKey(project, endpointHash(keyed(project), href)),
    }),
  );
  return Item;
}

/** The subscriber counter, and the number of items. */
async function countsOf(project: ProjectRef) {
  const audiences = audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
  const { recipients } = await audiences.everyone(
    project,
    { from: 0, to: positionCount },
    { limit: 10_000, consistent: true, conditions: {}, sentAt: Date.parse('2030-01-01') },
  );
  return { counter: sumOf(await partsOf(project)), items: recipients.length };
}

function partsOf(project: ProjectRef) {
  return readParts(database.dynamo, subscriberCounter(database.tables.USAGE_TABLE, project));
}

function hashesOf(project: ProjectRef, subscriptions: readonly { endpoint: { href: string } }[]) {
  return subscriptions.map(({ endpoint }) => endpointHash(keyed(project), endpoint.href));
}

test('a new endpoint is stored and counted', async () => {
  const { ref: project } = await database.createProject();
  const { endpoint, keys } = subscription();
  expect(await store().save(keyed(project), { endpoint, keys, choice: { userId: 'u1' } }, 10)).toBe(
    'created',
  );
  expect(await itemOf(project, endpoint.href)).toEqual({
    projectPart: expect.stringMatching(new RegExp(`^${project}#[0-7]$`)),
    endpointHash: new Uint8Array(endpointHash(keyed(project), endpoint.href)),
    origin: endpoint.origin,
    path: endpoint.path,
    ...keys,
    projectUser: `${project}#u1`,
    userSince: now.getTime(),
    createdAt: now.getTime(),
    updatedAt: now.getTime(),
  });
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a repeated endpoint is updated and not counted again', async () => {
  const { ref: project } = await database.createProject();
  const first = subscription({ choice: { userId: 'u1' } });
  await store().save(keyed(project), first, 10);
  now = new Date('2026-11-21T00:00:00Z');
  const keys = { ...first.keys, auth: new Uint8Array(16).fill(7) };
  expect(await store().save(keyed(project), { ...first, keys, choice: { userId: 'u2' } }, 10)).toBe(
    'updated',
  );
  expect(await itemOf(project, first.endpoint.href)).toMatchObject({
    auth: keys.auth,
    projectUser: `${project}#u2`,
    createdAt: Date.parse('2026-11-20T12:00:00Z'),
    updatedAt: Date.parse('2026-11-21T00:00:00Z'),
  });
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a stored time that is far in the future is that of a wrong clock, and no later request', async () => {
  const { ref: project } = await database.createProject();
  const one = subscription({ choice: { userId: 'ann' } });
  const save = (userId: string, requestedAt: number) =>
    store().save(keyed(project), { ...one, choice: { userId }, requestedAt }, null);
  await save('ann', now.getTime() + 60_000);
  expect(await save('bob', now.getTime())).toBe('updated');
  expect(await itemOf(project, one.endpoint.href)).toMatchObject({ projectUser: `${project}#ann` });
  now = new Date(now.getTime() - 1);
  expect(await save('bob', now.getTime())).toBe('updated');
  expect(await itemOf(project, one.endpoint.href)).toMatchObject({
    projectUser: `${project}#bob`,
    updatedAt: now.getTime(),
  });
});

describe('the key pair of a subscription', () => {
  const pairOf = async (project: ProjectRef, href: string) =>
    (await itemOf(project, href))?.vapidPairNumber;

  test('is corrected if the subscription exists', async () => {
    const { ref: project } = await database.createProject();
    const [one, missing] = [subscription({ choice: { userId: 'u1' } }), subscription()];
    await store().save(keyed(project), { ...one, vapidPairNumber: 2 }, null);
    const before = await itemOf(project, one.endpoint.href);
    now = new Date('2026-11-21T00:00:00Z');
    for (const { endpoint } of [one, missing]) {
      await store().correctPair(project, endpointHash(keyed(project), endpoint.href), 1);
    }
    expect(await itemOf(project, one.endpoint.href)).toEqual({ ...before, vapidPairNumber: 1 });
    await store().correctPair(project, endpointHash(keyed(project), one.endpoint.href), 0);
    expect(await pairOf(project, one.endpoint.href)).toBeUndefined();
    expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
  });
});

test('a full project is full for five seconds, unless its cap changes', async () => {
  const { ref: project } = await database.createProject();
  const stored = store();
  const existing = subscription();
  await stored.save(keyed(project), existing, 1);
  expect(await stored.save(keyed(project), subscription(), 1)).toBe('cap_reached');
  await stored.removeBatch(project, hashesOf(project, [existing]));
  now = new Date(now.getTime() + 4999);
  expect(await stored.save(keyed(project), subscription(), 1)).toBe('cap_reached');
  expect(await stored.save(keyed(project), subscription(), 2)).toBe('created');
  now = new Date(now.getTime() + 1);
  expect(await stored.save(keyed(project), subscription(), 2)).toBe('created');
  expect(await stored.save(keyed(project), subscription(), 2)).toBe('cap_reached');
});

// A project that is being deleted has no counter.
test('nothing is stored for a project without a subscriber counter', async () => {
  const unknown = 'unknown' as ProjectRef;
  const target = subscription();
  for (const cap of [null, 10, 1]) {
    expect(await store().save(keyed(unknown), target, cap)).toBe('project_gone');
    expect(await countsOf(unknown)).toEqual({ counter: 0, items: 0 });
  }
});

test('a request that meets a concurrent creation of its endpoint is stored', async () => {
  const { ref: project } = await database.createProject();
  const target = subscription();
  const { dynamo, tables } = database;
  let isFirst = true;
  const send = async (command: TransactWriteCommand) => {
    // Between the update, which finds nothing, and the creation.
    if (command instanceof TransactWriteCommand && isFirst) {
      isFirst = false;
      await store().save(keyed(project), { ...target, choice: { userId: 'first' } }, 10);
    }
    return dynamo.send(command);
  };
  const meeting = subscriptionStore(
    Object.create(dynamo, { send: { value: send } }),
    projectTables(tables),
    () => now,
  );
  expect(await meeting.save(keyed(project), { ...target, choice: { userId: 'second' } }, 10)).toBe(
    'updated',
  );
  expect(await itemOf(project, target.endpoint.href)).toMatchObject({
    projectUser: `${project}#second`,
  });
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a batch is removed and the counter reduced, except for those already deleted', async () => {
  const { ref: project } = await database.createProject();
  const created = Array.from({ length: 60 }, () => subscription());
  await Promise.all(created.map((one) => store().save(keyed(project), one, null)));
  const deleted = [1, 20, 49].map((index) => created[index]!);
  expect(await store().removeBatch(project, hashesOf(project, deleted))).toBe(3);
  expect(await store().removeBatch(project, hashesOf(project, created.slice(0, 50)))).toBe(47);
  expect(await countsOf(project)).toEqual({ counter: 10, items: 10 });
  expect(await itemOf(project, created[50]!.endpoint.href)).toBeDefined();
});

test('a subscription that is twice in a batch is removed and counted once', async () => {
  const { ref: project } = await database.createProject();
  const created = Array.from({ length: 3 }, () => subscription());
  for (const one of created) await store().save(keyed(project), one, null);
  const [first, second] = hashesOf(project, created);
  expect(await store().removeBatch(project, [first!, second!, Buffer.from(first!)])).toBe(2);
  expect(await countsOf(project)).toEqual({ counter: 1, items: 1 });
});

test('a batch in which nothing exists changes no counter', async () => {
  const { ref: project } = await database.createProject();
  const absent = Array.from({ length: 50 }, () => subscription());
  expect(await store().removeBatch(project, hashesOf(project, absent))).toBe(0);
  expect(await store().removeBatch(project, [])).toBe(0);
  expect(await countsOf(project)).toEqual({ counter: 0, items: 0 });
});

describe('subscriptions of a user', () => {
  const users = () => userSubscriptions(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);

  const subscriptions = () =>
    subscriptionStore(database.dynamo, projectTables(database.tables), () => new Date());

  async function removeUser(
    removals: Parameters<typeof eraseFound>[0],
    project: ProjectRef,
    userId: string,
    signal?: AbortSignal,
  ) {
    const found = await users().endpointHashes(keyed(project), { userId }, signal);
    return eraseFound(removals, project, userId, found, signal);
  }

  /** @returns the endpoint hashes. */
  async function subscribe(project: ProjectRef, userId: string, count: number) {
    const saved = Array.from({ length: count }, () => subscription({ choice: { userId } }));
    await Promise.all(saved.map((one) => subscriptions().save(keyed(project), one, null)));
    return saved.map(({ endpoint }) => endpointHash(keyed(project), endpoint.href));
  }

  const counted = (project: ProjectRef) => database.usage(project, 'subscribers');

  test('a removal that fails is continued by the next', async () => {
    const { ref: project } = await database.createProject();
    await subscribe(project, 'ada', 101);
    let batches = 0;
    const failing = {
      erase: async (...batch: Parameters<ReturnType<typeof subscriptions>['erase']>) => {
        batches += 1;
        if (batches === 2) throw new Error('a fault');
        return subscriptions().erase(...batch);
      },
    };
    await expect(removeUser(failing, project, 'ada')).rejects.toThrow('a fault');
    expect(await counted(project)).toBe(52);
    expect(await removeUser(subscriptions(), project, 'ada')).toBe(52);
    expect(await counted(project)).toBe(0);
  });

  test('more subscriptions than fit one page of DynamoDB are counted and found', async () => {
    const { ref: project } = await database.createProject();
    // With 900 bytes each in the index, 1,300 of them are more than 1 MB.
    const path = '/wpush/v2/';
    const userId = 'ﷺ'.repeat(256);
    const origin = 'https://updates.push.services.mozilla.com';
    const requests = Array.from({ length: 1300 }, (_, index) => {
      const key = subscriptionKey(
        project,
        endpointHash(keyed(project), `${origin}${path}${index}`),
      );
      const Item = {
        ...{
          ...key,
          origin,
          path: `${path}${index}`,
          projectUser: projectUser(project, userId),
          userSince: 1,
        },
        ...subscription().keys,
      };
      return { PutRequest: { Item } };
    });
    for (let start = 0; start < requests.length; start += 25) {
      const batch = requests.slice(start, start + 25);
      const RequestItems = { [database.tables.SUBSCRIPTIONS_TABLE]: batch };
      await database.dynamo.send(new BatchWriteCommand({ RequestItems }));
    }
    const before = database.calls();
    expect(await users().list(keyed(project), { userId })).toMatchObject({ count: 1300 });
    expect(database.calls() - before).toBeGreaterThan(1);
    let found = 0;
    for await (const hashes of await users().endpointHashes(keyed(project), { userId })) {
      found += hashes.length;
    }
    expect(found).toBe(1300);
  });
});

describe('subscriptions that were not seen', () => {
  let project: ProjectRef;

  beforeEach(async () => {
    project = (await database.createProject()).ref;
  });

  const before = Date.parse('2026-06-01T00:00:00Z');

  function storeAt(time: number) {
    const tables = projectTables(database.tables);
    return subscriptionStore(database.dynamo, tables, () => new Date(time));
  }

  async function save(count: number, time: number): Promise<readonly SavedSubscription[]> {
    const saved = Array.from({ length: count }, () => subscription());
    await Promise.all(saved.map((one) => storeAt(time).save(keyed(project), one, null)));
    return saved;
  }

  function prune(
    removeUnwanted: SubscriptionStore['removeUnwanted'] = storeAt(before).removeUnwanted,
    onProgress?: (read: number) => void,
  ) {
    const { dynamo, tables } = database;
    const deps = { dynamo, table: tables.SUBSCRIPTIONS_TABLE, subscriptions: { removeUnwanted } };
    return pruneSubscriptions(deps, project, { updatedBefore: before }, false, onProgress);
  }

  const counted = () => database.usage(project, 'subscribers');

  test('subscriptions that were updated before the time are removed, with counts', async () => {
    await save(3, before - 1);
    await save(2, before);
    const other = (await database.createProject()).ref;
    await storeAt(before - 1).save(keyed(other), subscription(), null);
    expect(await prune()).toEqual({ removed: 3, kept: 2 });
    expect(await counted()).toBe(2);
    expect(await prune()).toEqual({ removed: 0, kept: 2 });
    expect(await database.usage(other, 'subscribers')).toBe(1);
  });

  test('a subscription that is updated after it was read is kept', async () => {
    const saved = await save(3, before - 1);
    let visits = 0;
    const afterVisit: SubscriptionStore['removeUnwanted'] = async (ref, time, hashes) => {
      const isRead = ({ endpoint }: SavedSubscription) =>
        Buffer.from(endpointHash(keyed(project), endpoint.href)).equals(hashes[0]!);
      if (visits === 0) await storeAt(before).save(keyed(project), saved.find(isRead)!, null);
      visits += 1;
      return storeAt(before).removeUnwanted(ref, time, hashes);
    };
    expect(await prune(afterVisit)).toEqual({ removed: 2, kept: 1 });
    expect(await counted()).toBe(1);
  });

  test('after an interruption, the next one removes the rest', async () => {
    await save(250, before - 1);
    let batches = 0;
    const interrupted: SubscriptionStore['removeUnwanted'] = async (...batch) => {
      batches += 1;
      if (batches === 3) throw new Error('interrupted');
      return storeAt(before).removeUnwanted(...batch);
    };
    await expect(prune(interrupted)).rejects.toThrow('interrupted');
    const left = await counted();
    expect([left > 0, left < 250]).toEqual([true, true]);
    expect(await prune()).toEqual({ removed: left, kept: 0 });
    expect(await counted()).toBe(0);
  });

  test('the number of subscriptions read grows to the number of all', async () => {
    await save(60, before - 1);
    await save(3, before);
    const progress: number[] = [];
    await prune(undefined, (read) => progress.push(read));
    expect(progress.at(-1)).toBe(63);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  });
});
