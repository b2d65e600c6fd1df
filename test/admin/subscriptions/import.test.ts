import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { type ImportListDependencies, importList } from '../../../admin/commands/import.ts';
import { batchImport, type ImportBatch } from '../../../admin/store/subscription-import.ts';
import { lineReader } from '../../../admin/subscriptions/line.ts';
import { ListColumns } from '../../../admin/subscriptions/list-columns.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { ServiceError } from '../../../contract/wire/errors.ts';
import type { Project } from '../../../contract/wire/project.ts';
import { endpointHash } from '../../../lambdas/store/items.ts';
import { projectStore } from '../../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { readTable } from '../../fixtures/read-table.ts';
import { readSubscribers } from '../../fixtures/stored-subscribers.ts';
import { type PushSubscriptionJson, subscriptionJson } from '../../fixtures/subscription-lines.ts';

const database = useDatabase();
let project: Project;
let importBatch: ImportBatch;
const clock = () => new Date();

beforeEach(async () => {
  project = await database.createProject({ subscriberCap: null });
  const { dynamo, tables } = database;
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  importBatch = batchImport(dynamo, projectTables(tables), projects, 1000);
});

const lines = Array.from({ length: 1000 }, () => JSON.stringify(subscriptionJson()));

function run(
  overrides: Partial<ImportListDependencies> = {},
  { into = project, texts = lines } = {},
) {
  async function* rows() {
    for (const [index, text] of texts.entries()) yield { line: index + 1, value: JSON.parse(text) };
  }
  return importList(
    { form: 'JSON lines', rows: rows() },
    {
      projectId: into.projectId,
      columns: new ListColumns(undefined),
      readLine: lineReader(into, [], clock),
      importBatch,
      sleep: async () => {},
      ...overrides,
    },
  );
}

const stored = () => readSubscribers(database.dynamo, database.tables, project.ref);

it('counts what an import that failed in the middle has added, and the next one adds the rest', async () => {
  let batches = 0;
  const started: Promise<unknown>[] = [];
  const failing: ImportBatch = async (...args) => {
    const batch = importBatch(...args);
    started.push(batch);
    const counts = await batch;
    batches += 1;
    if (batches > 4) throw new Error('The connection broke.');
    return counts;
  };
  await expect(run({ importBatch: failing })).rejects.toThrow('The connection broke.');
  // Batches that were under way go on after the failure.
  await Promise.all(started);
  const half = await stored();
  expect(half.stored).toBeGreaterThan(0);
  expect(half.stored).toBeLessThan(1000);
  expect(half.counted).toBe(half.stored);

  const report = await run();
  expect(report).toMatchObject({ created: 1000 - half.stored, unchanged: half.stored });
  expect(await stored()).toEqual({ stored: 1000, counted: 1000 });
});

it('counts exactly while two imports of the same file run at once', async () => {
  const [one, other] = await Promise.all([run(), run()]);
  expect(one.created + other.created).toBe(1000);
  expect(await stored()).toEqual({ stored: 1000, counted: 1000 });
});

it('waits while the database throttles', async () => {
  const delays: number[] = [];
  let refusals = 3;
  const report = await run({
    sleep: async (ms) => {
      delays.push(ms);
    },
    async importBatch(...args) {
      refusals -= 1;
      if (refusals >= 0) throw new ServiceError('unavailable', 'The database is busy.');
      return importBatch(...args);
    },
  });
  expect(report.created).toBe(1000);
  expect(delays).toHaveLength(3);
});

it('fills the cap exactly, from all parts at the same time, and again after removals', async () => {
  const { dynamo, tables } = database;
  const capped = await database.createProject({ subscriberCap: 100 });
  expect(await run({}, { into: capped })).toMatchObject({ created: 100, overCap: 900 });
  expect(await readSubscribers(dynamo, tables, capped.ref)).toEqual({ stored: 100, counted: 100 });

  const subscriptions = subscriptionStore(dynamo, projectTables(tables), clock);
  const hashes = lines.map((line) => endpointHash(capped, JSON.parse(line).endpoint));
  let removed = 0;
  for (let at = 0; at < 700; at += 50) {
    removed += await subscriptions.removeBatch(capped.ref, hashes.slice(at, at + 50));
  }
  expect(removed).toBeGreaterThan(0);
  expect(await run({}, { into: capped })).toMatchObject({
    created: removed,
    unchanged: 100 - removed,
    overCap: 900,
  });
  expect(await readSubscribers(dynamo, tables, capped.ref)).toEqual({ stored: 100, counted: 100 });
});

