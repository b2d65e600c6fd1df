import { readFileSync } from 'node:fs';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { linesOf, subscriptionJson } from '../fixtures/subscription-lines.ts';
import { useAccount } from './fixtures/account.ts';
import type { Call } from './fixtures/aws-account.ts';
import { physicalId } from './fixtures/cloudformation.ts';

const page = readFileSync('docs/deploy.md', 'utf8');

const account = useAccount();

const statusOf = (name: string) => account.aws.cloudFormation.find(name)?.status;

/** The line of the page, or of another text, that starts with a command. */
function documented(start: string, text = page): string {
  const lines = text.split('\n').filter((line) => line.startsWith(start));
  expect(lines).not.toEqual([]);
  return lines[0]!;
}

test('the bootstrap works before anything is set', async () => {
  const bootstrap = documented('npx cdk bootstrap');
  const { code, output } = await account.operator.run(bootstrap);
  expect(output).toContain('bootstrapped');
  expect(code).toBe(0);
  expect(account.aws.cloudFormation.find('CDKToolkit')!.parameters).toMatchObject({
    CloudFormationExecutionPolicies: 'arn:aws:iam::111122223333:policy/Deployment',
  });
});

test('the CDK deploys, shows changes and rolls back', async () => {
  const { aws, operator } = account;
  await aws.bootstrap();
  operator.usePrepared(sharedAssembly);
  const deployed = await operator.run(`${documented('npx cdk deploy')} --require-approval never`);
  expect(deployed.code).toBe(0);
  expect(statusOf('Carillon')).toBe('CREATE_COMPLETE');

  const { output } = await operator.run(documented('npx cdk diff'));
  expect(output).toContain('There were no differences');

  const stack = aws.cloudFormation.find('Carillon')!;
  for (const { Type, Properties } of Object.values(stack.template.Resources)) {
    if (Type === 'AWS::Lambda::Function') Object.assign(Properties!.Code!, { S3Key: 'older.zip' });
  }
  const withOldCode = await operator.run(documented('npx cdk diff'));
  expect(withOldCode.output).toMatch(/\[~\] AWS::Lambda::Function .*Send/);
  expect(withOldCode.output).toContain('[-] older.zip');

  stack.status = 'UPDATE_ROLLBACK_FAILED';
  const rolledBack = await operator.run(documented('npx cdk rollback'));
  expect(rolledBack.code).toBe(0);
  expect(statusOf('Carillon')).toBe('UPDATE_ROLLBACK_COMPLETE');
});

test('the role of the pipeline may do what the pipeline does, and no more', async () => {
  const { aws, operator } = account;

  await aws.bootstrap();
  operator.usePrepared(sharedAssembly);
  const workflow = readFileSync('examples/pipeline/deploy.yml', 'utf8');
  const step = '      - run: ';
  const pipeline = documented(`${step}npm run -s deploy`, workflow).replace(step, '');
  const settings = '--set vapidSubject=push@carillon.net alarmEmail=ops@carillon.net';
  aws.cloudFormation.failures.Send = 'The role may not be assumed.';
  await operator.run(`${pipeline} ${settings}`);
  delete aws.cloudFormation.failures.Send;
  // Replaces the failed stack; then updates.
  expect((await operator.run(pipeline)).code).toBe(0);
  expect((await operator.run(pipeline)).code).toBe(0);
  await operator.run('npm run -s carillon -- doctor --region eu-west-1');

  const own = aws.calls.filter(
    (call) => call.role === undefined && actionOf(call) !== allowedToEverybody,
  );
  expect(own.filter((call) => !isAllowed(call))).toEqual([]);
  const allowed = statements.flatMap(({ Action }) => Action);
  const used = own.map(actionOf);
  const unused = allowed.filter((action) => !used.includes(action));
  expect(unused.filter((action) => !notHere.test(action))).toEqual([]);
});

