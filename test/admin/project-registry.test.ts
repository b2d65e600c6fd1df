import { randomBytes, randomUUID } from 'node:crypto';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type ProjectRegistry, projectRegistry } from '../../admin/project-registry.ts';
import type { ProjectTables } from '../../admin/project-tables.ts';
import { hashSecretKey } from '../../admin/secret-key.ts';
import { newVapidPair, readVapidPair } from '../../admin/vapid-pair.ts';
import { secretKeyPattern } from '../../contract/limits.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';

const now = new Date('2026-11-30T23:59:59.999Z');
const clock = () => now;

let database: Database;
let tables: ProjectTables;
let registry: ProjectRegistry;
let projectId: string;

beforeAll(async () => {
  database = await startDatabase();
  tables = projectTables(database.tables);
  registry = projectRegistry(database.dynamo, tables, clock);
});
afterAll(() => database.stop());
beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

const create = () => registry.create({ projectId, random: randomBytes });

const projectItem = () => itemOf(tables.projects);
const vapidKeyItem = () => itemOf(tables.vapidKeys);

async function itemOf(TableName: string) {
  const { Item } = await database.dynamo.send(new GetCommand({ TableName, Key: { projectId } }));
  return Item;
}

async function countItems(table: 'subscriptions' | 'notifications' | 'usage') {
  const { Count } = await database.dynamo.send(
    new QueryCommand({
      TableName: tables[table],
      KeyConditionExpression: 'projectId = :projectId',
      ExpressionAttributeValues: { ':projectId': projectId },
      Select: 'COUNT',
    }),
  );
  return Count;
}

const countAll = async () => ({
  subscriptions: await countItems('subscriptions'),
  notifications: await countItems('notifications'),
  usage: await countItems('usage'),
});

async function subscribe(count: number) {
  const store = subscriptionStore(database.dynamo, tables, clock);
  for (let made = 0; made < count; made += 1) await store.save(projectId, subscription(), null);
}

async function send() {
  const content = { title: 'Hello' };
  const store = sendStore(database.dynamo, tables);
  await store.begin({ projectId, id: randomUUID(), content, sentAt: now }, null);
}

describe('create', () => {
  it('stores the project, the hash of its secret key and its VAPID pair', async () => {
    const { project, secretKey } = await registry.create({
      projectId,
      name: 'Bells',
      plan: { subscriberCap: 5, monthlySendCap: null },
      random: randomBytes,
    });
    const item = await projectItem();
    expect(secretKey).toMatch(secretKeyPattern);
    expect(item).toEqual({
      projectId,
      name: 'Bells',
      apiKeyHash: hashSecretKey(secretKey),
      vapidPublicKey: project.vapidPublicKey,
      plan: { subscriberCap: 5, monthlySendCap: null },
      createdAt: now.toISOString(),
    });
    const key = await vapidKeyItem();
    expect(key).toEqual({ projectId, privateKey: expect.any(String) });
    expect(() => readVapidPair(item?.vapidPublicKey, key?.privateKey)).not.toThrow();
  });

  it('returns neither the hash nor the private VAPID key', async () => {
    const { project } = await create();
    const fields = { projectId, name: projectId, plan: {}, createdAt: now.toISOString() };
    expect(project).toEqual({ ...fields, vapidPublicKey: project.vapidPublicKey });
    expect(await registry.find(projectId)).toEqual(project);
  });

  it('stores a given VAPID pair', async () => {
    const vapid = newVapidPair();
    await registry.create({ projectId, vapid, random: randomBytes });
    expect(await projectItem()).toMatchObject({ vapidPublicKey: vapid.publicKey });
    expect(await vapidKeyItem()).toMatchObject({ privateKey: vapid.privateKey });
  });

  it('creates the counter that subscriptions need', async () => {
    await create();
    await subscribe(2);
    expect(await registry.usage(projectId)).toEqual({ subscribers: 2, month: '2026-11', sends: 0 });
  });

  it('refuses an id in use, and keeps its project unchanged', async () => {
    await create();
    const before = await projectItem();
    await expect(create()).rejects.toMatchObject({ name: 'ProjectExists' });
    expect(await projectItem()).toEqual(before);
  });

  it('succeeds once for concurrent calls with the same id', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, create));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.name).toBe('ProjectExists');
    }
  });
});

describe('find', () => {
  it('returns undefined for an unknown id', async () => {
    expect(await registry.find(projectId)).toBeUndefined();
  });
});

