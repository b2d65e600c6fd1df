import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TableNames } from '../../local/stack.ts';
import { type LocalState, writeState } from '../../local/state-file.ts';
import { useFolder } from '../fixtures/folder.ts';
import { settings } from '../fixtures/operator.ts';

const folder = useFolder();

const state = (baseUrl: string): LocalState => ({
  baseUrl,
  pushService: 'http://127.0.0.1:4001',
  dynamodb: {
    endpoint: 'http://127.0.0.1:4002',
    tables: { PROJECTS_TABLE: 'Projects' } as unknown as TableNames,
  },
  lambda: { endpoint: 'http://127.0.0.1:4003', functions: ['Send'] },
  settings,
  version: '1.2.0',
  project: {
    projectId: 'demo',
    applicationServerKey: 'key',
    secretKey: 'secret',
    identityKey: 'identity',
  },
});

test('the state is written as JSON and shell variables, readable by its owner only, and removed', async () => {
  // One that others could read is replaced.
  const file = folder.write('local.json', '{}');
  const remove = await writeState(state('http://localhost:4000'), file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(state('http://localhost:4000'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const variables = join(folder.path, 'local.env');
  expect(readFileSync(variables, 'utf8')).toBe(
    "export CARILLON_BASE_URL='http://localhost:4000'\nexport CARILLON_PROJECT='demo'\n" +
      "export CARILLON_APPLICATION_SERVER_KEY='key'\nexport CARILLON_SECRET_KEY='secret'\n" +
      "export CARILLON_IDENTITY_KEY='identity'\nexport CARILLON_PUSH_SERVICE='http://127.0.0.1:4001'\n",
  );
  expect(statSync(variables).mode & 0o777).toBe(0o600);
  await remove();
  expect(existsSync(file)).toBe(false);
  expect(existsSync(variables)).toBe(false);
});

test('a stack does not remove the state of a later stack', async () => {
  const file = join(folder.path, 'local.json');
  const remove = await writeState(state('http://localhost:4000'), file);
  await writeState(state('http://localhost:5000'), file);
  await remove();
  expect(JSON.parse(readFileSync(file, 'utf8')).baseUrl).toBe('http://localhost:5000');
});
