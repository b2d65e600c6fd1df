import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunCdk } from '../../../admin/deploy/cdk.ts';
import { runDeploy } from '../../../admin/deploy/deploy.ts';
import { readSettings } from '../../../lib/settings.ts';
import { type AwsEndpoint, startAwsEndpoint } from '../../fixtures/aws-endpoint.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';
import { type Operator, settings, startOperator } from '../../fixtures/operator.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

/** An AWS account as far as the command sees it. Stacks by their names. */
interface Account {
  stacks: Record<string, string>;
  executions: number;
  readonly denied: Set<string>;
}

let aws: AwsEndpoint;
let operator: Operator;
let folder: Folder;
let account: Account;
/** Commands of the CDK that were run. */
let commands: string[];
/** How the next deployment ends. */
let deployment: { readonly lines: readonly string[]; readonly status: string };
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  aws = await startAwsEndpoint();
  operator = await startOperator();
});
afterAll(async () => {
  await operator.stop();
  await aws.stop();
});

const successful = {
  lines: [
    'Carillon |  1/97 | 10:11:12 AM | CREATE_IN_PROGRESS   | AWS::IAM::Role | Send/Role (SendRole1)',
    'Carillon | 97/97 | 10:14:02 AM | CREATE_COMPLETE      | AWS::CloudFormation::Stack | Carillon',
  ],
  status: 'CREATE_COMPLETE',
};

beforeEach(async () => {
  environment = { ...process.env };
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL: aws.url,
    AWS_ENDPOINT_URL_DYNAMODB: operator.database.endpoint,
    AWS_EC2_METADATA_DISABLED: 'true',
  });
  folder = temporaryFolder();
  folder.write(
    'cdk.json',
    '{\n  "app": "npx tsx bin/app.ts",\n  "context": {\n    "@aws-cdk/core:x": ["aws", "aws-cn"]\n  }\n}\n',
  );
  account = { stacks: {}, executions: 1000, denied: new Set() };
  commands = [];
  deployment = successful;
  aws.respond({
    GetCallerIdentity: () =>
      '<Arn>arn:aws:iam::111122223333:user/ann</Arn><UserId>x</UserId><Account>111122223333</Account>',
    GetAccountSettings: () =>
      account.denied.has('GetAccountSettings')
        ? named('AccessDeniedException', 'You are not authorized.')
        : { AccountLimit: { ConcurrentExecutions: account.executions } },
    DescribeStacks: ({ StackName }) => described(String(StackName)),
    UpdateTerminationProtection: () => '<StackId>x</StackId>',
  });
  for await (const { projectId } of operator.registry.list()) {
    await operator.registry.remove(projectId, (size) => Buffer.alloc(size));
  }
});
afterEach(() => {
  process.env = environment;
  folder.remove();
});

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

