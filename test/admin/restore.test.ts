import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { createTables } from 'aws-emulator/dynamodb';
import { hashKey, projectRegistry } from '../../admin/project-registry.ts';
import { recount } from '../../admin/recount.ts';
import {
  findProjects,
  type RestoredProject,
  type RestoreOptions,
  restoreProject,
} from '../../admin/restore.ts';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import {
  projectTables,
  tableKeys,
  tableNames,
  tableVariables,
} from '../../contract/infrastructure/tables.ts';
import type { SetSettings } from '../../contract/wire/project.ts';
import { endpointHash } from '../../lambdas/store/items.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import type { TableNames } from '../../local/stack.ts';
import { type Database, startDatabase, tablesTemplate } from '../fixtures/database.ts';
import { readTable, readTables } from '../fixtures/read-table.ts';
import { rotatedLongAgo } from '../fixtures/rotated-long-ago.ts';
import { subscription } from '../fixtures/subscription.ts';

/** The tables of a backup, and those of the stack, in one region as on AWS. */
let database: Database;
let names: TableNames;

beforeEach(async () => {
  database = await startDatabase();
  await createTables(tablesTemplate, database.endpoint, (id) => `Restored-${id}`);
  names = Object.fromEntries(
    tableNames.map((name) => [
      tableVariables[name],
      `Restored-${database.tables[tableVariables[name]]}`,
    ]),
  ) as TableNames;
});
afterEach(() => database.stop());

/** What works on the tables of one side. */
function side(tables: TableNames, dynamo = database.dynamo) {
  const clock = () => new Date();
  return {
    tables: projectTables(tables),
    registry: projectRegistry(dynamo, projectTables(tables), clock),
    subscriptions: subscriptionStore(dynamo, projectTables(tables), clock),
    find: (projectId: string) => projectStore(dynamo, tables.PROJECTS_TABLE, clock).find(projectId),
  };
}
const backup = () => side(names);
const stack = () => side(database.tables);

async function restore(
  options: Partial<RestoreOptions> & { readonly only?: readonly string[] } = {},
  dynamo = database.dynamo,
): Promise<readonly RestoredProject[]> {
  const clock = () => new Date();
  const deps = { dynamo, backup: backup().tables, tables: stack().tables, clock };
  const restored: RestoredProject[] = [];
  for (const found of await findProjects(deps, options.only)) {
    const defaults = {
      ...{ newKeys: false, addSubscriptions: false, dryRun: false, deployedCap: 1000 },
      pauses: false,
      random: randomBytes,
      sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }),
    };
    restored.push(await restoreProject(deps, found, { ...defaults, ...options }));
  }
  return restored;
}

/** Creates a project with subscriptions in the backup. */
async function backUp(projectId: string, subscribers: number, settings: SetSettings = {}) {
  const { registry, subscriptions, find } = backup();
  const created = await registry.create({ projectId, settings, random: randomBytes });
  const project = (await find(projectId))!;
  const stored = Array.from({ length: subscribers }, (_, index) =>
    subscription(index % 2 === 0 ? {} : { choice: { userId: `user-${index}` } }),
  );
  await Promise.all(stored.map((one) => subscriptions.save(project, one, null)));
  return { ...created, stored, projectId, ref: project.ref, stored0: stored[0]! };
}

type Restored = 'projects' | 'vapidKeys' | 'identityKeys' | 'subscriptions' | 'usage';

/** The items of a table on both sides: in the same form, but for counters, whose parts may differ. */
async function itemsOf(tables: TableNames, only?: readonly Restored[]) {
  const wanted = only ?? (['projects', 'vapidKeys', 'identityKeys', 'subscriptions'] as const);
  const entries = wanted.map((name) => [tableVariables[name], tables[tableVariables[name]]]);
  return readTables(database.dynamo, Object.fromEntries(entries));
}
const sameItems = async () => expect(await itemsOf(database.tables)).toEqual(await itemsOf(names));

async function setMonth(tables: TableNames, projectRef: string, month: string, parts: number[]) {
  for (const [part, used] of parts.entries()) {
    const Item = { projectRef, period: `${month}#${part}`, used };
    await database.dynamo.send(new PutCommand({ TableName: tables.USAGE_TABLE, Item }));
  }
}

