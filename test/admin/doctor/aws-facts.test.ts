import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { type AwsFacts, awsFacts } from '../../../admin/doctor/aws-facts.ts';
import { checks, runCheck } from '../../../admin/doctor/checks.ts';
import { documentClient } from '../../../lambdas/store/dynamo.ts';
import { type AwsEndpoint, startAwsEndpoint } from '../../fixtures/aws-endpoint.ts';

let aws: AwsEndpoint;
let facts: AwsFacts;
let disconnect: () => void;

beforeAll(async () => {
  aws = await startAwsEndpoint();
});
afterAll(() => aws.stop());
beforeEach(() => {
  // The clients that awsFacts creates read it, as they do for an operator.
  process.env.AWS_ENDPOINT_URL = aws.url;
  const config = {
    region: 'eu-west-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'none' },
  };
  const cloudFormation = new CloudFormationClient(config);
  const dynamo = documentClient(config);
  const tables = {
    projects: 'Projects-1',
    vapidKeys: 'VapidKeys-1',
    identityKeys: 'IdentityKeys-1',
    subscriptions: 'Subscriptions-1',
    usage: 'Usage-1',
    notifications: 'Notifications-1',
  };
  const apiUrl = 'https://push.example';
  const quotas = { executions: 1000, requestsPerSecond: 9000 };
  facts = awsFacts({
    ...{ stack: 'MyApp', prefix: 'Push' },
    ...{ apiUrl, quotas, cloudFormation, dynamo, tables },
  });
  disconnect = () => {
    facts.close();
    cloudFormation.destroy();
    dynamo.destroy();
  };
});
afterEach(() => {
  disconnect();
  delete process.env.AWS_ENDPOINT_URL;
});