it('does not bring back the user id of a browser that signs out between its look-up and its write', async () => {
  const { dynamo, tables } = database;
  const json = subscriptionJson({ userId: 'ada' });
  const at = (time: number) => new Date(Date.UTC(2026, 10, 20) + time);
  const save = async (time: number, userId?: string) => {
    const { href, origin, pathname: path } = new URL(json.endpoint);
    const keys = { p256dh: new Uint8Array(65), auth: new Uint8Array(16) };
    const store = subscriptionStore(dynamo, projectTables(tables), () => at(time));
    await store.save(project, { endpoint: { href, origin, path }, keys, choice: { userId } }, null);
  };
  await save(0, 'ada');
  let isFirst = true;
  const send = async (command: BatchGetCommand) => {
    const output = await dynamo.send(command);
    if (command instanceof BatchGetCommand && isFirst) {
      isFirst = false;
      await save(2);
    }
    return output;
  };
  const signingOut = Object.create(dynamo, { send: { value: send } });
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  const text = JSON.stringify({ ...json, updatedAt: at(1).toISOString() });
  const report = await run(
    { importBatch: batchImport(signingOut, projectTables(tables), projects, 1000) },
    { texts: [text] },
  );
  expect(isFirst).toBe(false);
  expect(report).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  const [stored] = (await readTable(dynamo, tables.SUBSCRIPTIONS_TABLE)).filter((item) =>
    json.endpoint.endsWith(String(item.path)),
  );
  expect(stored).toMatchObject({ updatedAt: at(2).getTime() });
  expect(stored).not.toHaveProperty('projectUser');
});

it('does not bring back a browser that is erased between its look-up and its write', async () => {
  const { dynamo, tables } = database;
  const json = subscriptionJson();
  const texts = [JSON.stringify({ ...json, userId: 'ada' })];
  await run({}, { texts: [JSON.stringify(json)] });
  const store = subscriptionStore(dynamo, projectTables(tables), clock);
  let isErased = false;
  const send = async (command: BatchGetCommand) => {
    const output = await dynamo.send(command);
    const found = output.Responses?.[tables.SUBSCRIPTIONS_TABLE] ?? [];
    if (command instanceof BatchGetCommand && found.length > 0 && !isErased) {
      isErased = true;
      await store.erase(project.ref, undefined, [endpointHash(project, json.endpoint)]);
    }
    return output;
  };
  const erasing = Object.create(dynamo, { send: { value: send } });
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  const importing = batchImport(erasing, projectTables(tables), projects, 1000);
  expect(await run({ importBatch: importing }, { texts })).toMatchObject({ created: 0, erased: 1 });
  expect(isErased).toBe(true);
  expect(await stored()).toEqual({ stored: 0, counted: 0 });
});

/** Imports two lines with further ones between them. @returns the counts and what is stored. */
async function importRepeated(two: readonly PushSubscriptionJson[], linesBetween: number) {
  const other = await database.createProject({ subscriberCap: null });
  const between = Array.from({ length: linesBetween }, () => subscriptionJson());
  const [first, last] = two;
  const texts = [first, ...between, last].map((line) => JSON.stringify(line));
  const report = await run({}, { into: other, texts });
  const { href } = new URL(first!.endpoint);
  const items = await readTable(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
  const [{ projectUser, auth, updatedAt, createdAt } = {}] = items.filter(
    (item) =>
      `${item.origin}${item.path}` === href && String(item.projectPart).startsWith(`${other.ref}#`),
  );
  return {
    created: report.created - linesBetween,
    updated: report.updated,
    unchanged: report.unchanged,
    stored: {
      userId: String(projectUser).slice(other.ref.length + 1),
      auth: Buffer.from(auth as Uint8Array).toString('base64url'),
      ...{ updatedAt, createdAt },
    },
  };
}

it.each<[string, readonly Partial<PushSubscriptionJson & { updatedAt: string }>[], string, number]>(
  [
    ['keeps the user id that only the first one has', [{ userId: 'ada' }, {}], 'ada', 1],
    ['takes the last user id', [{ userId: 'ada' }, { userId: 'bob' }], 'bob', 1],
    [
      'keeps what is newer than the last one',
      [
        { userId: 'ada', updatedAt: '2026-11-02T00:00:00Z' },
        { userId: 'bob', updatedAt: '2026-11-01T00:00:00Z' },
      ],
      'ada',
      0,
    ],
  ],
)(
  'of two lines with one endpoint, %s, however many lines are between them',
  async (_, two, userId, last) => {
    const { endpoint } = subscriptionJson();
    const pair = two.map((fields) => ({
      createdAt: '2026-10-01T00:00:00Z',
      updatedAt: '2026-11-01T00:00:00Z',
      ...subscriptionJson({ endpoint }),
      ...fields,
    }));
    const near = await importRepeated(pair, 0);
    expect(near).toMatchObject({
      created: 1,
      stored: { userId, auth: pair[last]!.keys.auth, updatedAt: Date.parse(pair[last]!.updatedAt) },
    });
    expect(near.updated + near.unchanged).toBe(1);
    expect(await importRepeated(pair, 1000)).toEqual(near);
  },
);

it('stops when the project is deleted', async () => {
  const missing = { ...project, projectId: 'missing' };
  await expect(run({}, { into: missing })).rejects.toThrow('Project "missing" does not exist.');
});
