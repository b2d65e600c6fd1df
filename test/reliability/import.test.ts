import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { settings } from '../fixtures/operator.ts';
import { linesOf, subscriptionJson } from '../fixtures/subscription-lines.ts';
import { until } from '../fixtures/until.ts';
import { readSubscribers, type StoredSubscribers } from './fixtures/stored-subscribers.ts';

const lines = 10_000;

let database: Database;
let folder: Folder;

beforeAll(async () => {
  database = await startDatabase();
  folder = temporaryFolder();
  const { endpoint, tables } = database;
  const unused = 'http://127.0.0.1:4000';
  const state = {
    baseUrl: unused,
    pushService: unused,
    lambda: { endpoint: unused, functions: [] },
    dynamodb: { endpoint, tables },
    settings,
  };
  folder.write('.carillon/local.json', JSON.stringify(state));
});
afterAll(async () => {
  folder.remove();
  await database.stop();
});

/** Starts the operator's command in another process. */
function startImport(projectId: string, file: string) {
  const root = process.cwd();
  const loader = join(root, 'node_modules/tsx/dist/loader.mjs');
  const command = ['subscriptions', 'import', projectId, file, '--local', '--json'];
  return spawn(process.execPath, ['--import', loader, join(root, 'bin/projects.ts'), ...command], {
    cwd: folder.path,
    stdio: 'inherit',
  });
}

/** The database may still execute what the killed process has sent. */
async function settled(read: () => Promise<StoredSubscribers>): Promise<StoredSubscribers> {
  for (let before = await read(); ; ) {
    const now = await read();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

test.each([
  ['a cap', 1_000_000],
  ['no cap', null],
])(
  'an import into a project with %s that is killed twice is completed by the next one',
  async (_title, subscriberCap) => {
    const projectId = await database.createProject({ subscriberCap });
    const values = Array.from({ length: lines }, () => subscriptionJson());
    const file = folder.write('lines.ndjson', linesOf(values));
    const read = () => readSubscribers(database.dynamo, database.tables, projectId);

    for (const share of [0.2, 0.5]) {
      const child = startImport(projectId, file);
      const closed = once(child, 'close');
      await until(`${share} of the import`, async () => (await read()).stored > share * lines);
      child.kill('SIGKILL');
      await closed;
      const { stored, single, parts } = await settled(read);
      expect(stored).toBeLessThan(lines);
      expect(single + parts).toBe(stored);
    }

    const [code] = await once(startImport(projectId, file), 'close');
    expect(code).toBe(0);
    const { stored, single, parts } = await read();
    expect(stored).toBe(lines);
    expect(single + parts).toBe(lines);
  },
);
