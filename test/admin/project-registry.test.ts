import { randomBytes, randomUUID } from 'node:crypto';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { hashKey, type ProjectRegistry, projectRegistry } from '../../admin/project-registry.ts';
import { newVapidPair, readVapidPair } from '../../admin/vapid-pair.ts';
import { projectTables } from '../../contract/infrastructure/tables.ts';
import { identityKeyPattern, secretKeyPattern } from '../../contract/wire/formats.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { authenticate } from '../../lambdas/http/authenticate.ts';
import { partPeriods } from '../../lambdas/store/counters.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { connect, useDatabase } from '../fixtures/database.ts';
import { newNotification, sendsOf } from '../lambdas/store/stored-notifications.ts';

const database = useDatabase();

const now = new Date('2026-11-30T23:59:59.999Z');
const clock = () => now;
let tables: ReturnType<typeof projectTables>;
let registry: ProjectRegistry;
let projectId: string;

beforeAll(() => {
  tables = projectTables(database.tables);
  registry = projectRegistry(database.dynamo, tables, clock);
});
beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

const create = () => registry.create({ projectId, random: randomBytes });

const projectItem = () => itemOf(tables.projects);
const vapidKeyItem = () => itemOf(tables.vapidKeys);
const identityKeyItem = () => itemOf(tables.identityKeys);

async function itemOf(TableName: string) {
  const { Item } = await database.dynamo.send(new GetCommand({ TableName, Key: { projectId } }));
  return Item;
}

async function subscriberParts(ref: ProjectRef) {
  const { Items } = await database.dynamo.send(
    new QueryCommand({
      TableName: tables.usage,
      KeyConditionExpression: 'projectRef = :ref AND begins_with(period, :subscribers)',
      ExpressionAttributeValues: { ':ref': ref, ':subscribers': 'subscribers#' },
    }),
  );
  return Items;
}

async function send(ref: ProjectRef) {
  await sendsOf(database).begin(newNotification(ref, now.toISOString()), 'r', null);
}

describe('create', () => {
  it('stores the project, the hash of its secret key, its identity key and its VAPID pair', async () => {
    const { project, secretKey, identityKey } = await registry.create({
      projectId,
      settings: { name: 'Bells', subscriberCap: 5, monthlySendCap: null },
      random: randomBytes,
    });
    const item = await projectItem();
    expect(secretKey).toMatch(secretKeyPattern);
    expect(identityKey).toMatch(identityKeyPattern);
    expect(item).toEqual({
      projectId,
      ref: project.ref,
      internalKey: expect.any(Uint8Array),
      members: {},
      secretKeyHash: hashKey(secretKey),
      vapidPublicKey: project.vapidPublicKey,
      settings: { name: 'Bells', subscriberCap: 5, monthlySendCap: null },
      vapidPair: 0,
      createdAt: now.toISOString(),
    });
    expect(await identityKeyItem()).toEqual({ projectId, identityKey });
    const key = await vapidKeyItem();
    expect(key).toEqual({ projectId, privateKey: expect.any(String) });
    expect(() => readVapidPair(item?.vapidPublicKey, key?.privateKey)).not.toThrow();
  });

  it('returns neither the hash, nor the identity key, nor the private VAPID key', async () => {
    const { project } = await create();
    const { ref, vapidPublicKey } = project;
    expect(project).toEqual({
      ...{ projectId, ref, settings: { name: projectId }, vapidPair: 0 },
      ...{ vapidPublicKey, createdAt: now.toISOString() },
    });
    expect(await registry.find(projectId)).toEqual(project);
  });

  it('stores a given VAPID pair', async () => {
    const vapid = newVapidPair();
    await registry.create({ projectId, vapid, random: randomBytes });
    expect(await projectItem()).toMatchObject({ vapidPublicKey: vapid.publicKey });
    expect(await vapidKeyItem()).toMatchObject({ privateKey: vapid.privateKey });
  });

  it('creates each part of the counter under a ref that no earlier project of the id had', async () => {
    const earlier = await create();
    await registry.remove(projectId);
    const { project } = await create();
    expect(project.ref).not.toBe(earlier.project.ref);
    expect(await subscriberParts(earlier.project.ref)).toEqual([]);
    expect(await subscriberParts(project.ref)).toEqual(
      partPeriods('subscribers')
        .toSorted()
        .map((period) => ({ projectRef: project.ref, period, used: 0 })),
    );
  });

  it('succeeds once for concurrent calls with the same id', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, create));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('project_exists');
    }
  });
});