/** Empties a table of the stack, as one that was created again is. */
async function lose(name: Restored) {
  const TableName = database.tables[tableVariables[name]];
  const { partitionKey, sortKey }: { partitionKey: string; sortKey?: string } = tableKeys[name];
  for (const item of await readTable(database.dynamo, TableName)) {
    const Key = Object.fromEntries(
      [partitionKey, ...(sortKey ? [sortKey] : [])].map((key) => [key, item[key]]),
    );
    await database.dynamo.send(new DeleteCommand({ TableName, Key }));
  }
}

const present = () => new Date().toISOString().slice(0, 7);

/** The caps of the parts of this month's counter in the stack. */
async function capsOfMonth() {
  const usage = await readTable(database.dynamo, database.tables.USAGE_TABLE);
  return usage.filter(({ period }) => String(period).startsWith(present())).map(({ cap }) => cap);
}

test('a missing project is restored as it was, with counters that are counted again', async () => {
  const { projectId, ref } = await backUp('shop', 20, { subscriberCap: 10 });
  await backup().registry.rotateVapid(projectId);
  const project = (await backup().find(projectId))!;
  await backup().subscriptions.save(project, { ...subscription(), vapidPairNumber: 1 }, null);
  // Units were given back to other parts than they were taken from.
  await setMonth(names, ref, '2026-10', [9, 0, -2]);
  expect(await restore()).toMatchObject([
    { projectId, project: 'created', created: 21, overCap: 0, keyDropped: 0 },
  ]);
  await sameItems();
  expect(await stack().registry.usage(projectId, '2026-10')).toEqual({
    ...{ subscribers: 21, month: '2026-10', sends: 7 },
  });
  // Above its cap: nobody is lost, and nobody is added.
  const restored = (await stack().find(projectId))!;
  expect(await stack().subscriptions.save(restored, subscription(), 10)).toBe('cap_reached');

  expect(await restore()).toMatchObject([{ project: 'exists', created: 0, filled: [] }]);
  await sameItems();
});

test('only the named projects are restored, and an unknown one is an error', async () => {
  for (const projectId of ['one', 'two']) await backUp(projectId, 1);
  expect(await restore({ only: ['two'] })).toMatchObject([{ projectId: 'two', created: 1 }]);
  expect(await stack().registry.find('one')).toBeUndefined();
  await expect(restore({ only: ['three'] })).rejects.toThrow(
    'Project "three" does not exist. The backup has no project with this id.',
  );
});

test('an existing project keeps what it has, and gets subscriptions only if it is asked for', async () => {
  const { projectId, stored0 } = await backUp('shop', 3);
  await restore();
  const project = (await stack().find(projectId))!;
  await stack().subscriptions.unsubscribe(project, stored0.endpoint.href, Date.now());
  await stack().registry.rotateKey(projectId, randomBytes);
  const before = await itemsOf(database.tables);
  expect(await restore()).toMatchObject([{ project: 'exists', created: 0 }]);
  expect(await itemsOf(database.tables)).toEqual(before);

  const added = { project: 'exists', created: 1, unchanged: 2 };
  expect(await restore({ addSubscriptions: true, dryRun: true })).toMatchObject([added]);
  expect(await itemsOf(database.tables)).toEqual(before);
  expect(await restore({ addSubscriptions: true })).toMatchObject([added]);
  expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 3 });
});

test('with new keys, no key and no member of the backup comes back, and browsers notice nothing', async () => {
  const { projectId, secretKey } = await backUp('shop', 1);
  const registry = backup().registry;
  await registry.invite(projectId, { name: 'Ann', role: 'sender', random: randomBytes });
  await registry.rotateKey(projectId, randomBytes, 60_000);
  const [restored] = await restore({ newKeys: true });
  expect(restored!.secretKey).toMatch(/^carillon_sk_/);
  const [was, is] = [(await backup().find(projectId))!, (await stack().find(projectId))!];
  expect(is.secretKeyHash).toBe(hashKey(restored!.secretKey!));
  expect([was.secretKeyHash, hashKey(secretKey)]).not.toContain(is.secretKeyHash);
  expect(is).toMatchObject({ members: [], previousKey: undefined, vapid: was.vapid });
  expect(await itemsOf(database.tables, ['vapidKeys', 'identityKeys', 'subscriptions'])).toEqual(
    await itemsOf(names, ['vapidKeys', 'identityKeys', 'subscriptions']),
  );
});