test('the role of the pipeline may do what each command on projects and tables does', async () => {
  const { aws, operator } = account;
  await aws.deploy(sharedAssembly);
  const list = operator.write('list.ndjson', linesOf([subscriptionJson({ userId: 'ada' })]));
  const commands = [
    'create my-site',
    `subscriptions import my-site ${list}`,
    'invite my-site Ann --role viewer',
    'members --name Ann',
    'revoke --name Ann --yes',
    'notifications list my-site',
    'notifications stop my-site --running',
    'pause my-site',
    'recount my-site --yes',
    'export my-site my-site.project',
    'delete my-site --yes',
    'import my-site.project',
    'resume my-site',
    'users find ada',
    'users delete ada --project my-site --yes',
    'subscriptions prune my-site --failing gone_unconfirmed --yes',
    'show my-site',
    'restore --at 2026-11-20T08:00:00Z || true',
    'tables restore --at 2026-11-20T08:00:00Z',
    'restore --at 2026-11-20T08:00:00Z --project my-site',
  ];
  const script = commands.map((line) => `npm run -s carillon -- ${line}`).join(' && ');
  const { code, output } = await operator.run(script);
  expect({ code, output }).toMatchObject({ code: 0 });
  const stack = aws.cloudFormation.find('Carillon')!;
  for (const lost of ['SubscriptionsTable', 'RateLimitsTable']) {
    const id = Object.keys(stack.template.Resources).find((one) => one.startsWith(lost))!;
    await aws.deleteTable(physicalId(stack, id));
  }
  const restored = await operator.run('npm run -s carillon -- tables restore --yes');
  expect({ ...restored, lines: restored.output.split('\n') }).toMatchObject({
    code: 0,
    lines: expect.arrayContaining([
      'Subscriptions: got the expiry of its items, point-in-time recovery, its tag',
      'RateLimits: got the expiry of its items',
    ]),
  });
  const calls = aws.calls.filter(({ service }) => service === 'dynamodb').flatMap(singleCalls);
  expect(calls.filter((call) => !isAllowed(call))).toEqual([]);
  const used = new Set(calls.map(actionOf));
  const ofTables = statements
    .flatMap(({ Action }) => Action)
    .filter((action) => action.startsWith('dynamodb:'));
  expect(ofTables.filter((action) => !used.has(action))).toEqual([]);
});

test('the role of the pipeline reads about its stacks only, where AWS can limit that', () => {
  const unlimited = statements.filter(({ Resource }) => Resource.includes('*'));
  // Numbers of the account, names of tables and backups, and the states of alarms: AWS limits none of them.
  expect(unlimited.flatMap(({ Action }) => Action)).toEqual([
    'lambda:GetAccountSettings',
    'cloudwatch:DescribeAlarms',
    'dynamodb:ListTables',
    'dynamodb:ListBackups',
  ]);
});

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

const statements: readonly Statement[] = JSON.parse(
  readFileSync('examples/pipeline/permissions.json', 'utf8'),
).Statement;

function isAllowed(call: Call): boolean {
  return statements.some(({ Action, Resource }) => {
    const resources = [Resource].flat().some((arn) => matches(arn, resourceOf(call)));
    return [Action].flat().includes(actionOf(call)) && resources;
  });
}

/** What AWS asks for: the operations of a transaction, and the tables of a batch. */
function singleCalls(call: Call): readonly Call[] {
  const { TransactItems, RequestItems, TargetTableName } = call.input as {
    readonly TargetTableName?: string;
    readonly TransactItems?: readonly Readonly<Record<string, Call['input']>>[];
    readonly RequestItems?: object;
  };
  if (TargetTableName !== undefined) {
    const { SourceTableName, BackupArn } = call.input;
    const source: Call['input'] = BackupArn
      ? { ResourceArn: BackupArn }
      : { TableName: SourceTableName! };
    return [source, { TableName: TargetTableName }].map((input) => ({ ...call, input }));
  }
  if (TransactItems !== undefined) {
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, input]) => ({
        ...{ ...call, input },
        operation: `${kind}Item`,
      })),
    );
  }
  return Object.keys(RequestItems ?? { none: 0 }).map((TableName) =>
    RequestItems === undefined ? call : { ...call, input: { TableName } },
  );
}

const allowedToEverybody = 'sts:GetCallerIdentity';
/**
 * Of `doctor --deliver`, which needs a service, of `tables restore`, of an update that changes a warmed table, and of a
 * confirmed address.
 */
const notHere =
  /^(dynamodb:(?!DescribeContinuousBackups|DescribeTimeToLive|ListTagsOfResource|Scan)|sns:)/;

function actionOf({ service, operation }: Call): string {
  return service === 'apigateway' ? 'apigateway:GET' : `${service}:${operation}`;
}

/** The ARN of what a call is about. */
function resourceOf({ service, input }: Call): string {
  const inAccount = `arn:aws:${service}:eu-west-1:111122223333:`;
  const { StackName, RoleArn, Name, FunctionName, TableName, ResourceArn, DomainName } = input;
  if (StackName)
    return StackName.startsWith('arn:') ? StackName : `${inAccount}stack/${StackName}/1`;
  const given = RoleArn ?? ResourceArn;
  if (given) return given;
  if (FunctionName) return `${inAccount}function:${FunctionName}`;
  if (TableName) return `${inAccount}table/${TableName}`;
  if (Name) return `${inAccount}parameter${Name}`;
  if (DomainName) return `arn:aws:apigateway:eu-west-1::/domainnames/${DomainName}`;
  return service === 'apigateway' ? 'arn:aws:apigateway:eu-west-1::/account' : '*';
}

const matches = (pattern: string, arn: string) =>
  new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(arn);