describe('list', () => {
  it('yields all projects of several pages', async () => {
    // DynamoDB ends a page at 1 MB: twelve names of 100 kB need two.
    const wanted = Array.from({ length: 12 }, () => `p-${randomUUID()}`);
    for (const id of wanted) {
      await registry.create({
        projectId: id,
        settings: { name: 'n'.repeat(100_000) },
        random: randomBytes,
      });
    }
    const listed: string[] = [];
    for await (const project of registry.list()) {
      expect(project).not.toHaveProperty('secretKeyHash');
      listed.push(project.projectId);
    }
    expect(listed).toEqual(expect.arrayContaining(wanted));
    expect(new Set(listed).size).toBe(listed.length);
  });
});

describe('rotateKey', () => {
  it('keeps the previous key for the grace period, until the next rotation', async () => {
    await create();
    const before = await projectItem();
    const first = await registry.rotateKey(projectId, randomBytes, 60_000);
    expect(await projectItem()).toEqual({
      ...before,
      secretKeyHash: hashKey(first.secretKey),
      previousKeyHash: before?.secretKeyHash,
      previousKeyUntil: new Date(clock().getTime() + 60_000).toISOString(),
    });
    expect(first.project).not.toHaveProperty('previousKeyHash');
    const second = await registry.rotateKey(projectId, randomBytes);
    expect(await projectItem()).toEqual({
      ...before,
      secretKeyHash: hashKey(second.secretKey),
    });
  });
});

test.each([
  ['secret', 'previousKeyHash', (its: ProjectRegistry) => its.rotateKey(projectId, randomBytes, 1)],
  [
    'identity',
    'previousIdentityKey',
    (its: ProjectRegistry) => its.rotateIdentityKey(projectId, randomBytes, 1),
  ],
] as const)(
  'a rotation of the %s key that the SDK repeats keeps the previous key',
  async (_, attribute, rotate) => {
    await create();
    const before = { ...(await projectItem()), ...(await identityKeyItem()) };
    // The response to the first attempt is lost.
    const twice = connect(database.endpoint);
    twice.middlewareStack.add(
      (next) => async (args) => {
        await next(args);
        return next(args);
      },
      { step: 'deserialize', priority: 'low' },
    );
    const rotated = await rotate(projectRegistry(twice, tables, clock));
    twice.destroy();
    expect(rotated.project.projectId).toBe(projectId);
    const { secretKeyHash, identityKey } = before;
    const previous = attribute === 'previousKeyHash' ? secretKeyHash : identityKey;
    expect({ ...(await projectItem()), ...(await identityKeyItem()) }).toMatchObject({
      [attribute]: previous,
    });
  },
);

describe('rotateIdentityKey', () => {
  const rotate = (gracePeriodMs: number) =>
    registry.rotateIdentityKey(projectId, randomBytes, gracePeriodMs);

  it('keeps only the last key for the grace period', async () => {
    const { identityKey } = await create();
    const before = await projectItem();
    const first = await rotate(60_000);
    const previousIdentityKeyUntil = new Date(clock().getTime() + 60_000).toISOString();
    expect(await projectItem()).toEqual({ ...before, previousIdentityKeyUntil });
    expect(await identityKeyItem()).toEqual({
      projectId,
      identityKey: first.identityKey,
      previousIdentityKey: identityKey,
    });
    expect(first.project).toMatchObject({ previousIdentityKeyUntil });
    const second = await rotate(1);
    expect(await identityKeyItem()).toMatchObject({ previousIdentityKey: first.identityKey });
    const third = await rotate(0);
    expect(second.identityKey).not.toBe(third.identityKey);
    expect(await projectItem()).toEqual(before);
    expect(await identityKeyItem()).toEqual({ projectId, identityKey: third.identityKey });
  });
});

test('no operation creates an unknown project', async () => {
  for (const operation of [
    () => registry.set(projectId, { subscriberCap: 1 }),
    () => registry.set(projectId, { name: 'Bells' }),
    () => registry.rotateKey(projectId, randomBytes),
    () => registry.rotateIdentityKey(projectId, randomBytes, 0),
    () => registry.rotateVapid(projectId),
    () => registry.remove(projectId),
  ]) {
    await expect(operation()).rejects.toMatchObject({ name: 'ProjectNotFound' });
  }
  expect(await projectItem()).toBeUndefined();
  expect(await identityKeyItem()).toBeUndefined();
  expect(await vapidKeyItem()).toBeUndefined();
});

describe('usage', () => {
  it('counts the sends of the current UTC month', async () => {
    const { project } = await create();
    await send(project.ref);
    await send(project.ref);
    expect(await registry.usage(projectId)).toMatchObject({ month: '2026-11', sends: 2 });

    const nextMonth = () => new Date(now.getTime() + 1);
    const later = projectRegistry(database.dynamo, tables, nextMonth);
    expect(await later.usage(projectId)).toMatchObject({ month: '2026-12', sends: 0 });
  });
});

