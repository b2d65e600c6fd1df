import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../../admin/commands/connection.ts';
import { outputPrefixOf } from '../../../contract/infrastructure/stack-name.ts';
import { outputOf, tableNames, tableVariables } from '../../../contract/infrastructure/tables.ts';
import { type AwsEndpoint, startAwsEndpoint } from '../../fixtures/aws-endpoint.ts';
import { AwsError } from '../../fixtures/aws-protocols.ts';
import { settings, useOperator } from '../../fixtures/operator.ts';
import { freePort } from '../../fixtures/ports.ts';

const operator = useOperator();
let projectId: string;

beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

describe('a local stack', () => {
  it('must be running', async () => {
    const { code, messages } = await operator.runLocal(['list'], {
      file: join(operator.directory, 'none.json'),
    });
    expect(code).toBe(1);
    expect(messages).toBe(
      'No local stack is running in this folder. In a clone of Carillon, start one with npm start, and run this command there.\n',
    );
  });

  it('must have a valid state file', async () => {
    const file = join(operator.directory, 'broken.json');
    await writeFile(file, '{"baseUrl":');
    const { code, messages } = await operator.runLocal(['list'], { file });
    expect(code).toBe(1);
    expect(messages).toContain('is malformed. Start the local stack again');
  });

  it('must respond', async () => {
    const file = join(operator.directory, 'ended.json');
    await writeFile(file, operator.localState(`http://127.0.0.1:${await freePort()}`));
    const { code, messages } = await operator.runLocal(['list'], { file });
    expect(code).toBe(1);
    expect(messages).toBe('The local stack does not respond. Start it again with: npm start\n');
  });
});

