import { DeleteCommand, type GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import type { IdentityKeyItem, ProjectItem } from '../../../lambdas/store/items.ts';
import {
  identityProjectStore,
  projectStore,
  signingProjectStore,
} from '../../../lambdas/store/projects.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { useDatabase } from '../../fixtures/database.ts';

let now: Date;

const database = useDatabase();
beforeEach(() => {
  now = new Date('2026-11-20T12:00:00Z');
});

const store = () => projectStore(database.dynamo, database.tables.PROJECTS_TABLE, () => now);

async function put(projectId: string, overrides: Partial<ProjectItem> = {}): Promise<void> {
  const Item: ProjectItem = {
    projectId,
    ref: `${projectId}-1` as ProjectRef,
    internalKey: new Uint8Array(32).fill(1),
    secretKeyHash: 'ab'.repeat(32),
    vapidPublicKey: 'public',
    vapidPair: 0,
    members: {},
    settings: { name: 'A project', userIds: 'signed' },
    createdAt: '2026-11-20T12:00:00.000Z',
    ...overrides,
  };
  await database.dynamo.send(new PutCommand({ TableName: database.tables.PROJECTS_TABLE, Item }));
}

async function putIdentity(projectId: string, others: Partial<IdentityKeyItem> = {}) {
  const Item: IdentityKeyItem = { projectId, identityKey: 'identity', ...others };
  const { identityKeys: TableName } = projectTables(database.tables);
  await database.dynamo.send(new PutCommand({ TableName, Item }));
}

test('find returns the fields that functions need', async () => {
  await put('found', { settings: { name: 'A project', subscriberCap: null, monthlySendCap: 5 } });
  expect(await store().find('found')).toEqual({
    projectId: 'found',
    ref: 'found-1',
    internalKey: new Uint8Array(32).fill(1),
    secretKeyHash: 'ab'.repeat(32),
    members: [],
    settings: {
      ...{ name: 'A project', subscriberCap: null, monthlySendCap: 5 },
      ...{ userIds: 'open', shownSample: 1, events: true },
    },
    vapid: { current: { number: 0, publicKey: 'public' } },
    createdAt: '2026-11-20T12:00:00.000Z',
  });
});

test('only the identity store returns what proves user ids', async () => {
  const { projects, vapidKeys, identityKeys } = projectTables(database.tables);
  await put('proven');
  await putIdentity('proven');
  const Item = { projectId: 'proven', privateKey: 'private' };
  await database.dynamo.send(new PutCommand({ TableName: vapidKeys, Item }));
  const identity = identityProjectStore(database.dynamo, { projects, identityKeys }, () => now);
  const proof = { identityKey: 'identity' };
  expect(await identity.find('proven')).toEqual({ ...(await store().find('proven')), ...proof });
  expect(await identity.find('absent')).toBeUndefined();
  const signing = signingProjectStore(database.dynamo, { projects, vapidKeys }, () => now);
  for (const other of [store(), signing]) {
    expect(JSON.stringify(await other.find('proven'))).not.toMatch(/identity/);
  }
});

test('a rotated project has its previous pair, which is one number lower', async () => {
  const { VAPID_KEYS_TABLE: vapidKeys, PROJECTS_TABLE: projects } = database.tables;
  await put('rotated', { vapidPublicKey: 'new', vapidPair: 3, previousVapidPublicKey: 'old' });
  const Item = { projectId: 'rotated', privateKey: 'new d', previousPrivateKey: 'old d' };
  await database.dynamo.send(new PutCommand({ TableName: vapidKeys, Item }));
  const signing = signingProjectStore(database.dynamo, { projects, vapidKeys }, () => now);
  expect((await store().find('rotated'))?.vapid).toEqual({
    current: { number: 3, publicKey: 'new' },
    previous: { number: 2, publicKey: 'old' },
  });
  expect((await signing.find('rotated'))?.vapid).toEqual({
    current: { number: 3, publicKey: 'new', privateKey: 'new d' },
    previous: { number: 2, publicKey: 'old', privateKey: 'old d' },
  });
});

test('a project is cached for 30 s', async () => {
  await put('changed');
  const one = store();
  await one.find('changed');
  await put('changed', { secretKeyHash: 'cd'.repeat(32) });
  now = new Date('2026-11-20T12:00:29.999Z');
  const before = database.calls();
  expect((await one.find('changed'))?.secretKeyHash).toBe('ab'.repeat(32));
  expect(database.calls()).toBe(before);
  now = new Date('2026-11-20T12:00:30Z');
  expect((await one.find('changed'))?.secretKeyHash).toBe('cd'.repeat(32));
});

test('for an unknown key a project is read again, at most once in 2 s', async () => {
  await put('replaced');
  const one = store();
  await one.find('replaced');
  await put('replaced', { secretKeyHash: 'cd'.repeat(32) });
  now = new Date('2026-11-20T12:00:01.999Z');
  const before = database.calls();
  expect(await one.findNewer('replaced')).toBeUndefined();
  now = new Date('2026-11-20T12:00:02Z');
  expect((await one.findNewer('replaced'))?.secretKeyHash).toBe('cd'.repeat(32));
  expect(await one.findNewer('replaced')).toBeUndefined();
  expect(database.calls()).toBe(before + 1);
  // It replaces the one in memory.
  expect((await one.find('replaced'))?.secretKeyHash).toBe('cd'.repeat(32));
});

test('an unknown project is cached for 2 s', async () => {
  const one = store();
  expect(await one.find('created-later')).toBeUndefined();
  await put('created-later');
  expect(await one.find('created-later')).toBeUndefined();
  expect(await one.findNewer('created-later')).toBeUndefined();
  now = new Date('2026-11-20T12:00:02Z');
  expect(await one.find('created-later')).toBeDefined();
});

test('a project that is gone when it is read again stays gone', async () => {
  await put('gone');
  const one = store();
  await one.find('gone');
  const { PROJECTS_TABLE: TableName } = database.tables;
  await database.dynamo.send(new DeleteCommand({ TableName, Key: { projectId: 'gone' } }));
  expect(await one.refresh('gone')).toBeUndefined();
  for (const second of ['00', '05', '10']) {
    now = new Date(`2026-11-20T12:00:${second}Z`);
    expect(await one.find('gone')).toBeUndefined();
  }
  await put('gone');
  expect(await one.refresh('gone')).toBeDefined();
  expect(await one.find('gone')).toBeDefined();
});

test('what a read has found is not replaced by one that began earlier', async () => {
  const responses: ((found: object) => void)[] = [];
  const dynamo = clientWith(() => new Promise((resolve) => responses.push(resolve)));
  const one = projectStore(dynamo, 'Projects', () => now);
  const reads = [one.find('shop'), one.refresh('shop')];
  responses[1]!({});
  await reads[1];
  responses[0]!({ Item: { projectId: 'shop', members: {} } });
  expect(await reads[0]).toBeDefined();
  expect(await one.find('shop')).toBeUndefined();
});

/** A store that finds the projects whose ids begin with `real`. A thousand calls of a database take seconds. */
function storeOfMany() {
  const reads: string[] = [];
  const dynamo = clientWith(async ({ input }: GetCommand) => {
    const { projectId } = input.Key as { projectId: string };
    reads.push(projectId);
    return projectId.startsWith('real') ? { Item: { projectId, members: {} } } : {};
  });
  const one = projectStore(dynamo, 'Projects', () => now);
  /** Which of the projects it has in memory. */
  const remembered = async (...ids: readonly string[]) => {
    const before = reads.length;
    for (const id of ids) await one.find(id);
    return ids.filter((id) => !reads.slice(before).includes(id));
  };
  return { one, remembered };
}

test('unknown projects do not evict known projects from the cache', async () => {
  const { one, remembered } = storeOfMany();
  await one.find('real');
  for (let index = 0; index < 1001; index += 1) await one.find(`unknown-${index}`);
  // Only the oldest unknown project was evicted.
  expect(await remembered('real', 'unknown-1', 'unknown-0')).toEqual(['real', 'unknown-1']);
});

test('the least recently used project is evicted from the cache', async () => {
  const { one, remembered } = storeOfMany();
  for (let index = 0; index < 1000; index += 1) await one.find(`real-${index}`);
  await one.find('real-0');
  await one.find('real-1000');
  expect(await remembered('real-0', 'real-2', 'real-1')).toEqual(['real-0', 'real-2']);
});
