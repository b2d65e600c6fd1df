import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { disagreement, eventMetrics, pushMetrics } from '../../contract/infrastructure/metrics.ts';
import { type FunctionName, routes } from '../../contract/wire/routes.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const topic = 'arn:aws:sns:eu-west-1:123456789012:on-call';
const service = synthesize({ alarmTopicArn: topic });
const { resources, template, functionNamed } = service;
const alarms = Object.entries(resources('AWS::CloudWatch::Alarm'));
const [composite] = Object.values(resources('AWS::CloudWatch::CompositeAlarm'));
const rule = JSON.stringify(composite!.Properties.AlarmRule);
const causes = [...rule.matchAll(/GetAtt":\["(\w+)","Arn"/g)].map(([, logicalId]) => logicalId);

test.each(alarms)('%s notifies once: by itself, or as a cause of the page', (logicalId, alarm) => {
  const { AlarmDescription, AlarmActions = [] } = alarm.Properties;
  const isPage = AlarmDescription.includes('Severity: page.');
  expect(causes.includes(logicalId)).toBe(isPage);
  expect(AlarmActions).toEqual(isPage ? [] : [topic]);
});

test('the page notifies', () => {
  expect(composite!.Properties.AlarmActions).toEqual([topic]);
  expect(causes.length).toBeGreaterThan(1);
  template.resourceCountIs('AWS::SNS::Topic', 0);
});

test('an email address gets a topic to which only alarms of this account publish, over TLS', () => {
  const withEmail = synthesize({ alarmEmail: 'on-call@carillon.net' });
  withEmail.template.hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'on-call@carillon.net',
  });
  withEmail.template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({
          Effect: 'Deny',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
        Match.objectLike({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ],
    },
  });
});

test.each([
  [{ alarmEmail: undefined }, 1],
  [{ alarmEmail: 'none' }, 0],
  [{ alarmEmail: undefined, stage: 'dev' }, 0],
  [{ alarmEmail: 'on-call@carillon.net' }, 0],
  [{ alarmTopicArn: topic }, 0],
])('synthesis of %j gives %d warnings about alarms that notify nobody', (context, number) => {
  // The CDK also prints the warning.
  const printed = jest.spyOn(console, 'error').mockReturnValue();
  const message = Match.stringLikeRegexp(
    'set alarmEmail, to an address of yours or to "none", or alarmTopicArn',
  );
  const found = Annotations.fromStack(synthesize(context).stack).findWarning('*', message);
  expect(found).toHaveLength(number);
  printed.mockRestore();
});

test('account concurrency fires at 80 % of the setting', () => {
  const stack = synthesize({ accountConcurrency: 5000 });
  stack.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Namespace: 'AWS/Lambda',
    MetricName: 'ClaimedAccountConcurrency',
    Dimensions: Match.absent(),
    Threshold: 4000,
  });
});

test.each<FunctionName>([
  'send',
  'deliver',
  'getProject',
  'getNotification',
  'listNotifications',
  'stopNotification',
])('counts that disagree are counted in the log of %s', (name) => {
  const { LoggingConfig } = resources('AWS::Lambda::Function')[functionNamed(name)]!.Properties;
  template.hasResourceProperties('AWS::Logs::MetricFilter', {
    LogGroupName: LoggingConfig.LogGroup,
    FilterPattern: '{ $.message = "counts disagree" }',
    MetricTransformations: [Match.objectLike({ MetricName: disagreement.metric })],
  });
});

test('the alarms cost at most three dollars a month', () => {
  const metrics = alarms.flatMap(
    ([
      ,
      {
        Properties: { Metrics = [{ MetricStat: {} }] },
      },
    ]) => (Metrics as readonly { readonly MetricStat?: object }[]).filter((one) => one.MetricStat),
  );
  expect(metrics.length).toBeLessThanOrEqual(25);
  expect(0.1 * metrics.length + 0.5).toBeLessThanOrEqual(3);
});

interface Widget {
  readonly type: string;
  readonly y: number;
  readonly properties: {
    readonly metrics?: readonly (readonly unknown[])[];
    readonly alarms?: readonly string[];
  };
}