const ann = { kind: 'memberKey', name: 'Ann', role: 'sender' };

test('the keys that are valid again are listed, and those that ended since and stay so', async () => {
  const { projectId } = await backUp('shop', 0);
  const member = { name: 'Ann', role: 'sender', random: randomBytes } as const;
  await backup().registry.invite(projectId, member);
  const all = [{ kind: 'secretKey' }, ann, { kind: 'identityKey' }];
  const dry = { dryRun: true };
  expect(await restore(dry)).toMatchObject([{ validAgain: all, stillRevoked: [] }]);
  expect(await restore({ ...dry, newKeys: true })).toMatchObject([
    { validAgain: [{ kind: 'identityKey' }] },
  ]);
  expect(await restore()).toMatchObject([{ validAgain: all, stillRevoked: [] }]);

  const { registry } = stack();
  await registry.revoke(projectId, 'Ann');
  await registry.invite(projectId, member);
  await registry.rotateKey(projectId, randomBytes, 60_000);
  expect(await restore()).toMatchObject([{ validAgain: [], stillRevoked: [ann] }]);
  await registry.rotateKey(projectId, randomBytes);
  await registry.rotateIdentityKey(projectId, randomBytes, 0);
  expect(await restore()).toMatchObject([{ validAgain: [], stillRevoked: all }]);
});

test('a dry run also leaves out who was erased before the project was deleted', async () => {
  const { projectId, ref, stored0 } = await backUp('shop', 2);
  await restore();
  const { registry, subscriptions } = stack();
  const project = (await stack().find(projectId))!;
  await subscriptions.erase(ref, undefined, [endpointHash(project, stored0.endpoint.href)]);
  await registry.remove(projectId);
  const arrival = { created: 1, erased: 1 };
  expect(await restore({ dryRun: true })).toMatchObject([arrival]);
  expect(await restore()).toMatchObject([arrival]);
});

test('a missing project that keeps its keys sends nothing until it is resumed, if that is asked for', async () => {
  const { projectId } = await backUp('shop', 1);
  const renewed = { pauses: true, newKeys: true, dryRun: true };
  expect((await restore(renewed))[0]!.pausedAt).toBeUndefined();
  expect(await restore({ pauses: true })).toMatchObject([{ pausedAt: expect.any(String) }]);
  expect(await stack().registry.get(projectId)).toMatchObject({ pausedAt: expect.any(String) });
  await lose('projects');
  expect((await restore({ pauses: true }))[0]!.pausedAt).toBeUndefined();
});

test('a paused project comes back paused', async () => {
  const { projectId } = await backUp('shop', 1);
  await backup().registry.pause(projectId);
  await restore();
  const usage = await readTable(database.dynamo, database.tables.USAGE_TABLE);
  const months = usage.filter(({ period }) => String(period).startsWith(present()));
  expect(months.map(({ cap }) => cap)).toEqual(Array(8).fill('closed'));
  await stack().registry.resume(projectId);
  expect((await stack().registry.get(projectId)).pausedAt).toBeUndefined();
});