function stackXml(status: string): string {
  const { tables } = operator.database;
  const outputs: Record<string, string> = {
    ApiUrl: 'https://push.carillon.test/',
    Settings: JSON.stringify(settings).replaceAll('"', '&quot;'),
    Quotas: '{&quot;executions&quot;:1000,&quot;requestsPerSecond&quot;:9000}',
    ProjectsTable: tables.PROJECTS_TABLE,
    VapidKeysTable: tables.VAPID_KEYS_TABLE,
    IdentityKeysTable: tables.IDENTITY_KEYS_TABLE,
    SubscriptionsTable: tables.SUBSCRIPTIONS_TABLE,
    UsageTable: tables.USAGE_TABLE,
    NotificationsTable: tables.NOTIFICATIONS_TABLE,
    TalliesTable: tables.TALLIES_TABLE,
  };
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<Stacks><member><StackStatus>${status}</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks>`;
}

function described(stack: string): string | Error {
  const status = account.stacks[stack];
  if (account.denied.has('DescribeStacks')) {
    return named('AccessDenied', 'User: ann is not authorized to perform DescribeStacks');
  }
  return status === undefined
    ? named('ValidationError', `Stack with id ${stack} does not exist`)
    : stackXml(status);
}

const runCdk: RunCdk = async ([command = '', ...args], env, onLine) => {
  commands.push([command, ...args].join(' '));
  const stack = args.includes('stage=eu') ? 'Carillon-eu' : 'Carillon';
  expect(env).toEqual({ AWS_REGION: 'eu-west-1' });
  if (command === 'bootstrap') account.stacks.CDKToolkit = 'CREATE_COMPLETE';
  if (command === 'synth') {
    const Resources = {
      a: { Type: 'AWS::Lambda::Function' },
      b: { Type: 'AWS::Lambda::Function' },
      c: { Type: 'AWS::IAM::Role' },
    };
    folder.write(`cdk.out/${stack}.template.json`, JSON.stringify({ Resources }));
  }
  if (command === 'diff') onLine('[+] AWS::CloudWatch::Alarm Alarms/New');
  if (command !== 'deploy') return 0;
  for (const line of deployment.lines) onLine(line);
  account.stacks[stack] = deployment.status;
  return deployment === successful ? 0 : 1;
};

async function deploy(args: readonly string[], typed?: string) {
  const terminal = testTerminal(typed === undefined ? {} : { isTTY: true, typed });
  process.env.NO_COLOR = '1';
  const root = folder.path;
  const code = await runDeploy(args, { terminal, root, runCdk, checkSettings: readSettings });
  return { code, ...terminal.written() };
}

const cdkJson = () => JSON.parse(readFileSync(join(folder.path, 'cdk.json'), 'utf8')).context;
const needed = ['--vapid-subject', 'push@carillon.net', '--alarm-email', 'ops@carillon.net'];

test('an empty account gets the service after four answers', async () => {
  const { code, output, messages } = await deploy(
    [],
    'y\npush@carillon.net\nops@carillon.net\ny\nmy-shop\n',
  );
  expect({ code, commands }).toEqual({
    code: 0,
    commands: [
      'bootstrap aws://111122223333/eu-west-1',
      'synth --quiet --strict',
      'deploy --strict --require-approval never --progress events',
    ],
  });
  expect(cdkJson()).toMatchObject({
    vapidSubject: 'mailto:push@carillon.net',
    alarmEmail: 'ops@carillon.net',
  });
  expect(output).toContain('ok       account        111122223333 in eu-west-1, as arn:aws:iam');
  expect(output).toContain('ok       stack          Carillon does not exist yet.');
  expect(output).toContain('The stack will have 2 functions and 1 other resource,');
  expect(output).toContain('API key card of project "my-shop"');
  expect(output).toContain('https://push.carillon.test/api/v1/projects/my-shop/notifications');
  expect(output).toContain('carillon -- doctor --deliver --region eu-west-1');
  expect(messages).toContain('Deploy Carillon to 111122223333 in eu-west-1? [y/N]');
  expect(await operator.registry.find('my-shop')).toBeDefined();
});

test('a pipeline runs it without a terminal', async () => {
  account.stacks.CDKToolkit = 'UPDATE_COMPLETE';
  const { code, output } = await deploy([...needed, '--project', 'my-shop', '--yes']);
  expect(code).toBe(0);
  expect(commands).toEqual([
    'synth --quiet --strict',
    'deploy --strict --require-approval never --progress events',
  ]);
  expect(output).toContain('ok       bootstrap      The bucket and the roles of the CDK exist.');
});

test('a second run is an update that asks for nothing which is set', async () => {
  await deploy([...needed, '--project', 'my-shop', '--yes']);
  commands = [];
  const { code, output } = await deploy(['--yes']);
  expect({ code, commands }).toEqual({
    code: 0,
    commands: ['diff --strict', 'deploy --strict --require-approval never --progress events'],
  });
  expect(output).toContain('cdk.json has all of them.');
  expect(output).toContain('[+] AWS::CloudWatch::Alarm Alarms/New');
  expect(output).not.toContain('API key card');
});

test('what cdk.json has is offered, and Enter keeps it', async () => {
  await deploy([...needed, '--project', 'my-shop', '--yes']);
  const { code, messages } = await deploy([], '\n\ny\n');
  expect(code).toBe(0);
  expect(messages).toContain('[mailto:push@carillon.net]: ');
  expect(messages).toContain('[ops@carillon.net]: ');
});

test('a new account is told its quota, and the alarm is set to it', async () => {
  account.executions = 10;
  const { code, output } = await deploy([...needed, '--project', 'my-shop', '--yes']);
  expect(code).toBe(0);
  expect(output).toMatch(
    /^warning {2}concurrency {4}Lambda runs 10 functions at once .* Request 1,000 now, .*L-B99A9384/m,
  );
  expect(cdkJson().accountConcurrency).toBe(10);
});

test('a wrong setting is asked for again', async () => {
  account.stacks.CDKToolkit = 'CREATE_COMPLETE';
  const typed = 'ann@example.com\nnot an address\npush@carillon.net\nops@example.com\nnone\nn\n';
  const { code, messages } = await deploy([], typed);
  expect(messages).toContain('vapidSubject is an example: write your own address.');
  expect(messages).toContain('alarmEmail is an example: write your own address.');
  expect(messages).toContain('vapidSubject must be mailto:someone@your-domain or an https URL');
  expect(messages).toContain('Nothing was deployed.');
  expect({ code, commands }).toEqual({ code: 1, commands: ['synth --quiet --strict'] });
  expect(cdkJson().alarmEmail).toBeUndefined();
});

test.each([
  [[], 'Use --yes.'],
  [['--yes'], 'vapidSubject is missing. Use --vapid-subject.'],
  [['--yes', '--vapid-subject', 'x'], 'vapidSubject must be mailto:'],
  [
    ['--yes', '--vapid-subject', 'you@your-domain.example'],
    'vapidSubject is an example: write your own address. Use --vapid-subject.',
  ],
])('without a terminal, %j says which flag answers', async (args, message) => {
  const { code, messages } = await deploy(args);
  expect(code).toBe(1);
  expect(messages).toContain(message);
});

test.each([['DescribeStacks', 'Cannot describe the stack Carillon: User: ann is not authorized']])(
  'a missing permission for %s is named',
  async (operation, message) => {
    account.denied.add(operation);
    const { code, messages } = await deploy([...needed, '--yes']);
    expect({ code, commands }).toEqual({ code: 1, commands: [] });
    expect(messages).toContain(message);
  },
);

test.each([
  [new Error('x'), 'AWS refuses the credentials: x Sign in again.'],
  [undefined, 'AWS does not respond in eu-west-1: '],
])(
  'credentials that AWS does not accept, or a network without AWS, are told apart',
  async (error, message) => {
    if (error === undefined) process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:9';
    else aws.respond({ GetCallerIdentity: () => named('ExpiredToken', error.message) });
    const { code, messages } = await deploy([...needed, '--yes']);
    expect(code).toBe(1);
    expect(messages).toContain(message);
  },
);

test('a quota that may not be read is a warning', async () => {
  account.denied.add('GetAccountSettings');
  const { code, output } = await deploy([...needed, '--yes', '--project', 'my-shop']);
  expect(code).toBe(0);
  expect(output).toContain('You may not read it (lambda:GetAccountSettings).');
});

test('a failed deployment names the cause and what is there now, and can be repeated', async () => {
  deployment = {
    lines: [
      'Carillon | 12/97 | 10:11:12 AM | CREATE_FAILED        | AWS::Lambda::Function | Send (Send1) The role may not be assumed.',
      'Carillon | 13/97 | 10:11:13 AM | CREATE_FAILED        | AWS::IAM::Role | Track (Track1) Resource creation cancelled',
    ],
    status: 'ROLLBACK_COMPLETE',
  };
  const args = [...needed, '--yes', '--project', 'my-shop'];
  const failed = await deploy(args);
  expect(failed.code).toBe(1);
  expect(failed.messages).toContain(
    'Send (Send1) The role may not be assumed. Carillon is ROLLBACK_COMPLETE: the first deployment failed',
  );
  deployment = successful;
  const repeated = await deploy(args);
  expect(repeated.code).toBe(0);
  expect(repeated.output).toContain(
    'warning  stack          The first deployment of Carillon failed',
  );
  expect(aws.calls.map(({ operation }) => operation)).toContain('UpdateTerminationProtection');
});

test('an interrupted deployment goes on without the command, which says so', async () => {
  deployment = { lines: successful.lines.slice(0, 1), status: 'CREATE_IN_PROGRESS' };
  const args = [...needed, '--yes', '--project', 'my-shop'];
  const interrupted = await deploy(args);
  expect(interrupted.code).toBe(1);
  expect(interrupted.messages).toContain(
    'CloudFormation is still working, also without this command.',
  );
  commands = [];
  const tooEarly = await deploy(args);
  expect({ code: tooEarly.code, commands }).toEqual({ code: 1, commands: [] });
  account.stacks.Carillon = 'CREATE_COMPLETE';
  deployment = successful;
  expect((await deploy(args)).output).toContain('API key card of project "my-shop"');
});

test('a stage is a stack of its own', async () => {
  const { code, output } = await deploy([...needed, '--yes', '--stage', 'eu']);
  expect(code).toBe(0);
  expect(commands.every((command) => command.endsWith('-c stage=eu'))).toBe(true);
  expect(output).toContain('doctor --deliver --stack Carillon-eu --region eu-west-1');
});

test('with --yes, no project is created that nobody has named', async () => {
  const { code, output } = await deploy([...needed, '--yes']);
  expect(code).toBe(0);
  expect(output).not.toContain('API key card');
});

test('a wrong project id is refused before anything is deployed', async () => {
  const { code, messages } = await deploy([...needed, '--yes', '--project', 'My Shop']);
  expect({ code, commands }).toEqual({ code: 2, commands: [] });
  expect(messages).toContain('Use 1 to 64 lowercase letters');
});