describe('list', () => {
  it('yields all projects of several pages', async () => {
    // DynamoDB ends a page at 1 MB: twelve names of 100 kB need two.
    const wanted = Array.from({ length: 12 }, () => `p-${randomUUID()}`);
    for (const id of wanted) {
      await registry.create({ projectId: id, name: 'n'.repeat(100_000), random: randomBytes });
    }
    const listed: string[] = [];
    for await (const project of registry.list()) {
      expect(project).not.toHaveProperty('apiKeyHash');
      listed.push(project.projectId);
    }
    expect(listed).toEqual(expect.arrayContaining(wanted));
    expect(new Set(listed).size).toBe(listed.length);
  });
});

describe('setPlan', () => {
  it('changes the given limits only', async () => {
    const plan = { subscriberCap: 1, monthlySendCap: 2, rateLimitPerMinute: 3 };
    await registry.create({ projectId, plan, random: randomBytes });
    const changed = await registry.setPlan(projectId, { subscriberCap: null, monthlySendCap: 9 });
    expect(changed.plan).toEqual({ ...plan, subscriberCap: null, monthlySendCap: 9 });
    expect(await registry.find(projectId)).toEqual(changed);
  });

  it('removes a limit that becomes the default', async () => {
    const plan = { subscriberCap: 1, monthlySendCap: 2 };
    await registry.create({ projectId, plan, random: randomBytes });
    const { plan: left } = await registry.setPlan(projectId, { subscriberCap: 'default' });
    expect(left).toEqual({ monthlySendCap: 2 });
  });

  it('creates no project for an unknown id', async () => {
    await expect(registry.setPlan(projectId, { subscriberCap: 1 })).rejects.toMatchObject({
      name: 'ProjectNotFound',
    });
    expect(await projectItem()).toBeUndefined();
  });
});

describe('rotateKey', () => {
  it('replaces the secret key only', async () => {
    await create();
    const before = await projectItem();
    const { secretKey } = await registry.rotateKey(projectId, randomBytes);
    expect(await projectItem()).toEqual({ ...before, apiKeyHash: hashSecretKey(secretKey) });
    expect(before?.apiKeyHash).not.toBe(hashSecretKey(secretKey));
  });

  it('keeps the previous key for the grace period, until the next rotation', async () => {
    await create();
    const before = await projectItem();
    const first = await registry.rotateKey(projectId, randomBytes, 60_000);
    expect(await projectItem()).toEqual({
      ...before,
      apiKeyHash: hashSecretKey(first.secretKey),
      previousKeyHash: before?.apiKeyHash,
      previousKeyUntil: new Date(clock().getTime() + 60_000).toISOString(),
    });
    expect(first.project).not.toHaveProperty('previousKeyHash');
    const second = await registry.rotateKey(projectId, randomBytes);
    expect(await projectItem()).toEqual({ ...before, apiKeyHash: hashSecretKey(second.secretKey) });
  });

  it('creates no project for an unknown id', async () => {
    await expect(registry.rotateKey(projectId, randomBytes)).rejects.toMatchObject({
      name: 'ProjectNotFound',
    });
    expect(await projectItem()).toBeUndefined();
  });
});

describe('usage', () => {
  it('counts the sends of the current UTC month', async () => {
    await create();
    await send();
    await send();
    expect(await registry.usage(projectId)).toMatchObject({ month: '2026-11', sends: 2 });

    const nextMonth = () => new Date(now.getTime() + 1);
    const later = projectRegistry(database.dynamo, tables, nextMonth);
    expect(await later.usage(projectId)).toMatchObject({ month: '2026-12', sends: 0 });
  });
});

