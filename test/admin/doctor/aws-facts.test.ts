import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import {
  type AwsFacts,
  awsFacts,
  type LambdaFacts,
  lambdaFacts,
} from '../../../admin/doctor/aws-facts.ts';
import { checks, runCheck } from '../../../admin/doctor/checks.ts';
import { version } from '../../../package.json' with { type: 'json' };
import { type AwsEndpoint, startAwsEndpoint } from '../../fixtures/aws-endpoint.ts';

let aws: AwsEndpoint;
let facts: AwsFacts;
let functions: LambdaFacts;
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
  const quotas = { executions: 1000, requestsPerSecond: 9000 };
  facts = awsFacts({
    ...{ stack: 'MyApp', service: 'MyApp/Push', quotas, cloudFormation },
  });
  functions = lambdaFacts(new LambdaClient(config), facts.functionNames);
  disconnect = () => {
    functions.close();
    facts.close();
    cloudFormation.destroy();
  };
});
afterEach(() => {
  disconnect();
  delete process.env.AWS_ENDPOINT_URL;
});

/** The responses for a stack with these resources, and with the tag of a service. */
function resources(...found: readonly (readonly [type: string, name: string, service?: string])[]) {
  const listed = found.map(([type, name, service = 'MyApp/Push']) => {
    const Tags = [{ Key: 'carillon:service', Value: service }];
    return { id: `Push${name}`, name, resource: { Type: type, Properties: { Tags } } };
  });
  const Resources = Object.fromEntries(listed.map(({ id, resource }) => [id, resource]));
  return {
    ListStackResources: () => ({
      StackResourceSummaries: listed.map(({ id, name, resource: { Type } }) => ({
        ...{ LogicalResourceId: id, ResourceType: Type, PhysicalResourceId: name },
      })),
    }),
    GetTemplate: () => ({ TemplateBody: JSON.stringify({ Resources }) }),
  };
}

/** What a check says. @param others what it reads of a deployment besides. */
async function check(name: string, others: object = {}): Promise<string> {
  const deployment = { aws: facts, functions, ...others } as never;
  const { level, message } = await runCheck(checks[name]!, deployment);
  return `${level}: ${message}`;
}

const quota = (executions: number) => ({
  GetAccountSettings: () => ({ AccountLimit: { ConcurrentExecutions: executions } }),
});
const throttle = (rateLimit: number) => ({
  GetAccount: () => ({ throttleSettings: { rateLimit, burstLimit: 1 } }),
});
const described = (status: string, isProtected: boolean) => ({
  DescribeStacks: () => ({
    Stacks: [
      { StackName: 'Carillon', StackStatus: status, EnableTerminationProtection: isProtected },
    ],
  }),
});

test.each([
  [
    'concurrency',
    quota(10),
    /^warning: Lambda runs 10 functions at once in this account and region\. The stack assumes 1000: deploy again, or its alarm fires too late\. Ten are enough .* --quota-code L-B99A9384 --desired-value 1000$/,
  ],
  ['concurrency', quota(5000), /^warning: .* The stack assumes 1000: .* its alarm fires early\.$/],
  ['concurrency', quota(1000), /^ok: /],
  ['api throttle', throttle(10_000), /^ok: API Gateway accepts 10000 requests per second/],
  ['api throttle', throttle(2500), /^warning: .* The throttles of the routes add up to 9000/],
  ['api throttle', {}, /^problem: .* is not authorized to perform: GetAccount$/],
  ['stack', described('UPDATE_COMPLETE', true), /^ok: /],
  ['stack', described('UPDATE_COMPLETE', false), /^warning: .* no termination protection/],
  ['stack', described('UPDATE_ROLLBACK_COMPLETE', true), /^warning: .* the version before it runs/],
  ['stack', described('UPDATE_IN_PROGRESS', true), /^problem: The stack is UPDATE_IN_PROGRESS\./],
  ['stack', described('UPDATE_ROLLBACK_FAILED', true), /^problem: .* could not finish/],
  ['stack', described('DELETE_FAILED', false), /^problem: (?!.*undo).* use --destroy again\.$/],
  ['stack', described('ROLLBACK_FAILED', true), /^problem: (?!.*has deleted).*Run .* again\.$/],
])('%s: %j is: %s', async (name, responses, finding) => {
  aws.respond(responses);
  expect(await check(name)).toMatch(finding);
});