describe('members', () => {
  let now: Date;
  let registry: ProjectRegistry;
  let projectId: string;

  beforeEach(async () => {
    now = new Date('2026-11-20T12:00:00Z');
    registry = projectRegistry(database.dynamo, projectTables(database.tables), () => now);
    projectId = `p-${randomUUID()}`;
    await registry.create({ projectId, random: randomBytes });
  });

  const invite = (name: string, lifetimeMs?: number) =>
    registry.invite(projectId, { name, role: 'sender', lifetimeMs, random: randomBytes });

  test('members are listed without keys, the oldest first', async () => {
    await invite('Zoe');
    now = new Date('2026-11-20T12:00:01Z');
    const { expiresAt } = await invite('Ann.Lee #1', 1000);
    expect(expiresAt).toBe('2026-11-20T12:00:02.000Z');
    expect(await registry.members(projectId)).toEqual([
      { name: 'Zoe', role: 'sender', createdAt: '2026-11-20T12:00:00.000Z' },
      { name: 'Ann.Lee #1', role: 'sender', createdAt: '2026-11-20T12:00:01.000Z', expiresAt },
    ]);
  });

  test('a name is unique in its project, until its member is revoked', async () => {
    await invite('Ann');
    await expect(invite('Ann')).rejects.toMatchObject({ code: 'member_exists' });
    await registry.revoke(projectId, 'Ann');
    await invite('Ann');
  });

  test(`a project has at most ${limits.members} members, also if two are invited at once`, async () => {
    for (let made = 0; made < limits.members - 1; made += 1) await invite(`member ${made}`);
    const two = await Promise.allSettled([invite('Ann'), invite('Bob')]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(invite('Eve')).rejects.toMatchObject({ code: 'too_many_members' });
    expect(await registry.members(projectId)).toHaveLength(limits.members);
  });

  test('an unknown member or project cannot be revoked', async () => {
    for (const name of ['Ann', 'constructor']) {
      await expect(registry.revoke(projectId, name)).rejects.toMatchObject({
        code: 'member_not_found',
      });
    }
    const unknown = { code: 'project_not_found' };
    await expect(registry.revoke('no-such', 'Ann')).rejects.toMatchObject(unknown);
    await expect(registry.members('no-such')).rejects.toMatchObject(unknown);
    const member = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
    await expect(registry.invite('no-such', member)).rejects.toMatchObject(unknown);
  });

  test('an invitation whose response was lost is repeated with the same key', async () => {
    const send = database.dynamo.send.bind(database.dynamo) as (command: unknown) => Promise<never>;
    const twice = jest
      .spyOn(database.dynamo, 'send')
      .mockImplementation(async (command: unknown) => {
        await send(command);
        return send(command);
      });
    const { key } = await invite('Ann').finally(() => twice.mockRestore());
    expect(await roleWith(key)).toBe('sender');
  });

  /** A function of its own, which remembers the project. */
  function newFunction() {
    const store = projectStore(database.dynamo, database.tables.PROJECTS_TABLE, () => now);
    const { before } = authenticate(store, () => now);
    return async (key: string) => {
      const event = { ids: { projectId }, headers: { authorization: `Bearer ${key}` } };
      await before!({ event } as never);
      return (event as { access?: { role: string } }).access?.role;
    };
  }
  const roleWith = (key: string) => newFunction()(key);

  test('a revoked key is refused by all functions after 30 s', async () => {
    const { key } = await invite('Ann');
    const role = newFunction();
    expect(await role(key)).toBe('sender');
    await registry.revoke(projectId, 'Ann');
    expect(await roleWith(key)).toBeUndefined();
    now = new Date('2026-11-20T12:00:30Z');
    expect(await role(key)).toBeUndefined();
  });

  test('a new key works after 2 s, in all functions', async () => {
    const role = newFunction();
    const before = await invite('Ann');
    expect(await role(before.key)).toBe('sender');
    const { key } = await invite('Bob');
    expect(await role(key)).toBeUndefined();
    now = new Date(now.getTime() + 2000);
    expect(await role(key)).toBe('sender');
  });

  test('a key ends at its time, also in a function that remembers the project', async () => {
    const { key } = await invite('Ann', 1000);
    const role = newFunction();
    now = new Date('2026-11-20T12:00:00.999Z');
    expect(await role(key)).toBe('sender');
    now = new Date('2026-11-20T12:00:01Z');
    expect(await role(key)).toBeUndefined();
  });
});