describe('remove', () => {
  it('deletes the project and all its items, and keeps other projects', async () => {
    const other = projectId;
    await create();
    await subscribe(3);
    projectId = `p-${randomUUID()}`;
    await create();
    await subscribe(60);
    await send();

    const removed = await registry.remove(projectId, randomBytes);
    expect(removed).toEqual({ subscriptions: 60, notifications: 1, usage: 1 });
    expect(await registry.find(projectId)).toBeUndefined();
    expect(await vapidKeyItem()).toBeUndefined();
    expect(await countAll()).toEqual({ subscriptions: 0, notifications: 0, usage: 0 });
    projectId = other;
    expect(await vapidKeyItem()).toBeDefined();
    expect(await countAll()).toEqual({ subscriptions: 3, notifications: 0, usage: 1 });
  });

  it('reports its progress after each page', async () => {
    await create();
    await fill(600);
    const progress: number[] = [];
    await registry.remove(projectId, randomBytes, ({ subscriptions }) =>
      progress.push(subscriptions),
    );
    expect(progress[0]).toBeLessThan(600);
    expect(progress.at(-1)).toBe(600);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  });

  it('deletes subscriptions that are added at the same time', async () => {
    await create();
    const store = subscriptionStore(database.dynamo, tables, clock);
    const saves = Array.from({ length: 60 }, () => store.save(projectId, subscription(), null));
    await Promise.race(saves);
    await registry.remove(projectId, randomBytes);
    await Promise.all(saves);
    expect(await countAll()).toEqual({ subscriptions: 0, notifications: 0, usage: 0 });
  });

  it('continues after an interruption, and blocks the id until it finishes', async () => {
    await create();
    await subscribe(3);
    await send();
    const before = async (call: number) => {
      // By then it has closed the counter, deleted the subscriptions and read the notifications.
      if (call === 5) throw new Error('The connection broke.');
    };
    const broken = registryWithHooks({ before });
    await expect(broken.remove(projectId, randomBytes)).rejects.toThrow('The connection broke.');

    expect(await registry.find(projectId)).toBeUndefined();
    await expect(create()).rejects.toMatchObject({ name: 'ProjectRemovalIncomplete' });
    const rest = await registry.remove(projectId, randomBytes);
    expect(rest).toEqual({ subscriptions: 0, notifications: 1, usage: 1 });
    await create();
    expect(await registry.usage(projectId)).toMatchObject({ subscribers: 0 });
  });

  it('blocks the id until its last call, and keeps the counter of a new project', async () => {
    await create();
    await subscribe(3);
    const outcomes: string[] = [];
    const after = async () => {
      outcomes.push(
        await create().then(
          () => 'created',
          (error: Error) => error.name,
        ),
      );
    };
    await registryWithHooks({ after }).remove(projectId, randomBytes);
    expect(outcomes.pop()).toBe('created');
    expect(new Set(outcomes)).toEqual(new Set(['ProjectRemovalIncomplete']));
    await subscribe(1);
    expect(await registry.usage(projectId)).toMatchObject({ subscribers: 1 });
  });

  it('deletes nothing of a new project after another call has finished the removal', async () => {
    await create();
    await subscribe(3);
    let calls = 0;
    const after = async () => {
      calls += 1;
    };
    await registryWithHooks({ after }).remove(projectId, randomBytes);
    for (let late = 1; late < calls; late += 1) {
      projectId = `p-${randomUUID()}`;
      await create();
      await subscribe(3);
      const before = async (call: number) => {
        if (call !== late) return;
        await registry.remove(projectId, randomBytes);
        await create();
        await subscribe(2);
      };
      await registryWithHooks({ before }).remove(projectId, randomBytes);
      expect({ late, ...(await countAll()) }).toMatchObject({ late, subscriptions: 2, usage: 1 });
      expect(await registry.usage(projectId)).toMatchObject({ subscribers: 2 });
    }
  });

  it('allows concurrent calls', async () => {
    await create();
    await subscribe(300);
    const removals = await Promise.all(
      [1, 2, 3].map(() => registry.remove(projectId, randomBytes)),
    );
    expect(removals).toHaveLength(3);
    expect(await countAll()).toEqual({ subscriptions: 0, notifications: 0, usage: 0 });
  });

  it('fails for an unknown project', async () => {
    await expect(registry.remove(projectId, randomBytes)).rejects.toMatchObject({
      name: 'ProjectNotFound',
    });
  });
});

/** Writes subscriptions to the table without counting them. */
async function fill(count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    projectId,
    endpointHash: String(index),
  }));
  await Promise.all(
    items.map((Item) =>
      database.dynamo.send(new PutCommand({ TableName: tables.subscriptions, Item })),
    ),
  );
}

/** A registry that runs hooks before and after each database call. Calls are counted from 0. */
function registryWithHooks({
  before = async () => {},
  after = async () => {},
}: {
  before?: (call: number) => Promise<void>;
  after?: () => Promise<void>;
}) {
  const { dynamo } = database;
  let calls = 0;
  const send = async (command: GetCommand) => {
    await before(calls);
    calls += 1;
    const output = await dynamo.send(command);
    await after();
    return output;
  };
  return projectRegistry(Object.create(dynamo, { send: { value: send } }), tables, clock);
}
