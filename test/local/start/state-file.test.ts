import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { functionLog } from '../../../local/lambda/function-log.ts';
import { type LocalState, writeState } from '../../../local/start/state-file.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const state = (baseUrl: string): LocalState => ({
  baseUrl,
  pushService: 'http://127.0.0.1:4001',
  dynamodb: {
    endpoint: 'http://127.0.0.1:4002',
    tables: {
      PROJECTS_TABLE: 'a',
      VAPID_KEYS_TABLE: 'f',
      SUBSCRIPTIONS_TABLE: 'b',
      USAGE_TABLE: 'c',
      NOTIFICATIONS_TABLE: 'd',
      RATE_LIMITS_TABLE: 'e',
    },
  },
  project: { projectId: 'demo', applicationServerKey: 'key', secretApiKey: 'secret' },
});

test('the state is its owner’s alone, for tools and for shells, and goes with the stack', async () => {
  const file = join(folder.path, '.carillon', 'local.json');
  const remove = await writeState(state('http://localhost:4000'), file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(state('http://localhost:4000'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const variables = join(folder.path, '.carillon', 'local.env');
  expect(readFileSync(variables, 'utf8')).toBe(
    "BASE='http://localhost:4000'\nPROJECT='demo'\nAPPLICATION_SERVER_KEY='key'\n" +
      "SECRET_KEY='secret'\nPUSH_SERVICE='http://127.0.0.1:4001'\n",
  );
  expect(statSync(variables).mode & 0o777).toBe(0o600);
  await remove();
  expect(existsSync(file)).toBe(false);
  expect(existsSync(variables)).toBe(false);
});

test('a state that was open to others is not so after a write', async () => {
  const file = folder.write('local.json', '{}');
  await writeState(state('http://localhost:4000'), file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a stack leaves the state of a later one alone', async () => {
  const file = join(folder.path, 'local.json');
  const remove = await writeState(state('http://localhost:4000'), file);
  await writeState(state('http://localhost:5000'), file);
  await remove();
  expect(JSON.parse(readFileSync(file, 'utf8')).baseUrl).toBe('http://localhost:5000');
});

test('the function log has one JSON object per line, whatever the functions write', async () => {
  const file = join(folder.path, 'functions.log');
  const log = functionLog(file);
  log.write({ function: 'Send', text: '{"level":"INFO"}' });
  log.write({ function: 'Track', text: 'Error: boom\n    at x' });
  await log.close();
  const time = expect.stringMatching(/^\d{4}-/);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time, function: 'Send', log: { level: 'INFO' } },
    { time, function: 'Track', log: 'Error: boom\n    at x' },
  ]);
});

test('a function log without a line leaves the one before', async () => {
  const file = folder.write('functions.log', 'before');
  await functionLog(file).close();
  expect(readFileSync(file, 'utf8')).toBe('before');
});
