import { randomBytes, randomUUID } from 'node:crypto';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { CommandError } from '../../../admin/errors.ts';
import { type ProjectRegistry, projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { subscriberPartCount } from '../../../lambdas/store/counters.ts';
import { partitionCount, projectPart, subscriptionKey } from '../../../lambdas/store/items.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { newNotification, sendsOf } from '../../lambdas/store/stored-notifications.ts';

const now = new Date('2026-11-30T23:59:59.999Z');
const clock = () => now;

const database = useDatabase();
let tables: ReturnType<typeof projectTables>;
let registry: ProjectRegistry;
let projectId: string;
/** Of the project that was created last. */
let ref: ProjectRef;

beforeAll(() => {
  tables = projectTables(database.tables);
  registry = projectRegistry(database.dynamo, tables, clock);
});
beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

async function create() {
  const { project } = await registry.create({ projectId, random: randomBytes });
  ref = project.ref;
}

async function vapidKeyItem() {
  const key = { TableName: tables.vapidKeys, Key: { projectId } };
  const { Item } = await database.dynamo.send(new GetCommand(key));
  return Item;
}

async function countItems(TableName: string, key: string, partition: string) {
  const { Count = 0 } = await database.dynamo.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: '#key = :partition',
      ExpressionAttributeNames: { '#key': key },
      ExpressionAttributeValues: { ':partition': partition },
      Select: 'COUNT',
    }),
  );
  return Count;
}

async function countSubscriptions() {
  const parts = Array.from({ length: partitionCount }, (_, part) => projectPart(ref, part));
  const counts = parts.map((part) => countItems(tables.subscriptions, 'projectPart', part));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const countAll = async () => ({
  subscriptions: await countSubscriptions(),
  notifications: await countItems(tables.notifications, 'projectRef', ref),
  usage: await countItems(tables.usage, 'projectRef', ref),
});

async function subscribe(count: number) {
  const store = subscriptionStore(database.dynamo, tables, clock);
  for (let made = 0; made < count; made += 1) await store.save(keyed(ref), subscription(), null);
}

async function send() {
  const keyed = { keyHash: randomUUID(), requestHash: 'hash' };
  const sent = { ...newNotification(ref, now.toISOString()), keyed };
  await sendsOf(database).begin(sent, 'r', null);
}

describe('remove', () => {
  it('deletes the project and all its items, and keeps other projects', async () => {
    await create();
    await subscribe(3);
    const other = { projectId, ref };
    projectId = `p-${randomUUID()}`;
    await create();
    await subscribe(60);
    await send();

    const removed = await registry.remove(projectId);
    expect(removed).toEqual({ subscriptions: 60, notifications: 1 });
    expect(await registry.find(projectId)).toBeUndefined();
    expect(await vapidKeyItem()).toBeUndefined();
    expect(await countAll()).toEqual({ subscriptions: 0, notifications: 0, usage: 0 });
    ({ projectId, ref } = other);
    expect(await vapidKeyItem()).toBeDefined();
    expect(await countAll()).toEqual({
      subscriptions: 3,
      notifications: 0,
      usage: subscriberPartCount,
    });
  });

  it('deletes subscriptions that are added at the same time', async () => {
    await create();
    const store = subscriptionStore(database.dynamo, tables, clock);
    const saves = Array.from({ length: 60 }, () => store.save(keyed(ref), subscription(), null));
    await Promise.race(saves);
    await registry.remove(projectId);
    await Promise.all(saves);
    expect(await countAll()).toEqual({ subscriptions: 0, notifications: 0, usage: 0 });
  });

  it('continues after an interruption, and blocks the id until it finishes', async () => {
    await create();
    await fill(3);
    await send();
    const before = async (call: number) => {
      // By then it has found and closed the project, read 8 parts and deleted the subscriptions of one, and
      // read the notifications.
      if (call === 12) throw new Error('The connection broke.');
    };
    const broken = registryWithHooks({ before });
    await expect(broken.remove(projectId)).rejects.toThrow('The connection broke.');

    expect(await registry.find(projectId)).toBeUndefined();
    await expect(create()).rejects.toMatchObject({ code: 'project_half_removed' });
    const rest = await registry.remove(projectId);
    expect(rest).toEqual({ subscriptions: 0, notifications: 1 });
    await create();
    expect(await registry.usage(projectId)).toMatchObject({ subscribers: 0 });
  });

  it('leaves nothing that another operation finds when it is interrupted', async () => {
    await create();
    const before = async (call: number) => {
      if (call === 2) throw new Error('The connection broke.');
    };
    await expect(registryWithHooks({ before }).remove(projectId)).rejects.toThrow();

    for (const operation of [
      () => registry.set(projectId, { subscriberCap: 1 }),
      () => registry.rotateKey(projectId, randomBytes),
      () => registry.set(projectId, { name: 'Bells' }),
      () => registry.identityKey(projectId),
      () => registry.rotateIdentityKey(projectId, randomBytes, 0),
      () => registry.rotateVapid(projectId),
    ]) {
      await expect(operation()).rejects.toMatchObject({ name: 'ProjectNotFound' });
    }
    const listed: string[] = [];
    for await (const project of registry.list()) listed.push(project.projectId);
    expect(listed).not.toContain(projectId);
  });

  it('blocks the id until its last call, and keeps the counter of a new project', async () => {
    await create();
    await subscribe(3);
    const outcomes: string[] = [];
    const after = async () => {
      outcomes.push(
        await create().then(
          () => 'created',
          ({ code }: CommandError) => code,
        ),
      );
    };
    await registryWithHooks({ after }).remove(projectId);
    // After it has found the project.
    expect(outcomes.shift()).toBe('project_exists');
    expect(outcomes.pop()).toBe('created');
    expect(new Set(outcomes)).toEqual(new Set(['project_half_removed']));
    await subscribe(1);
    expect(await registry.usage(projectId)).toMatchObject({ subscribers: 1 });
  });

  it('deletes nothing of a new project after another call has finished the removal', async () => {
    await create();
    await fill(3);
    let calls = 0;
    const after = async () => {
      calls += 1;
    };
    await registryWithHooks({ after }).remove(projectId);
    for (let late = 1; late < calls; late += 1) {
      projectId = `p-${randomUUID()}`;
      await create();
      await fill(3);
      const before = async (call: number) => {
        if (call !== late) return;
        await registry.remove(projectId);
        await create();
        await subscribe(2);
      };
      const removing = registryWithHooks({ before }).remove(projectId);
      // The new project is not the one that it has found.
      if (late === 1) await expect(removing).rejects.toMatchObject({ name: 'ProjectNotFound' });
      else await removing;
      expect({ late, ...(await countAll()) }).toMatchObject({
        late,
        subscriptions: 2,
        usage: subscriberPartCount,
      });
      expect(await registry.usage(projectId)).toMatchObject({ subscribers: 2 });
    }
  });
});

/** Stores subscriptions in the first part of the project, without counting them. */
async function fill(count: number) {
  const items = Array.from({ length: count }, (_, index) => {
    const endpointHash = Buffer.alloc(32);
    endpointHash.writeUInt32BE(index, 28);
    return subscriptionKey(ref, endpointHash);
  });
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