describe('alarms', () => {
  const topic = 'arn:aws:sns:eu-west-1:1:Carillon-Topic';
  const alarm = { ActionsEnabled: true, StateValue: 'OK', AlarmActions: [topic] };

  it('of a stack without alarms notify nobody, whatever the account has', async () => {
    aws.respond({
      ...resources(['AWS::Lambda::Function', 'Send-1']),
      DescribeAlarms: () => ({ MetricAlarms: [{ ...alarm, AlarmName: 'of another stack' }] }),
    });
    expect(await check('alarm actions')).toMatch(/^warning: Alarms notify nobody\./);
    expect(await check('alarms')).toBe('ok: None of 0 alarms fires.');
  });

  it('are those of the service, with their state and whether they notify', async () => {
    aws.respond({
      ...resources(
        ['AWS::CloudWatch::Alarm', 'Firing'],
        ['AWS::CloudWatch::Alarm', 'Silenced'],
        ['AWS::CloudWatch::CompositeAlarm', 'All'],
        ['AWS::CloudWatch::Alarm', 'OfAnother', 'MyApp/PushOther'],
        ['AWS::SNS::Topic', topic],
      ),
      DescribeAlarms: () => ({
        MetricAlarms: [
          {
            ...{ ...alarm, AlarmName: 'Firing', StateValue: 'ALARM', AlarmActions: [] },
            AlarmDescription: 'Bad. Severity: page. Runbook: docs/runbook.md#servererrors',
          },
          { ...alarm, AlarmName: 'Silenced', ActionsEnabled: false },
        ],
        CompositeAlarms: [{ ...alarm, AlarmName: 'All' }],
      }),
    });
    expect(await facts.alarms()).toEqual([
      {
        ...{ name: 'Firing', isFiring: true, hasAction: false },
        runbook: 'Severity: page. Runbook: docs/runbook.md#servererrors',
      },
      { name: 'Silenced', isFiring: false, hasAction: false },
      { name: 'All', isFiring: false, hasAction: true },
    ]);
    const asked = aws.calls.find(({ operation }) => operation === 'DescribeAlarms');
    expect(asked!.input).toMatchObject({
      AlarmNames: ['Firing', 'Silenced', 'All'],
      AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
    });
    expect(await check('alarms')).toBe(
      'problem: Firing: Firing. Severity: page. Runbook: docs/runbook.md#servererrors',
    );
  });

  it('are a problem that names the missing permission if AWS denies the call', async () => {
    aws.respond({ ...resources(['AWS::CloudWatch::Alarm', 'Firing']) });
    expect(await check('alarms')).toMatch(/^problem: .* to perform: DescribeAlarms$/);
    aws.respond({});
    expect(await check('alarms')).toMatch(/^problem: .* to perform: ListStackResources$/);
  });

  it.each([
    ['is confirmed', [`${topic}:1`], /^ok: /],
    ['waits for its confirmation', ['PendingConfirmation'], /^problem: /],
    ['was not confirmed in time', [], /^problem: .* --topic-arn arn:aws:sns:/],
    ['has unsubscribed', ['Deleted'], /^problem: /],
    ['is not known, because the topic is the operator’s', undefined, /^ok: (?!.*somebody)/],
  ])('notify an address that %s', async (_title, subscriptions, finding) => {
    const Subscriptions = subscriptions?.map((SubscriptionArn) => ({ SubscriptionArn }));
    aws.respond({
      ...resources(
        ['AWS::CloudWatch::Alarm', 'Page'],
        ...(Subscriptions ? [['AWS::SNS::Topic', topic] as const] : []),
      ),
      DescribeAlarms: () => ({ MetricAlarms: [{ ...alarm, AlarmName: 'Page' }] }),
      ...(Subscriptions && { ListSubscriptionsByTopic: () => ({ Subscriptions }) }),
    });
    expect(await check('alarm actions')).toMatch(finding);
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
    ...resources(...names.map((name) => ['AWS::Lambda::Function', name] as const), [
      'AWS::DynamoDB::Table',
      'Usage-1',
    ]),
    GetFunctionConfiguration: ({ FunctionName }) => ({
      FunctionName,
      ...configurations[String(FunctionName)],
    }),
  });
  expect(await functions.functions()).toEqual([
    { name: 'ready', failure: undefined, environment: { SUBSCRIBER_CAP: '5' } },
    { name: 'idle', failure: undefined, environment: {} },
    { name: 'failed', failure: 'The KMS key is disabled.', environment: {} },
    { name: 'stale', failure: 'No memory.', environment: {} },
  ]);
  expect(await check('functions')).toMatch(/^problem: Function failed cannot run: The KMS key/);
});

test.each([
  ['mailto:you@your-domain.example', /^problem: .* Set vapidSubject/],
  ['mailto:you@localhost', /^problem: /],
  ['https://example.com/contact', /^problem: /],
  ['mailto:example@carillon.net', /^ok: /],
  ['https://example.carillon.net', /^ok: /],
])('the VAPID subject %s is: %s', async (subject, finding) => {
  expect(await check('vapid subject', { settings: { VAPID_SUBJECT: subject } })).toMatch(finding);
});

test.each([
  [version, `ok: The stack and this command have version ${version}.`],
  ['1.1.0', `warning: The version of the stack is 1.1.0, that of this command ${version}. Deploy`],
  [undefined, `warning: The version of the stack is not known, that of this command ${version}.`],
])('a stack of version %s is: %s', async (deployed, finding) => {
  expect(await check('version', { version: deployed })).toContain(finding);
});

test("AWS's name of the API is a warning", async () => {
  const baseUrl = 'https://abc123.execute-api.eu-west-1.amazonaws.com';
  expect(await check('address', { baseUrl })).toMatch(/^warning: https:\S+ is AWS's name\./);
});