describe('if a table was lost and is empty', () => {
  async function restoreAfter(...lost: readonly Restored[]) {
    const { projectId, ref, stored0 } = await backUp('shop', 5);
    await setMonth(names, ref, present(), [2]);
    await restore();
    const project = (await stack().find(projectId))!;
    // Somebody has left since the backup.
    await stack().subscriptions.unsubscribe(project, stored0.endpoint.href, Date.now());
    for (const name of lost) await lose(name);
    return { projectId, ref };
  }

  test.each<[table: Restored, filled: string]>([
    ['vapidKeys', 'vapidKey'],
    ['identityKeys', 'identityKey'],
    ['usage', 'counters'],
  ])('%s: it is filled, and nobody who left comes back', async (table, filled) => {
    const { projectId } = await restoreAfter(table);
    expect(await restore()).toMatchObject([{ project: 'exists', filled: [filled], created: 0 }]);
    const tables = ['projects', 'vapidKeys', 'identityKeys'] as const;
    expect(await itemsOf(database.tables, tables)).toEqual(await itemsOf(names, tables));
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 4, sends: 2 });
  });

  test('projects: its item comes back, and nobody who left does', async () => {
    const { projectId } = await restoreAfter('projects');
    expect(await restore()).toMatchObject([{ project: 'created', created: 0 }]);
    expect(await itemsOf(database.tables, ['projects'])).toEqual(
      await itemsOf(names, ['projects']),
    );
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 4, sends: 2 });
  });

  test('projects and usage: both come back', async () => {
    const { projectId } = await restoreAfter('projects', 'usage');
    expect(await restore()).toMatchObject([{ project: 'created', created: 0 }]);
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 4, sends: 2 });
  });

  test('subscriptions: the counter is to be set first', async () => {
    const { projectId } = await restoreAfter('subscriptions');
    expect(await restore()).toMatchObject([{ project: 'exists', created: 0 }]);
    await expect(restore({ addSubscriptions: true })).rejects.toMatchObject({
      code: 'wrong_count',
      message: expect.stringContaining('First: carillon recount shop.'),
    });
    const { dynamo } = database;
    const { tables, registry } = stack();
    const waiting = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });
    const deps = { dynamo, tables, clock: () => new Date(), sleep: waiting };
    await recount(deps, await registry.get(projectId));
    expect(await restore({ addSubscriptions: true })).toMatchObject([{ created: 5 }]);
    expect(await registry.usage(projectId)).toMatchObject({ subscribers: 5 });
    expect(await itemsOf(database.tables)).toEqual(await itemsOf(names));
  });

  test('all of them: everything of the backup comes back', async () => {
    const { projectId } = await restoreAfter(
      ...(['projects', 'vapidKeys', 'identityKeys', 'subscriptions', 'usage'] as const),
    );
    expect(await restore()).toMatchObject([{ project: 'created', created: 5 }]);
    await sameItems();
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 5, sends: 2 });
  });

  test('projects, with keys that were rotated since: nothing is restored', async () => {
    const { projectId } = await restoreAfter();
    await stack().registry.rotateVapid(projectId);
    await lose('projects');
    await expect(restore()).rejects.toMatchObject({ code: 'restored_keys_mismatch' });
    expect(await itemsOf(database.tables, ['projects'])).toEqual([[]]);
  });
});

/** The database's client, which fails after this many writes. */
function failingAfter(writes: number): DynamoDBDocumentClient {
  const { dynamo } = database;
  let made = 0;
  const send = async (command: { readonly constructor: { readonly name: string } }) => {
    if (/^(Put|Update|TransactWrite)/.test(command.constructor.name)) made += 1;
    if (made > writes) throw new Error('Interrupted.');
    return dynamo.send(command as never);
  };
  return Object.create(dynamo, { send: { value: send } });
}

test.each([1, 20, 34, 36])(
  'interrupted after %s writes, functions find no project, a repetition continues, and delete removes what has arrived',
  async (writes) => {
    const { projectId } = await backUp('shop', 12);
    await expect(restore({}, failingAfter(writes))).rejects.toThrow('Interrupted.');
    expect(await stack().find(projectId)).toBeUndefined();
    const creating = stack().registry.create({ projectId, random: randomBytes });
    await expect(creating).rejects.toMatchObject({ code: 'project_half_removed' });

    await stack().registry.remove(projectId);
    const tables = ['projects', 'vapidKeys', 'identityKeys', 'subscriptions', 'usage'] as const;
    expect((await itemsOf(database.tables, tables)).flat()).toEqual([]);

    await expect(restore({}, failingAfter(writes))).rejects.toThrow('Interrupted.');
    expect(await restore()).toMatchObject([{ project: 'created' }]);
    await sameItems();
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 12 });
  },
);

test.each([
  ['a private key of another pair', 'SET privateKey = :key'],
  ['no previous private key', 'REMOVE previousPrivateKey'],
])('a project with %s in the backup is not restored', async (_title, UpdateExpression) => {
  const { projectId } = await backUp('shop', 0);
  await backup().registry.rotateVapid(projectId);
  await database.dynamo.send(
    new UpdateCommand({
      TableName: names.VAPID_KEYS_TABLE,
      Key: { projectId },
      UpdateExpression,
      ...(UpdateExpression.includes(':key') && {
        ExpressionAttributeValues: { ':key': newVapidPair().privateKey },
      }),
    }),
  );
  await expect(restore()).rejects.toThrow(`the same keys of project "${projectId}"`);
  expect((await itemsOf(database.tables)).flat()).toEqual([]);
});

