import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { unzipSync } from 'fflate';
import { writeAwsPackage } from '../../lib/build/write-package.ts';
import { readAssembly, resourcesOf, type Template } from '../../local/template/template.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { programOf, runCommand } from '../fixtures/npm-project.ts';

let packed: Folder;
let folder: string;
let tarball: string;
let project: Folder;

beforeAll(async () => {
  packed = temporaryFolder();
  project = temporaryFolder();
  ({ folder, tarball } = await writeAwsPackage(process.cwd(), packed.path));
  project.write('package.json', '{ "private": true }');
  const install = ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  await run('npm', ...install, tarball);
  for (const name of ['aws-cdk-lib', 'constructs']) {
    symlinkSync(resolve('node_modules', name), join(project.path, 'node_modules', name));
  }
}, 120_000);
afterAll(() => {
  project?.remove();
  packed?.remove();
});

const run = (command: string, ...args: string[]) =>
  runCommand(command, args, { cwd: project.path, env: { ...process.env, CDK_OUTDIR: 'cdk.out' } });

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** The hashes of all files in a folder, by their paths. */
function hashesIn(path: string): Record<string, string> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(path.length + 1), sha256(readFileSync(file))];
    }),
  );
}

test('it is smaller than 5 MB, and needs the CDK only', () => {
  const installed = join(project.path, 'node_modules/carillon-aws');
  const entries = readdirSync(installed, { recursive: true, withFileTypes: true });
  const bytes = entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5_000_000);
  const { dependencies, peerDependencies, version } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  );
  expect(dependencies).toBeUndefined();
  expect(Object.keys(peerDependencies)).toEqual(['aws-cdk-lib', 'constructs']);
  expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});

test('it has the licences of the packages in its bundles', () => {
  const notices = readFileSync(join(folder, 'NOTICES'), 'utf8');
  // Of the command, the construct and the functions.
  for (const name of ['commander', 'zod', '@middy/core']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.`, 'm'));
  }
});

test('publint finds nothing', async () => {
  const publint = programOf('publint/src/cli.js');
  const output = await run(process.execPath, publint, 'run', tarball, '--strict');
  expect(output).toContain('All good!');
});

test('TypeScript resolves its types as Node does', async () => {
  const attw = programOf('@arethetypeswrong/cli/dist/index.js');
  const options = ['--no-definitely-typed', '--format', 'json'];
  const { analysis } = JSON.parse(await run(process.execPath, attw, tarball, ...options));
  expect(analysis.problems).toEqual([]);
});

const use = `
  import { App, Stack } from 'aws-cdk-lib';
  import { Carillon } from 'carillon-aws';
  const stack = new Stack(new App(), 'MyApp');
  const push = new Carillon(stack, 'Push', { vapidSubject: 'you@carillon.net', alarmEmail: 'none' });
  console.log(push.node.path);`;

test('TypeScript knows its props and members', async () => {
  const file = project.write(
    'use.mts',
    `${use}
     const name: string = push.tables.subscriptions.tableName + push.apiUrl;
     // @ts-expect-error
     new Carillon(stack, 'Other', { vapidSubject: 'you@carillon.net', subscriberCaps: 7 });
     // @ts-expect-error
     new Carillon(stack, 'Third', {});
     export { name };`,
  );
  const types = ['--typeRoots', programOf('@types'), '--types', 'node', '--lib', 'es2023'];
  const strict = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext'];
  const tsc = programOf('typescript/bin/tsc');
  const options = [...strict, ...types, '--skipLibCheck'];
  expect(await run(process.execPath, tsc, ...options, file)).toBe('');
}, 120_000);

test.each([
  ['use.mjs', use],
  ['use.cjs', use.replaceAll(/import (\{.*\}) from ('.*');/g, 'const $1 = require($2);')],
])('Node loads it in %s', async (file, code) => {
  project.write(file, code);
  expect(await run(process.execPath, file)).toBe('MyApp/Push\n');
});

/** The template without what names the CDK's files. */
function resourcesWithout(metadata: Template): unknown {
  return JSON.parse(
    JSON.stringify(metadata.Resources, (name, value) => (name === 'Metadata' ? undefined : value)),
  );
}

test('its app has the template and the functions of a clone, by their hashes', async () => {
  const clone = readAssembly(sharedAssembly());
  project.write('carillon.json', JSON.stringify({ vapidSubject: 'mailto:operator@carillon.net' }));
  await run(process.execPath, 'node_modules/carillon-aws/app.js');
  const { template, directory } = readAssembly(join(project.path, 'cdk.out'));
  expect(resourcesWithout(template)).toEqual(resourcesWithout(clone.template));
  const assets = resourcesOf(clone.template, 'AWS::Lambda::Function').map(
    ([, { Metadata }]) => Metadata!['aws:asset:path'] as string,
  );
  for (const asset of assets) {
    const zip = unzipSync(readFileSync(join(directory, `${asset}.zip`)));
    const zipped = Object.entries(zip).map(([path, content]) => [path, sha256(content)]);
    expect(Object.fromEntries(zipped)).toEqual(hashesIn(join(clone.directory, asset)));
  }
  expect(new Set(assets).size).toBe(readdirSync(join(folder, 'assets')).length - 1);
});

test('the example’s function may read its secret, and its role the tables', async () => {
  cpSync('examples/cdk-app', project.path, {
    recursive: true,
    filter: (path) => !['package.json', 'node_modules'].includes(basename(path)),
  });
  await run(process.execPath, 'app.js');
  const { template } = readAssembly(join(project.path, 'cdk.out'));
  const found = (type: string, start: string) =>
    resourcesOf(template, type).find(([id]) => id.startsWith(start))![1].Properties!;
  expect(found('AWS::Lambda::Function', 'Notify').Environment).toMatchObject({
    Variables: {
      CARILLON_BASE_URL: { 'Fn::GetAtt': [expect.stringMatching(/^PushHttpApi/), 'ApiEndpoint'] },
    },
  });
  expect(JSON.stringify(found('AWS::IAM::Policy', 'Operator'))).toContain('dynamodb:PutItem');
  expect(resourcesOf(template, 'AWS::S3::Bucket')).toHaveLength(1);
});
