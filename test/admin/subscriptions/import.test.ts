import { batchImport, type ImportBatch } from '../../../admin/subscriptions/import-batch.ts';
import { type ImportLinesParts, importLines } from '../../../admin/subscriptions/import-lines.ts';
import { lineReader } from '../../../admin/subscriptions/line.ts';
import { ServiceError } from '../../../contract/errors.ts';
import { projectStore } from '../../../lambdas/store/projects.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';
import { readSubscribers } from '../../reliability/fixtures/stored-subscribers.ts';

let database: Database;
let projectId: string;
let importBatch: ImportBatch;
const clock = () => new Date();

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(async () => {
  projectId = await database.createProject({ subscriberCap: null });
  const { dynamo, tables } = database;
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  importBatch = batchImport(dynamo, projectTables(tables), projects, 1000);
});

const lines = Array.from({ length: 1000 }, () => JSON.stringify(subscriptionJson()));

function run(overrides: Partial<ImportLinesParts> = {}) {
  async function* all() {
    yield* lines;
  }
  const { project = { projectId, subscriberCounter: 'parts' } } = overrides;
  return importLines(all(), {
    project,
    readLine: lineReader({ ...project, vapidPair: 0, vapidPublicKey: 'unused' }, [], clock),
    importBatch,
    sleep: async () => {},
    onProgress: () => {},
    ...overrides,
  });
}

const stored = () => readSubscribers(database.dynamo, database.tables, projectId);

it('counts what an import that failed in the middle has added, and the next one adds the rest', async () => {
  let batches = 0;
  const failing: ImportBatch = async (...args) => {
    const counts = await importBatch(...args);
    batches += 1;
    if (batches > 4) throw new Error('The connection broke.');
    return counts;
  };
  await expect(run({ importBatch: failing })).rejects.toThrow('The connection broke.');
  const half = await stored();
  expect(half.stored).toBeGreaterThan(0);
  expect(half.stored).toBeLessThan(1000);
  expect(half.parts).toBe(half.stored);

  const report = await run();
  expect(report).toMatchObject({ created: 1000 - half.stored, unchanged: half.stored });
  expect(await stored()).toMatchObject({ stored: 1000, parts: 1000, single: 0 });
});

it('counts exactly while two imports of the same file run at once', async () => {
  const [one, other] = await Promise.all([run(), run()]);
  expect(one.created + other.created).toBe(1000);
  expect(await stored()).toMatchObject({ stored: 1000, parts: 1000 });
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

it('counts in the single counter once the project does', async () => {
  const { dynamo, tables } = database;
  const capped = await database.createProject({ subscriberCap: 10 });
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  const batch = batchImport(dynamo, projectTables(tables), projects, 1000);
  const report = await run({
    // As it was when the import started.
    project: { projectId: capped, subscriberCounter: 'parts' },
    importBatch: batch,
  });
  expect(report).toMatchObject({ created: 10, overCap: 990 });
  expect(await readSubscribers(dynamo, tables, capped)).toMatchObject({ stored: 10, single: 10 });
});

it('stops when the project is deleted', async () => {
  const missing = { projectId: 'missing', subscriberCounter: 'parts' } as const;
  await expect(run({ project: missing })).rejects.toThrow('Project "missing" does not exist.');
});