const widgets: readonly Widget[] = (() => {
  const [dashboard] = Object.values(resources('AWS::CloudWatch::Dashboard'));
  const parts: readonly (string | { Ref?: string; 'Fn::GetAtt'?: string[] })[] =
    dashboard!.Properties.DashboardBody['Fn::Join'][1];
  const text = parts.map((part) =>
    typeof part === 'string' ? part : (part.Ref ?? part['Fn::GetAtt']![0]),
  );
  return JSON.parse(text.join('')).widgets;
})();

/** Metrics in the dashboard: namespace, name, dimensions, rendering. */
function shown(from: readonly Widget[], namespace: string, ...values: readonly string[]) {
  return from
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter((metric) => metric[0] === namespace && values.every((value) => metric.includes(value)));
}

const firstRow = widgets.filter(({ y }) => y === 0);

test('the first row shows every alarm', () => {
  const [status] = firstRow.filter(({ type }) => type === 'alarm');
  const alarms = [
    ...Object.keys(resources('AWS::CloudWatch::Alarm')),
    ...Object.keys(resources('AWS::CloudWatch::CompositeAlarm')),
  ];
  expect([...status!.properties.alarms!].sort()).toEqual(alarms.sort());
});

test('the first row shows requests, errors, latency of send, pushes and events', () => {
  for (const name of ['Count', '5xx']) {
    expect(shown(firstRow, 'AWS/ApiGateway', name)).toHaveLength(1);
  }
  const { method, path } = routes.send;
  const latencies = shown(firstRow, 'AWS/ApiGateway', 'Latency', method, path);
  expect(latencies.map((metric) => (metric.at(-1) as { stat: string }).stat)).toEqual([
    'p50',
    'p90',
  ]);
  for (const name of ['attempted', 'delivered', 'removed', 'failed'] as const) {
    expect(shown(firstRow, 'Carillon', pushMetrics[name])).toHaveLength(1);
  }
  for (const name of Object.values(eventMetrics)) {
    expect(shown(firstRow, 'Carillon/Carillon', name)).toHaveLength(1);
  }
});

const throttles = ['ReadThrottleEvents', 'WriteThrottleEvents'];
const tables = Object.keys(resources('AWS::DynamoDB::Table'));

test.each([
  ...Object.values(pushMetrics).map((name) => ['Carillon', name, 'service', 'Carillon']),
  ['Carillon/Carillon', disagreement.metric],
  ...tables.flatMap((table) => throttles.map((metric) => ['AWS/DynamoDB', metric, table])),
  ['AWS/DynamoDB', 'TransactionConflict', service.tableOf('UsageTable')],
  ['AWS/Lambda', 'Errors', functionNamed('send')],
  ['AWS/Lambda', 'Errors', functionNamed('deliver')],
])('the dashboard shows %s %s %s', (namespace, ...values) => {
  expect(shown(widgets, namespace!, ...values)).toHaveLength(1);
});

test.each(['Throttles', 'ConcurrentExecutions'])('%s is of the account', (metric) => {
  const [found] = shown(widgets, 'AWS/Lambda', metric);
  expect(found).not.toContain('FunctionName');
});

test('the dashboard is one of those that CloudWatch does not charge for', () => {
  expect(widgets.flatMap(({ properties }) => properties.metrics ?? []).length).toBeLessThan(51);
});

test('a budget of the stage notifies at 80 and 100 %', () => {
  const alarmEmail = 'on-call@carillon.net';
  const { template } = synthesize({ stage: 'eu', monthlyBudget: 20, alarmEmail });
  const notification = (Threshold: number) => ({
    Notification: { NotificationType: 'ACTUAL', ThresholdType: 'PERCENTAGE', Threshold },
    Subscribers: [{ SubscriptionType: 'EMAIL', Address: alarmEmail }],
  });
  template.hasResourceProperties('AWS::Budgets::Budget', {
    Budget: {
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 20, Unit: 'USD' },
      CostFilters: {
        TagKeyValue: ['user:carillon:service$Carillon-eu'],
        // The same stage in another region has a budget of its own.
        Region: [{ Ref: 'AWS::Region' }],
      },
    },
    NotificationsWithSubscribers: [notification(80), notification(100)],
  });
});

test('without the setting there is no budget', () => {
  template.resourceCountIs('AWS::Budgets::Budget', 0);
});