describe('a deployed stack', () => {
  const names = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_PROFILE',
    'AWS_REGION',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_EC2_METADATA_DISABLED',
    'AWS_ENDPOINT_URL_CLOUDFORMATION',
    'AWS_ENDPOINT_URL_DYNAMODB',
  ];
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  let aws: AwsEndpoint;

  beforeEach(async () => {
    aws = await startAwsEndpoint();
    for (const name of names) delete process.env[name];
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CONFIG_FILE: join(operator.directory, 'no-config'),
      AWS_SHARED_CREDENTIALS_FILE: join(operator.directory, 'no-credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
      AWS_ENDPOINT_URL_DYNAMODB: operator.database.endpoint,
    });
  });
  afterEach(async () => {
    for (const name of names) delete process.env[name];
    for (const [name, value] of Object.entries(before)) {
      if (value !== undefined) process.env[name] = value;
    }
    await aws.stop();
  });

  const outputs = () => ({
    ApiUrl: 'https://api.example/',
    Settings: JSON.stringify(settings),
    Quotas: JSON.stringify({ executions: 1000, requestsPerSecond: 9000 }),
    ...Object.fromEntries(
      tableNames.map((table) => [outputOf(table), operator.database.tables[tableVariables[table]]]),
    ),
  });

  it('is read from the outputs of its CloudFormation stack', async () => {
    aws.respond({ DescribeStacks: () => describedStack(outputs()) });
    const args = ['create', projectId, '--region', 'eu-west-1', '--json'];
    const { code, output } = await operator.run(args);
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ projectId, baseUrl: 'https://api.example' });
    expect(await operator.registry.find(projectId)).toBeDefined();
    expect(aws.calls).toMatchObject([{ input: { StackName: 'Carillon' } }]);
  });

  it.each([undefined, '1.2.0'])('says that its version is %s', async (version) => {
    const all = { ...outputs(), ...(version && { Version: version }) };
    aws.respond({ DescribeStacks: () => describedStack(all) });
    const stack = { kind: 'deployed', stack: 'Carillon', region: 'eu-west-1' } as const;
    const { close, ...connection } = await connect(stack);
    close();
    expect(connection.version).toBe(version);
  });

  it('is chosen with --stack', async () => {
    aws.respond({ DescribeStacks: () => describedStack(outputs()) });
    await operator.run(['list', '--region', 'eu-west-1', '--stack', 'Carillon-dev']);
    expect(aws.calls).toMatchObject([{ input: { StackName: 'Carillon-dev' } }]);
  });

  it('is one of several services in a stack, named by the ids of their constructs', async () => {
    const ids = ['Push', 'Push1', 'Push-1', 'Notifications/Push', 'Push 1'];
    const all = ids.flatMap((id) =>
      Object.entries({ ...outputs(), ApiUrl: `https://${ids.indexOf(id)}.example` }).map(
        ([name, value]) => [outputPrefixOf(id.split('/')) + name, value],
      ),
    );
    aws.respond({ DescribeStacks: () => describedStack(Object.fromEntries(all)) });
    for (const [index, id] of ids.entries()) {
      const args = ['create', `of-${index}`, '--region', 'eu-west-1', '--json'];
      const { output } = await operator.run([...args, '--stack', `MyApp/${id}`]);
      expect(JSON.parse(output).baseUrl).toBe(`https://${index}.example`);
    }
    const { messages } = await operator.run(['list', '--region', 'eu-west-1', '--stack', 'MyApp']);
    expect(messages).toBe(
      'Choose a service of stack "MyApp": --stack MyApp/Push or --stack MyApp/Push1 or --stack ' +
        "MyApp/Push-1 or --stack MyApp/Notifications/Push or --stack 'MyApp/Push 1'.\n",
    );
  });

  it.each([
    ['ValidationError', 'Stack "Carillon" does not exist in eu-west-1.'],
    [
      'AccessDenied',
      'These AWS credentials are not allowed to describe stack "Carillon" in eu-west-1.',
    ],
    ['ExpiredToken', 'The AWS credentials are expired or invalid. Sign in again.'],
    ['InvalidClientTokenId', 'or invalid. Sign in again, or enable the region '],
  ])('fails in one line if CloudFormation returns %s', async (errorCode, message) => {
    aws.respond({ DescribeStacks: () => new AwsError(errorCode, 'No.') });
    const { code, output, messages } = await operator.run(['list', '--region', 'eu-west-1']);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(messages).toContain(message);
    expect(messages.trimEnd().split('\n')).toHaveLength(1);
  });

  it.each([
    [{ UsageTable: '' }, 'is missing the outputs UsageTable'],
    [{ UsageTable: '' }, 'A service in an app of yours needs exportOutputs: true.'],
    [{ Settings: '{}' }, 'The output Settings of stack "Carillon" is malformed.'],
    [{ Quotas: '{}' }, 'The output Quotas of stack "Carillon" is malformed.'],
  ])('must not have the outputs %j', async (changed, message) => {
    aws.respond({ DescribeStacks: () => describedStack({ ...outputs(), ...changed }) });
    const { code, messages } = await operator.run(['list', '--region', 'eu-west-1']);
    expect(code).toBe(1);
    expect(messages).toContain(message);
  });

  it('needs a region', async () => {
    const file = join(operator.directory, 'none.json');
    const { code, messages } = await operator.run(['list'], { file });
    expect(code).toBe(1);
    expect(messages).toBe(
      'No AWS region is set. Use --region or set AWS_REGION. For a local stack, use --local.\n',
    );
  });

  it('needs credentials', async () => {
    delete process.env.AWS_ACCESS_KEY_ID;
    const { code, messages } = await operator.run(['list', '--region', 'eu-west-1']);
    expect(code).toBe(1);
    expect(messages).toContain(
      'No AWS credentials: Could not load credentials from any providers.',
    );
  });

  it.each([
    [
      'sso_account_id = 1\nsso_role_name = A\nsso_region = eu-west-1\nsso_start_url = https://a.awsapps.com/start',
      'run aws sso login',
    ],
    ['role_arn = arn:aws:iam::1:role/a\nmfa_serial = ann\nsource_profile = ann', 'multi-factor'],
  ])('keeps what the SDK says about a profile', async (profile, hint) => {
    const file = join(operator.directory, `config-${randomUUID()}`);
    const ann = '[profile ann]\naws_access_key_id = a\naws_secret_access_key = a';
    await writeFile(file, `[profile work]\n${profile}\n${ann}\n`);
    delete process.env.AWS_ACCESS_KEY_ID;
    Object.assign(process.env, { AWS_PROFILE: 'work', AWS_CONFIG_FILE: file });
    const { code, messages } = await operator.run(['list', '--region', 'eu-west-1']);
    expect(code).toBe(1);
    expect(messages).toContain(hint);
  });
});

/** A response of DescribeStacks. */
function describedStack(outputs: Readonly<Record<string, string>>) {
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => {
    return { OutputKey, OutputValue };
  });
  const CreationTime = '2026-11-20T00:00:00Z';
  const stack = { StackName: 'Carillon', StackStatus: 'CREATE_COMPLETE', CreationTime, Outputs };
  return { Stacks: [stack] };
}
