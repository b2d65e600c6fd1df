import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { disagreement } from '../../contract/infrastructure/metrics.ts';
import type { FunctionName } from '../../contract/wire/routes.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const topic = 'arn:aws:sns:eu-west-1:123456789012:on-call';
const { resources, template, functionNamed } = synthesize({ alarmTopicArn: topic });
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