/** A response of ListStackResources. The service's construct has the id `Push`. */
function resources(
  ...found: readonly (readonly [type: string, name: string, logicalId?: string])[]
) {
  const members = found.map(
    ([type, name, logicalId = 'PushX']) =>
      `<member><LogicalResourceId>${logicalId}</LogicalResourceId><ResourceType>${type}</ResourceType>` +
      `<PhysicalResourceId>${name}</PhysicalResourceId></member>`,
  );
  return () => `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
}

/** What a check says. The checks of AWS's facts read nothing else of a deployment. */
function check(name: string) {
  return runCheck(checks[name]!, { facts } as unknown as Parameters<typeof runCheck>[1]);
}

describe('concurrency', () => {
  it('is a warning at the 10 executions of a new account', async () => {
    aws.respond({ GetAccountSettings: () => ({ AccountLimit: { ConcurrentExecutions: 10 } }) });
    expect(await facts.concurrency()).toBe(10);
    expect(await check('concurrency')).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(
        /^Lambda runs 10 functions at once in this account and region\. The stack assumes 1000: deploy again, or its alarm fires too late\. Ten are enough .* --quota-code L-B99A9384 --desired-value 1000$/,
      ),
    });
  });

  it('is a warning if the setting is not raised with the quota', async () => {
    aws.respond({ GetAccountSettings: () => ({ AccountLimit: { ConcurrentExecutions: 5000 } }) });
    expect(await check('concurrency')).toEqual({
      level: 'warning',
      message:
        'Lambda runs 5000 functions at once in this account and region. ' +
        'The stack assumes 1000: deploy again, or its alarm fires early.',
    });
  });

  it('is enough at the usual 1,000', async () => {
    aws.respond({ GetAccountSettings: () => ({ AccountLimit: { ConcurrentExecutions: 1000 } }) });
    expect(await check('concurrency')).toMatchObject({ level: 'ok' });
  });
});

describe('the throttle of API Gateway', () => {
  const respond = (rateLimit: number) =>
    aws.respond({ GetAccount: () => ({ throttleSettings: { rateLimit, burstLimit: 1 } }) });

  it('is the one of the account', async () => {
    respond(10_000);
    expect(await facts.requestsPerSecond()).toBe(10_000);
    expect(await check('api throttle')).toMatchObject({ level: 'ok' });
  });

  it('is a warning if the routes may take more', async () => {
    respond(2500);
    expect(await check('api throttle')).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('The throttles of the routes add up to 9000'),
    });
  });

  it('is a problem that names the missing permission if AWS denies the call', async () => {
    aws.respond({});
    expect(await check('api throttle')).toEqual({
      level: 'problem',
      message: 'The check failed: User: ann is not authorized to perform: GetAccount',
    });
  });
});

describe('alarms', () => {
  it('of a stack without alarms are an empty list, whatever the account has', async () => {
    aws.respond({
      ListStackResources: resources(['AWS::Lambda::Function', 'Send-1']),
      DescribeAlarms: () => ({ MetricAlarms: [{ AlarmName: 'of another stack' }] }),
    });
    expect(await facts.alarms()).toEqual([]);
    expect(await check('alarm actions')).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/^Alarms notify nobody/),
    });
  });

  it('are those of the service, with their state and whether they notify', async () => {
    const topic = 'arn:aws:sns:eu-west-1:1:operator';
    const alarm = { ActionsEnabled: true, StateValue: 'OK' };
    aws.respond({
      ListStackResources: resources(
        ['AWS::CloudWatch::Alarm', 'Firing'],
        ['AWS::CloudWatch::Alarm', 'Silenced'],
        ['AWS::CloudWatch::CompositeAlarm', 'All'],
        ['AWS::CloudWatch::Alarm', 'OfTheRestOfTheStack', 'Other'],
        ['AWS::SNS::Topic', topic],
      ),
      DescribeAlarms: () => ({
        MetricAlarms: [
          { ...alarm, AlarmName: 'Firing', StateValue: 'ALARM', AlarmActions: [] },
          { ...alarm, AlarmName: 'Silenced', ActionsEnabled: false, AlarmActions: [topic] },
        ],
        CompositeAlarms: [{ ...alarm, AlarmName: 'All', AlarmActions: [topic] }],
      }),
    });
    expect(await facts.alarms()).toEqual([
      { name: 'Firing', isFiring: true, hasAction: false },
      { name: 'Silenced', isFiring: false, hasAction: false },
      { name: 'All', isFiring: false, hasAction: true },
    ]);
    const asked = aws.calls.find(({ operation }) => operation === 'DescribeAlarms');
    expect(asked!.input).toMatchObject({
      AlarmNames: ['Firing', 'Silenced', 'All'],
      AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
    });
  });

  it('are a problem that names the missing permission if AWS denies the call', async () => {
    aws.respond({ ListStackResources: resources(['AWS::CloudWatch::Alarm', 'Firing']) });
    const { message } = await check('alarms');
    expect(message).toMatch(/not authorized to perform: DescribeAlarms$/);
    aws.respond({});
    expect((await check('alarms')).message).toMatch(
      /not authorized to perform: ListStackResources$/,
    );
  });
});

describe('the address that alarms notify', () => {
  const topic = 'arn:aws:sns:eu-west-1:1:Carillon-Topic';

  it.each([
    ['is confirmed', [`${topic}:1`], 'ok'],
    ['waits for its confirmation', ['PendingConfirmation'], 'problem'],
    ['was not confirmed in time', [], 'problem'],
    ['has unsubscribed', ['Deleted'], 'problem'],
  ])('%s', async (_title, subscriptions, level) => {
    const members = subscriptions.map(
      (arn) => `<member><SubscriptionArn>${arn}</SubscriptionArn></member>`,
    );
    aws.respond({
      ListStackResources: resources(['AWS::CloudWatch::Alarm', 'Page'], ['AWS::SNS::Topic', topic]),
      DescribeAlarms: () => ({
        MetricAlarms: [{ AlarmName: 'Page', ActionsEnabled: true, AlarmActions: [topic] }],
      }),
      ListSubscriptionsByTopic: () => `<Subscriptions>${members.join('')}</Subscriptions>`,
    });
    expect(await check('alarm actions')).toMatchObject({ level });
  });

  it('is not asked for if the alarms notify a topic of the operator', async () => {
    aws.respond({
      ListStackResources: resources(['AWS::CloudWatch::Alarm', 'Page']),
      DescribeAlarms: () => ({
        MetricAlarms: [{ AlarmName: 'Page', ActionsEnabled: true, AlarmActions: [topic] }],
      }),
    });
    expect(await check('alarm actions')).toMatchObject({ level: 'ok' });
  });
});

test('functions have the reason why they cannot run, and their environment', async () => {
  const configurations: Record<string, object> = {
    ready: { State: 'Active', Environment: { Variables: { SUBSCRIBER_CAP: '5' } } },
    idle: { State: 'Inactive', StateReason: 'The function has been idle.' },
    failed: { State: 'Failed', StateReason: 'The KMS key is disabled.' },
    stale: { State: 'Active', LastUpdateStatus: 'Failed', LastUpdateStatusReason: 'No memory.' },
  };
  const names = Object.keys(configurations);
  aws.respond({
    ListStackResources: resources(
      ...names.map((name) => ['AWS::Lambda::Function', name] as const),
      ['AWS::DynamoDB::Table', 'Usage-1'],
    ),
    GetFunctionConfiguration: ({ FunctionName }) => ({
      FunctionName,
      ...configurations[String(FunctionName)],
    }),
  });
  expect(await facts.functions()).toEqual([
    { name: 'ready', failure: undefined, environment: { SUBSCRIBER_CAP: '5' } },
    { name: 'idle', failure: undefined, environment: {} },
    { name: 'failed', failure: 'The KMS key is disabled.', environment: {} },
    { name: 'stale', failure: 'No memory.', environment: {} },
  ]);
});

test.each([
  ['UPDATE_COMPLETE', true, 'ok'],
  ['UPDATE_COMPLETE', false, 'warning'],
  // The version before runs.
  ['UPDATE_ROLLBACK_COMPLETE', true, 'warning'],
  ['UPDATE_IN_PROGRESS', true, 'problem'],
  ['UPDATE_ROLLBACK_FAILED', true, 'problem'],
])('a stack that is %s, protected: %s, is: %s', async (status, isProtected, level) => {
  aws.respond({
    DescribeStacks: () =>
      `<Stacks><member><StackName>Carillon</StackName><StackStatus>${status}</StackStatus>` +
      `<EnableTerminationProtection>${isProtected}</EnableTerminationProtection></member></Stacks>`,
  });
  expect(await facts.stack()).toEqual({ status, isProtected });
  expect(await check('stack')).toMatchObject({ level });
});

test('tables without point-in-time recovery are named', async () => {
  aws.respond({
    DescribeContinuousBackups: ({ TableName }) => ({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: {
          PointInTimeRecoveryStatus: TableName === 'Usage-1' ? 'DISABLED' : 'ENABLED',
        },
      },
    }),
  });
  expect(await facts.tablesWithoutBackup()).toEqual(['Usage-1']);
  expect(aws.calls).toHaveLength(6);
});