test('subscriptions whose key the project has dropped since are left out', async () => {
  const { projectId } = await backUp('shop', 2);
  await restore();
  const { registry } = stack();
  await registry.rotateVapid(projectId);
  await rotatedLongAgo(database.dynamo, database.tables.PROJECTS_TABLE, projectId);
  const waiting = { onWait: () => {}, sleep: async () => {} };
  await registry.dropPreviousVapid(projectId, { isForced: true, waiting });
  // The private key of the backup is another one by now: the stack's is newer.
  expect(await restore({ addSubscriptions: true })).toMatchObject([
    { project: 'exists', created: 0, keyDropped: 2 },
  ]);
  expect(await registry.usage(projectId)).toMatchObject({ subscribers: 0 });
});

const mark = (projectId: string) => ({ projectId, ref: 'r', removed: true });

test('a project that was being removed in the backup is not restored', async () => {
  const { projectId } = await backUp('shop', 0);
  const put = { TableName: names.PROJECTS_TABLE, Item: mark('removed') };
  await database.dynamo.send(new PutCommand(put));
  expect(await restore()).toMatchObject([{ projectId, project: 'created' }]);
});

test.each([true, false])(
  'a project that is being removed in the stack is not restored before (dry run: %s)',
  async (dryRun) => {
    const { projectId } = await backUp('shop', 0);
    const put = { TableName: database.tables.PROJECTS_TABLE, Item: mark(projectId) };
    await database.dynamo.send(new PutCommand(put));
    await expect(restore({ dryRun })).rejects.toMatchObject({ code: 'project_half_removed' });
  },
);

test.each([true, false])(
  'a later project with the id of a restored one keeps what it has (dry run: %s)',
  async (dryRun) => {
    const { projectId } = await backUp('shop', 1);
    await stack().registry.create({ projectId, random: randomBytes });
    const before = await itemsOf(database.tables);
    const options = { dryRun, addSubscriptions: true };
    expect(await restore(options)).toMatchObject([{ projectId, project: 'other', created: 0 }]);
    expect(await itemsOf(database.tables)).toEqual(before);
    expect(await stack().registry.usage(projectId)).toMatchObject({ subscribers: 0 });
  },
);

test('new keys after an interrupted restore that kept them: the project sends, as it says', async () => {
  const { projectId } = await backUp('shop', 12);
  await expect(restore({ pauses: true }, failingAfter(70))).rejects.toThrow('Interrupted.');
  expect(await restore({ pauses: true, newKeys: true })).toMatchObject([{ project: 'created' }]);
  expect((await stack().registry.get(projectId)).pausedAt).toBeUndefined();
  expect(await capsOfMonth()).toEqual(Array(8).fill(undefined));
});

test('kept keys after an interrupted restore with new ones: no send begins', async () => {
  await backUp('shop', 12);
  await setMonth(names, (await backup().find('shop'))!.ref, present(), [2]);
  await expect(restore({ newKeys: true }, failingAfter(42))).rejects.toThrow('Interrupted.');
  expect(await restore({ pauses: true })).toMatchObject([{ pausedAt: expect.any(String) }]);
  expect(await capsOfMonth()).toEqual(Array(8).fill('closed'));
});

test('a dry run counts what a lost project then gets', async () => {
  await backUp('shop', 3);
  await restore();
  const project = (await stack().find('shop'))!;
  await stack().subscriptions.removeBatch(project.ref, [
    ...(await readTable(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE))
      .slice(0, 1)
      .map(({ endpointHash: hash }) => hash as Uint8Array),
  ]);
  await lose('projects');
  const added = { project: 'created', created: 1, unchanged: 2 };
  expect(await restore({ addSubscriptions: true, dryRun: true })).toMatchObject([added]);
  expect(await restore({ addSubscriptions: true })).toMatchObject([added]);
});

test('a dry run after an interruption counts what is left', async () => {
  await backUp('shop', 12);
  await expect(restore({}, failingAfter(53))).rejects.toThrow('Interrupted.');
  const [dry] = await restore({ dryRun: true });
  expect(await restore()).toMatchObject([{ created: dry!.created, unchanged: dry!.unchanged }]);
  expect(dry!.unchanged).toBeGreaterThan(0);
});
