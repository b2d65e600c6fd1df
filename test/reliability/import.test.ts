import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { forward, relay } from '../../local/dynamodb/forward.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { settings } from '../fixtures/operator.ts';
import { linesOf, subscriptionJson } from '../fixtures/subscription-lines.ts';
import { readSubscribers, type StoredSubscribers } from './fixtures/stored-subscribers.ts';

const lines = 10_000;

/** The import needs at least 109 transactions: one has 92 subscriptions at most. */
const writesBeforeKills = [20, 50];

const agent = new Agent({ keepAlive: true });

let database: Database;
let folder: Folder;
let proxy: Server;
/** How many more transactions the proxy passes on. Of those that follow, the database learns nothing. */
let writesLeft: number;
let onHeldWrite: () => void;

beforeAll(async () => {
  database = await startDatabase();
  folder = temporaryFolder();
  const { tables } = database;
  proxy = await startProxy(database.endpoint);
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const unused = 'http://127.0.0.1:4000';
  const state = {
    baseUrl: unused,
    pushService: unused,
    lambda: { endpoint: unused, functions: [] },
    dynamodb: { endpoint, tables },
    settings,
  };
  folder.write('local.json', JSON.stringify(state));
  // As bin/carillon.ts does, for the local stack of this test.
  folder.write(
    'carillon.mts',
    `import { runCarillon } from '${process.cwd()}/admin/commands/run.ts';
    import { processTerminal } from '${process.cwd()}/admin/terminal/terminal.ts';
    process.exitCode = await runCarillon(process.argv.slice(2), processTerminal, 'local.json');`,
  );
});
afterAll(async () => {
  folder.remove();
  agent.destroy();
  proxy.closeAllConnections();
  proxy.close();
  await database.stop();
});

/** Starts a proxy between the operator's command and the database. */
async function startProxy(target: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems') {
      if (writesLeft === 0) return onHeldWrite();
      writesLeft -= 1;
    }
    relay(await forward(target, agent, request, body), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Starts the operator's command in another process. */
function startImport(projectId: string, file: string) {
  const loader = join(process.cwd(), 'node_modules/tsx/dist/loader.mjs');
  const command = ['subscriptions', 'import', projectId, file, '--local', '--json'];
  return spawn(process.execPath, ['--import', loader, 'carillon.mts', ...command], {
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
    const { projectId, ref } = await database.createProject({ subscriberCap });
    const values = Array.from({ length: lines }, () => subscriptionJson());
    const file = folder.write('lines.ndjson', linesOf(values));
    const read = () => readSubscribers(database.dynamo, database.tables, ref);

    for (const writes of writesBeforeKills) {
      writesLeft = writes;
      const held = new Promise<void>((resolve) => {
        onHeldWrite = resolve;
      });
      const child = startImport(projectId, file);
      const closed = once(child, 'close');
      await held;
      child.kill('SIGKILL');
      await closed;
      const { stored, counted } = await settled(read);
      expect(stored).toBeGreaterThan(0);
      expect(stored).toBeLessThan(lines);
      expect(counted).toBe(stored);
    }

    writesLeft = Number.POSITIVE_INFINITY;
    const [code] = await once(startImport(projectId, file), 'close');
    expect(code).toBe(0);
    expect(await read()).toEqual({ stored: lines, counted: lines });
  },
);
