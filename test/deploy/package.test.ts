import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { writeAwsPackage } from '../../lib/build/write-package.ts';
import { startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { type AwsAccount, startAwsAccount } from './fixtures/aws-account.ts';
import { operatorIn } from './fixtures/operator.ts';

let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
let aws: AwsAccount;
let packed: Folder;
let tarball: string;
let home: Folder;
/** Where the operator works: empty at first. */
let folder: string;
let operator: ReturnType<typeof operatorIn>;

beforeAll(async () => {
  packed = temporaryFolder();
  ({ tarball } = await writeAwsPackage(process.cwd(), packed.path));
}, 120_000);
afterAll(() => packed.remove());

beforeEach(async () => {
  dynamoDb = await startDynamoDb();
  aws = await startAwsAccount(dynamoDb.endpoint);
  home = temporaryFolder();
  folder = join(home.path, 'push');
  mkdirSync(folder);
  operator = operatorIn(folder, home, aws);
});
afterEach(async () => {
  operator.remove();
  await aws.stop();
  await dynamoDb.stop();
  expect(aws.unknown).toEqual([]);
});

// Without the internet: npm does not install the packages of the CDK.
const install = () => `npm install --offline --legacy-peer-deps --no-audit --no-fund ${tarball}`;

/** What npm installs beside the package when it has the internet. */
function installCdk(): void {
  for (const name of ['aws-cdk', 'aws-cdk-lib', 'constructs', '.bin/cdk']) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
}

const settings = () => JSON.parse(readFileSync(join(folder, 'carillon.json'), 'utf8'));

test('from an empty folder to an API key card, with the package only', async () => {
  expect((await operator.run(install())).code).toBe(0);
  installCdk();
  const { code, output } = await operator.run('npx carillon deploy', {
    answers: [
      ['push services can reach you: ', 'push@carillon.net'],
      ['alarms notify, or "none" [none]: ', ''],
      ['Create this in 111122223333, eu-west-1? [y/N] ', 'y'],
      ['Id of your first project [my-site]: ', ''],
    ],
  });
  expect(output).toContain('API key card of project "my-site"');
  expect(output).toContain('Now check it: npx carillon doctor --deliver');
  expect(code).toBe(0);
  expect(settings()).toEqual({
    ...{ region: 'eu-west-1', vapidSubject: 'push@carillon.net', alarmEmail: 'none' },
  });
  expect(aws.cloudFormation.find('Carillon')).toMatchObject({
    ...{ status: 'CREATE_COMPLETE', isProtected: true },
  });

  // The other commands read stack and region from the file.
  const listed = await operator.run('npx carillon list', { env: { AWS_REGION: undefined } });
  expect(listed.output).toContain('my-site');
  expect(listed.code).toBe(0);

  const updated = await operator.run('npx carillon deploy', { answers: [] });
  expect(updated.output).toContain('Carillon (no changes)');
  expect(updated.code).toBe(0);
});

test('without the CDK, the error names what to install', async () => {
  await operator.run(install());
  const { code, output } = await operator.run('npx carillon deploy');
  expect(output).toContain('Run: npm install aws-cdk aws-cdk-lib constructs');
  expect(code).toBe(1);
});

test('an app of the CDK is deployed as always, and the command finds the service in it', async () => {
  cpSync('examples/cdk-app', folder, {
    recursive: true,
    filter: (path) => !['package.json', 'node_modules'].includes(basename(path)),
  });
  await operator.run(install());
  installCdk();
  await aws.bootstrap();
  const deployed = await operator.run('npx cdk deploy --require-approval never');
  expect(deployed.output).toContain('PhotoShop');
  expect(deployed.code).toBe(0);

  const create = 'npx carillon create photos --region eu-west-1';
  const { output, code } = await operator.run(`${create} --stack PhotoShop/Push`);
  expect(output).toContain('API key card of project "photos"');
  expect(output).toContain('Base URL                https://PushHttpApi');
  expect(code).toBe(0);
  const unclear = await operator.run(`${create} --stack PhotoShop`);
  expect(unclear.output).toContain(
    'Choose a service of stack "PhotoShop": --stack PhotoShop/Push.',
  );
  expect(unclear.code).toBe(1);
});

test('a later version is deployed after the operator has agreed, and so is the one before', async () => {
  await operator.run(install());
  installCdk();
  await aws.bootstrap();
  const set = '--set vapidSubject=push@carillon.net alarmEmail=none';
  await operator.run(`npx carillon deploy ${set} --yes --project shop`);
  const templateNow = () => structuredClone(aws.cloudFormation.find('Carillon')!.template);
  const before = templateNow();

  const assets = 'push/node_modules/carillon-aws/assets/assets.json';
  const list = readFileSync(join(home.path, assets), 'utf8');
  const { hash } = JSON.parse(list).send;
  for (const version of [list.replace(hash, 'f'.repeat(64)), list]) {
    home.write(assets, version);
    const { code, output } = await operator.run('npx carillon deploy', {
      answers: [['(y/n) ', 'y']],
    });
    expect(output).toContain('Do you wish to deploy these changes?');
    expect(code).toBe(0);
    if (version === list) expect(templateNow()).toEqual(before);
    else expect(templateNow()).not.toEqual(before);
  }
});

test('a malformed carillon.json is named, and nothing is done', async () => {
  await operator.run(install());
  installCdk();
  home.write('push/carillon.json', '{ "stage": ');
  for (const command of ['deploy', 'list']) {
    const { code, output } = await operator.run(`npx carillon ${command}`);
    expect(output).toMatch(/^\S+carillon\.json is malformed: [^\n]+\n$/);
    expect(code).toBe(1);
  }
  expect(aws.calls).toEqual([]);
});

test('a stage has its own stack, which the other commands use then', async () => {
  await operator.run(install());
  installCdk();
  await aws.bootstrap();
  const set = '--set vapidSubject=push@carillon.net alarmEmail=none stage=eu';
  const { code, output } = await operator.run(`npx carillon deploy ${set} --yes --project shop`);
  expect(output).toContain('API key card of project "shop"');
  expect(code).toBe(0);
  expect((await operator.run('npx carillon show shop')).code).toBe(0);
  const other = await operator.run('npx carillon list --stack Carillon');
  expect(other.output).toContain('Deploy it with npx carillon deploy, or choose another');
});
