import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startService } from '../fixtures/service.ts';

/** A program of a user of the generated client. */
const program = `
import { createClient } from './client/client';
import { send, type SendRequest, subscribe } from './client';

const { CARILLON_BASE_URL: baseUrl, CARILLON_PROJECT, CARILLON_SECRET_KEY: auth = '', SUBSCRIPTION = '' } = process.env;
const path = { projectId: CARILLON_PROJECT! };
const client = createClient({ baseUrl, auth });

await subscribe({ client, path, body: JSON.parse(SUBSCRIPTION), throwOnError: true });
const body: SendRequest = { title: 'From a generated client', userIds: ['ada'] };
const { data, response } = await send({ client, path, body, headers: { 'Idempotency-Key': 'k' } });
if (data === undefined || 'status' in data) throw new Error(\`\${response.status}\`);
const delivered: number = data.delivered;

// @ts-expect-error the fields are userIds and title
const mistyped: SendRequest = { titel: 'T', userId: 'ada' };
const { error } = await send({ client, path, body: mistyped });
if (error === undefined || !('error' in error)) throw new Error('The request was accepted.');
const code: 'invalid_request' | string = error.error.code;
console.log(JSON.stringify({ delivered, code }));
`;

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'preserve',
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [`${process.cwd()}/node_modules/@types`],
  },
};

const node = async (parameters: readonly string[], env: Record<string, string> = {}) => {
  const options = { env: { ...process.env, ...env } };
  try {
    return (await promisify(execFile)(process.execPath, parameters, options)).stdout;
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
};

test('a client that a generator makes from openapi.json compiles, subscribes and sends', async () => {
  const folder = temporaryFolder();
  const service = await startService();
  try {
    const generator = 'node_modules/@hey-api/openapi-ts/bin/run.js';
    await node([generator, '-i', 'openapi.json', '-o', `${folder.path}/client`, '--no-log-file']);
    folder.write('package.json', '{ "type": "module" }');
    folder.write('tsconfig.json', JSON.stringify(tsconfig));
    const file = folder.write('program.ts', program);
    await node(['node_modules/typescript/bin/tsc', '-p', folder.path]);

    const project = await service.createProject();
    const { applicationServerKey } = project;
    const browser = service.stack.pushService.subscribe({ applicationServerKey });
    const printed = await node(['--import', 'tsx', file], {
      CARILLON_BASE_URL: service.stack.baseUrl,
      CARILLON_PROJECT: project.projectId,
      CARILLON_SECRET_KEY: project.secretKey,
      SUBSCRIPTION: JSON.stringify({ ...browser.toJSON(), userId: 'ada' }),
    });
    expect(JSON.parse(printed)).toEqual({ delivered: 1, code: 'invalid_request' });
    expect(browser.messages.map(({ text }) => text)).toEqual([
      expect.stringContaining('From a generated client'),
    ]);
  } finally {
    await service.stop();
    folder.remove();
  }
});
