import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DynamoDb, startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type AwsAccount, startAwsAccount } from './fixtures/aws-account.ts';
import { operatorOf } from './fixtures/operator.ts';

let dynamoDb: DynamoDb;
let aws: AwsAccount;
let operator: ReturnType<typeof operatorOf>;
beforeAll(async () => {
  dynamoDb = await startDynamoDb();
});
afterAll(() => dynamoDb.stop());
beforeEach(async () => {
  aws = await startAwsAccount(dynamoDb.endpoint);
  operator = operatorOf(aws);
});
afterEach(async () => {
  operator.remove();
  await aws.stop();
  expect(aws.unknown).toEqual([]);
});

/** Lets the clone deploy an assembly that is synthesized already, which saves 10 s. */
function deployPrepared(): void {
  const file = join(operator.clone, 'cdk.json');
  const app = `cp -R ${sharedAssembly()}/. "$CDK_OUTDIR"`;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), app }));
}

const deploy =
  'npm run -s deploy -- --yes --vapid-subject push@carillon.net --alarm-email ops@carillon.net --project my-shop';

test('an empty account gets the service', async () => {
  const { code, output } = await operator.run(deploy);
  expect(output).toContain('API key card of project "my-shop"');
  expect(code).toBe(0);
});

test('the bootstrap by hand works before anything is set', async () => {
  const [, command = ''] = /`(npx cdk bootstrap[^`]*)`/.exec(
    readFileSync('docs/deploy.md', 'utf8'),
  )!;
  const { code, output } = await operator.run(command);
  expect(output).toContain('bootstrapped');
  expect(code).toBe(0);
});

test('nobody is notified if the operator wants that', async () => {
  aws.bootstrap();
  const { code, output } = await operator.run(deploy.replace('ops@carillon.net', 'none'));
  expect(output).toContain('API key card of project "my-shop"');
  expect(code).toBe(0);
});

test('a deployment that is interrupted before its change set is executed can be repeated', async () => {
  aws.bootstrap();
  deployPrepared();
  const interrupt = aws.hold('ExecuteChangeSet');
  await operator.run(deploy, { interrupt });
  expect(aws.cloudFormation.find('Carillon')!.status).toBe('REVIEW_IN_PROGRESS');
  aws.allow('ExecuteChangeSet');
  const { code, output } = await operator.run(deploy);
  expect(output).toContain('API key card of project "my-shop"');
  expect(code).toBe(0);
});
