import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Carillon, type CarillonProps } from '../../lib/carillon.ts';
import { settingNames } from '../../lib/settings.ts';
import { testContext } from '../fixtures/synthesized-stack.ts';

const vapidSubject = 'push@carillon.net';

const newApp = () => new App({ context: testContext, builtinCloudFormationValidation: false });

function userStack(): Stack {
  return new Stack(newApp(), 'MyApp');
}

/** Reads the properties of all resources of a type, by their logical ids. */
function resourcesIn(stack: Stack) {
  const template = Template.fromStack(stack);
  return (type: string): readonly (readonly [id: string, properties: string])[] =>
    Object.entries(template.findResources(type)).map(([id, { Properties = {} }]) => [
      id,
      JSON.stringify(Properties),
    ]);
}

test('two services fit into one stack, beside other constructs', () => {
  const stack = userStack();
  new s3.Bucket(stack, 'Photos');
  new Carillon(stack, 'Push', { vapidSubject, alarmEmail: 'a@carillon.net', monthlyBudget: 9 });
  new Carillon(stack, 'Other', { vapidSubject, alarmEmail: 'b@carillon.net', monthlyBudget: 9 });
  const resources = resourcesIn(stack);
  const outputs = Object.keys(Template.fromStack(stack).findOutputs('*'));
  expect(outputs).toEqual(
    expect.arrayContaining(['PushApiUrl', 'PushUsageTable', 'OtherApiUrl', 'OtherSettings']),
  );
  for (const service of ['MyApp/Push', 'MyApp/Other']) {
    const named = (type: string, text: string) =>
      resources(type).filter(([, properties]) => properties.includes(text)).length;
    expect({
      reporters: named('AWS::Lambda::Function', `"POWERTOOLS_SERVICE_NAME":"${service}"`),
      filters: named('AWS::Logs::MetricFilter', `"MetricNamespace":"Carillon/${service}"`) > 0,
      queries: named('AWS::Logs::QueryDefinition', `"Name":"${service}/Errors"`),
      accessLogs: named('AWS::Logs::LogGroup', `/aws/vendedlogs/carillon/${service}/`),
      budgets: named('AWS::Budgets::Budget', `"user:carillon:service$${service}"`),
      tables: named('AWS::DynamoDB::Table', `"Value":"${service}"`),
    }).toEqual({
      ...{ reporters: 2, filters: true, queries: 1, accessLogs: 1, budgets: 1, tables: 8 },
    });
  }
  expect(resources('AWS::S3::Bucket')[0]![1]).not.toContain('carillon');
});

test('the same service fits twice into one account, so nothing else is named after it', () => {
  const names = ['One', 'Two'].map((id) => {
    const stack = new Stack(newApp(), id);
    new Carillon(stack, 'Push', { vapidSubject, alarmEmail: 'none' });
    const { Resources } = Template.fromStack(stack).toJSON();
    return Object.values(Resources as Record<string, { Properties: object }>).flatMap(
      ({ Properties }) =>
        Object.entries(Properties).flatMap(([name, value]) =>
          /^(?:\w+Name|Name)$/.test(name) && typeof value === 'string' ? [value] : [],
        ),
    );
  });
  const shared = names[0]!.filter((name) => names[1]!.includes(name));
  // Of metrics and routes.
  expect(shared.filter((name) => !/^[A-Z]\w+$|^\d|^\$default$/.test(name))).toEqual([]);
});

test('its members connect it to the rest of the app', () => {
  const stack = userStack();
  const topic = new sns.Topic(stack, 'OnCall');
  const carillon = new Carillon(stack, 'Push', { vapidSubject, alarmTopicArn: topic.topicArn });
  const role = new iam.Role(stack, 'Operator', { assumedBy: new iam.AccountRootPrincipal() });
  carillon.grantManage(role);
  expect(stack.resolve(carillon.apiUrl)).toEqual({
    'Fn::GetAtt': [expect.stringMatching(/^PushHttpApi/), 'ApiEndpoint'],
  });
  expect(stack.resolve(carillon.alarmTopic!.topicArn)).toEqual(stack.resolve(topic.topicArn));
  expect(Object.keys(carillon.tables)).toHaveLength(8);
  const [, policy] = resourcesIn(stack)('AWS::IAM::Policy').find(([id]) =>
    id.startsWith('Operator'),
  )!;
  const [onTables, onStack] = JSON.parse(policy).PolicyDocument.Statement;
  // The tables, and the index.
  expect(onTables.Resource).toHaveLength(9);
  expect(policy).not.toContain('*');
  expect(onStack).toMatchObject({
    ...{ Action: 'cloudformation:DescribeStacks', Resource: { Ref: 'AWS::StackId' } },
  });
});

test('a prop may refer to another resource of the app', () => {
  const stack = userStack();
  const domainName = 'push.carillon.net';
  const certificate = new acm.Certificate(stack, 'Certificate', { domainName });
  const { certificateArn } = certificate;
  new Carillon(stack, 'Push', {
    ...{ vapidSubject, alarmEmail: 'none', domainName, certificateArn },
  });
  const [[, domain]] = resourcesIn(stack)('AWS::ApiGatewayV2::DomainName') as [[string, string]];
  expect(JSON.parse(domain).DomainNameConfigurations[0].CertificateArn).toEqual(
    stack.resolve(certificateArn),
  );
});

/** A value for each prop that is a setting. */
const every: Readonly<Record<keyof Omit<CarillonProps, 'disposable'>, unknown>> = {
  vapidSubject: 7,
  subscriberCap: 0,
  monthlySendCap: 0,
  rateLimitPerMinute: 0,
  pushesPerSecond: 0,
  extraPushOrigins: ['push.carillon.net'],
  preferIpv6: 'perhaps',
  console: 'perhaps',
  alarmEmail: 'ops',
  alarmTopicArn: 'ops',
  monthlyBudget: 0,
  runbookUrl: 'runbook.md',
  domainName: 'Push',
  certificateArn: 'certificate',
  hostedZoneId: 'zone',
  publicBaseUrl: 'http://carillon.net',
  originSecretHashes: ['secret'],
  requireOriginSecret: 'perhaps',
  accountConcurrency: 0,
  eventsPerSecond: 0,
  warmWritesPerSecond: 1,
};

test('every setting is a prop, and an error names each invalid one and the construct', () => {
  expect(Object.keys(every).sort()).toEqual(settingNames.filter((name) => name !== 'stage').sort());
  const stack = userStack();
  let message = '';
  try {
    new Carillon(stack, 'Push', every as unknown as CarillonProps);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message).toMatch(/^Carillon "MyApp\/Push":\n/);
  for (const name of Object.keys(every)) expect(message).toContain(`setting ${name} `);
});
