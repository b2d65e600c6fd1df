import { App, CfnParameter, Fn, NestedStack, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import { TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as route53 from 'aws-cdk-lib/aws-route53';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sns from 'aws-cdk-lib/aws-sns';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Construct } from 'constructs';
import { idsOf, outputPrefixOf, serviceNameOf } from '../../contract/infrastructure/stack-name.ts';
import { outputOf, tableNames } from '../../contract/infrastructure/tables.ts';
import { functionNames } from '../../contract/wire/routes.ts';
import { Carillon, type CarillonProps } from '../../lib/carillon.ts';
import { type Settings, settingNames } from '../../lib/settings.ts';
import { testContext } from '../fixtures/synthesized-stack.ts';

const vapidSubject = 'push@carillon.net';

const newApp = () => new App({ context: testContext, builtinCloudFormationValidation: false });

function userStack(): Stack {
  return new Stack(newApp(), 'MyApp');
}

let plain: Template;
beforeAll(() => {
  const stack = userStack();
  new Carillon(stack, 'Push', { vapidSubject, alarmEmail: 'none' });
  plain = Template.fromStack(stack);
});

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
      ...{
        reporters: 2,
        filters: true,
        queries: 1,
        accessLogs: 1,
        budgets: 1,
        tables: tableNames.length,
      },
    });
  }
  expect(resources('AWS::S3::Bucket')[0]![1]).not.toContain('carillon');
  // The subject of its mail has this name, and the runbook begins with it.
  const pages = resources('AWS::CloudWatch::CompositeAlarm').map(
    ([, properties]) => /"AWS::StackName"},"(.*?)"/.exec(properties)?.[1],
  );
  expect(pages).toEqual([0, 1].map(() => expect.stringMatching(/^-UsersAffected-[0-9a-f]{8}$/)));
  expect(pages[0]).not.toBe(pages[1]);
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

test('an app has outputs only if it asks for them', () => {
  expect(plain.findOutputs('*')).toEqual({});
  const exporting = userStack();
  new Carillon(exporting, 'Push', { vapidSubject, alarmEmail: 'none', exportOutputs: true });
  const names = ['ApiUrl', 'Version', 'Settings', 'Quotas', ...tableNames.map(outputOf)];
  expect(Object.keys(Template.fromStack(exporting).findOutputs('*')).sort()).toEqual(
    names.map((name) => `Push${name}`).sort(),
  );
});

test('ids that are similar never collide', () => {
  const ids = ['Push', 'Push1', 'Push-1', 'Push_1', 'Push.1', 'Push 1', 'Push..1', 'Push.2D.1'];
  const odd = ['PushZ1', 'PushZZ1', 'PushZ2DZ1', 'Prüfung', 'Pr fung', 'push', 'A'.repeat(60)];
  const paths = [...ids, ...odd].flatMap((id) => [[id], [id, 'Api'], [`${id}Api`], ['Api', id]]);
  for (const nameOf of [outputPrefixOf, (path: string[]) => serviceNameOf(['MyApp', ...path])]) {
    const names = paths.map(nameOf);
    expect(names).toEqual([...new Set(names)]);
  }
  for (const path of paths) {
    expect(idsOf(outputPrefixOf(path))).toBe(path.join('/'));
    expect(outputPrefixOf(path)).toMatch(/^[A-Za-z0-9]+$/);
    // What the names of log groups, metrics and tags have in common.
    expect(serviceNameOf(['MyApp', ...path])).toMatch(/^[\w./-]+$/);
  }
});

test.each([
  ['Push-1', 'Push1'],
  ['Push', 'push'],
])('%s and %s fit into one stack', (one, other) => {
  const stack = userStack();
  const settings = { vapidSubject, alarmEmail: 'none', exportOutputs: true };
  for (const id of [one, other]) new Carillon(stack, id, settings);
  const { Outputs } = Template.fromStack(stack).toJSON();
  expect(Object.keys(Outputs)).toHaveLength(2 * (4 + tableNames.length));
  const named = resourcesIn(stack)('AWS::Logs::LogGroup').flatMap(
    ([, properties]) => JSON.parse(properties).LogGroupName?.['Fn::Join'][1][0] ?? [],
  );
  expect(new Set(named).size).toBe(2);
});

test('in a nested stack, the service is named after the stack that is deployed, which has its outputs', () => {
  const stack = userStack();
  const nested = new NestedStack(stack, 'Notifications');
  const push = new Carillon(nested, 'Push', {
    ...{ vapidSubject, alarmEmail: 'none', exportOutputs: true },
  });
  push.grantManage(new iam.Role(nested, 'Operator', { assumedBy: new iam.AccountRootPrincipal() }));
  const outputs = Template.fromStack(stack).findOutputs('*');
  expect(outputs[`${outputPrefixOf(['Notifications', 'Push'])}ApiUrl`]!.Value).toEqual({
    'Fn::GetAtt': [expect.stringMatching(/^Notifications/), expect.stringMatching(/^Outputs\./)],
  });
  const template = Template.fromStack(nested);
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    Tags: [{ Key: 'carillon:service', Value: 'MyApp/Notifications/Push' }],
  });
});

test('its members connect it to the rest of the app', () => {
  const stack = userStack();
  const alarmTopic = new sns.Topic(stack, 'OnCall');
  const carillon = new Carillon(stack, 'Push', {
    ...{ vapidSubject, alarmTopic, publicBaseUrl: 'https://push.carillon.net' },
  });
  const role = new iam.Role(stack, 'Operator', { assumedBy: new iam.AccountRootPrincipal() });
  carillon.grantManage(role);
  carillon.functions.send!.grantInvoke(role);
  carillon.alarms.SendErrors!.addAlarmAction(new SnsAction(new sns.Topic(stack, 'Owners')));
  carillon.dashboard.addWidgets(new TextWidget({ markdown: 'Ours' }));
  carillon.tables.projects.grantReadData(role);
  expect(carillon.apiUrl).toBe('https://push.carillon.net');
  expect(stack.resolve(carillon.originUrl)).toEqual({
    'Fn::GetAtt': [expect.stringMatching(/^PushHttpApi/), 'ApiEndpoint'],
  });
  expect(stack.resolve(carillon.api.apiEndpoint)).toEqual(stack.resolve(carillon.originUrl));
  expect(carillon.alarmTopic).toBe(alarmTopic);
  expect(Object.keys(carillon.tables).sort()).toEqual([...tableNames].sort());
  expect(Object.keys(carillon.functions).sort()).toEqual([...functionNames].sort());
  const [, policy] = resourcesIn(stack)('AWS::IAM::Policy').find(([id]) =>
    id.startsWith('Operator'),
  )!;
  const [onTables, onStack] = JSON.parse(policy).PolicyDocument.Statement;
  // The tables, and the index.
  expect(onTables.Resource).toHaveLength(tableNames.length + 1);
  expect(JSON.stringify([onTables, onStack])).not.toContain('*');
  expect(onStack).toMatchObject({
    ...{ Action: 'cloudformation:DescribeStacks', Resource: { Ref: 'AWS::StackId' } },
  });
});

// Otherwise an app with its own outputs could not replace what `exportOutputs` gives.
test('every output is a member', () => {
  const stack = userStack();
  const push = new Carillon(stack, 'Push', {
    ...{ vapidSubject, alarmEmail: 'none', exportOutputs: true, domainName: 'push.carillon.net' },
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
    publicBaseUrl: 'https://carillon.net',
  });
  const members: readonly unknown[] = stack.resolve([
    ...[push.apiUrl, push.originUrl, push.domain!.regionalDomainName],
    ...Object.values(push.tables).map(({ tableName }) => tableName),
  ]);
  const outputs = Object.entries(Template.fromStack(stack).findOutputs('*'));
  // The version is Carillon’s; two have what the app gave.
  const others = outputs.filter(([name]) => !/(Settings|Quotas|Version)$/.test(name));
  for (const [name, { Value }] of others)
    expect([name, members]).toEqual([name, expect.arrayContaining([Value])]);
});

describe('what another resource gives', () => {
  /** Props that refer to other resources, in the forms in which apps write them. */
  function referencesIn(stack: Stack): readonly Partial<CarillonProps>[] {
    const text = StringParameter.valueForStringParameter(stack, '/text');
    const number = new CfnParameter(stack, 'Number', { type: 'Number' }).valueAsNumber;
    const list = Token.asList({ Ref: 'List' });
    const hostedZone = new route53.PublicHostedZone(stack, 'Zone', { zoneName: 'carillon.net' });
    const { hostedZoneId } = hostedZone;
    const certificate = new acm.Certificate(stack, 'Certificate', { domainName: 'carillon.net' });
    const { certificateArn } = certificate;
    const { keyArn: encryptionKeyArn } = new kms.Key(stack, 'Key');
    return [
      {
        ...{ vapidSubject: text, alarmEmail: text, runbookUrl: text, publicBaseUrl: text },
        ...{ subscriberCap: number, monthlySendCap: number, rateLimitPerMinute: number },
        ...{ pushesPerSecond: number, warmWritesPerSecond: number, monthlyBudget: number },
        ...{ extraPushOrigins: list, originSecretHashes: list },
        ...{ domainName: text, certificate, hostedZone },
      },
      {
        ...{ vapidSubject: `mailto:${text}`, alarmTopicArn: text },
        ...{ runbookUrl: `https://${text}/runbook`, publicBaseUrl: `https://${text}` },
        extraPushOrigins: [text, `https://${text}`, 'https://push.carillon.net'],
        originSecretHashes: [text, 'a'.repeat(64)],
        ...{ domainName: `push.${text}`, certificateArn, hostedZoneId, encryptionKeyArn },
      },
      {
        ...{ vapidSubject: `push@${text}`, alarmEmail: 'none', originSecretHashes: [text] },
        ...{ domainName: 'push.carillon.net', certificateArn: text, hostedZone },
        encryptionKeyArn: text,
      },
    ];
  }

  test.each([0, 1, 2])('becomes a reference in the template (%d)', (index) => {
    const stack = userStack();
    new Carillon(stack, 'Push', { vapidSubject, ...referencesIn(stack)[index] });
    const template = JSON.stringify(Template.fromStack(stack).toJSON());
    // The CDK's encodings of references in texts, lists and numbers.
    expect(template.match(/.{0,40}(Token\[|e\+289).*/g)).toBeNull();
  });

  test('may be every text, list and count of the settings, except those of the template', () => {
    const given = referencesIn(userStack()).flatMap((props) => Object.keys(props));
    const flags = ['stage', 'preferIpv6', 'console', 'requireOriginSecret'];
    const others = settingNames.filter((name) => ![...given, ...flags].includes(name));
    expect(others).toEqual([
      ...['notificationDays', 'logDays', 'recoveryDays', 'accountConcurrency', 'eventsPerSecond'],
    ]);
  });

  // The CDK looks a value up only after the app has been synthesized with this one.
  test('a text may be looked up in Systems Manager', () => {
    const stack = new Stack(newApp(), 'Looking', {
      env: { account: '111122223333', region: 'eu-west-1' },
    });
    const text = StringParameter.valueFromLookup(stack, '/text');
    const looked = {
      ...{ vapidSubject: text, alarmEmail: text, runbookUrl: text, publicBaseUrl: text },
      ...{ domainName: text, certificateArn: StringParameter.valueFromLookup(stack, '/arn') },
    };
    expect(() => new Carillon(stack, 'Push', looked)).not.toThrow();
  });

  test.each(['accountConcurrency', 'eventsPerSecond'])(
    '%s may not, because the template is calculated with it',
    (name) => {
      const reference = Token.asNumber({ Ref: 'Number' });
      expect(() => new Carillon(userStack(), 'Push', { vapidSubject, [name]: reference })).toThrow(
        `setting ${name} must be a number, not a reference to a resource`,
      );
    },
  );

  test('an address that is a reference is notified by a subscription that stays the same', () => {
    const stack = userStack();
    new Carillon(stack, 'Push', { vapidSubject, alarmEmail: Fn.ref('Address') });
    const [[id, properties]] = resourcesIn(stack)('AWS::SNS::Subscription') as [[string, string]];
    expect(JSON.parse(properties)).toMatchObject({ Endpoint: { Ref: 'Address' } });
    expect(id).toMatch(/^PushAlarmsTopicEmail/);
  });
});

test('a prop that is given in two forms is refused, and so are subnets without a network', () => {
  const stack = userStack();
  const alarmTopic = new sns.Topic(stack, 'OnCall');
  const twice = { alarmTopic, alarmTopicArn: alarmTopic.topicArn, vpcSubnets: {} };
  expect(() => new Carillon(stack, 'Push', { vapidSubject, ...twice })).toThrow(
    /^Carillon "MyApp\/Push":\nsetting alarmTopicArn must be removed.*\nsetting vpc is missing/,
  );
});

describe('in a network', () => {
  let stack: Stack;
  let template: Template;
  beforeAll(() => {
    stack = userStack();
    const vpc = new ec2.Vpc(stack, 'Network', { ipProtocol: ec2.IpProtocol.DUAL_STACK });
    const settings = { vapidSubject, alarmEmail: 'none', preferIpv6: true };
    new Carillon(stack, 'Push', { ...settings, vpc });
    template = Template.fromStack(stack);
  });

  test('every function runs in it, and its role may manage its network interfaces', () => {
    const groups = template.findResources('AWS::EC2::SecurityGroup', {
      Properties: { GroupDescription: 'Functions of MyApp/Push' },
    });
    const [group] = Object.keys(groups);
    const functions = template.findResources('AWS::Lambda::Function');
    const own = Object.entries(functions).filter(([id]) => id.startsWith('Push'));
    expect(own).toHaveLength(functionNames.length);
    const policies = Object.values(template.findResources('AWS::IAM::Policy'));
    for (const [, { Properties }] of own) {
      expect(Properties.VpcConfig).toMatchObject({
        Ipv6AllowedForDualStack: true,
        SecurityGroupIds: [{ 'Fn::GetAtt': [group, 'GroupId'] }],
      });
      expect(Properties.VpcConfig.SubnetIds).toHaveLength(2);
      const [role] = Properties.Role['Fn::GetAtt'];
      const policy = policies.find(({ Properties: { Roles } }) => Roles[0].Ref === role)!;
      expect(JSON.stringify(policy)).toContain('ec2:CreateNetworkInterface');
    }
    const { violations } = new AwsSolutionsChecks().validateScope(stack.node.root as App);
    const ofPush = JSON.stringify(violations).match(/MyApp\/Push\/[^"]+/g);
    expect(ofPush).toBeNull();
  });

  test('a security group and subnets of the app are used', () => {
    const other = userStack();
    const vpc = new ec2.Vpc(other, 'Network');
    const group = new ec2.SecurityGroup(other, 'Group', { vpc });
    const vpcSubnets = { subnets: [vpc.privateSubnets[0]!] };
    new Carillon(other, 'Push', {
      ...{ vapidSubject, alarmEmail: 'none', vpc, vpcSubnets, securityGroups: [group] },
    });
    for (const [id, properties] of resourcesIn(other)('AWS::Lambda::Function')) {
      if (!id.startsWith('Push')) continue;
      expect(JSON.parse(properties).VpcConfig).toMatchObject({
        SecurityGroupIds: [other.resolve(group.securityGroupId)],
        SubnetIds: [other.resolve(vpc.privateSubnets[0]!.subnetId)],
      });
    }
  });

  test('an empty list of security groups counts as no list: all functions share one group', () => {
    const other = userStack();
    const vpc = new ec2.Vpc(other, 'Vpc');
    new Carillon(other, 'Push', {
      ...{ vapidSubject, alarmEmail: 'none', vpc, securityGroups: [] },
    });
    expect(resourcesIn(other)('AWS::EC2::SecurityGroup')).toHaveLength(1);
  });

  test('without one, no function has a network and no role the rights', () => {
    expect(JSON.stringify(plain.toJSON())).not.toMatch(/VpcConfig|ec2:/);
  });
});

test('the label of an API is cut to the 128 characters that are allowed', () => {
  const stack = userStack();
  const scope = new Construct(stack, 'x'.repeat(150));
  new Carillon(scope, 'Push', { vapidSubject, alarmEmail: 'none' });
  const [[, properties] = []] = resourcesIn(stack)('AWS::ApiGatewayV2::Api');
  expect(JSON.parse(properties!).Name).toHaveLength(128);
});

test.each([
  [{}, 'RetainExceptOnCreate'],
  [{ disposable: true }, 'Delete'],
  [{ disposable: true, removalPolicy: RemovalPolicy.RETAIN }, 'Retain'],
])('with %j, tables and logs are kept by the policy %s', (props, policy) => {
  const stack = userStack();
  new Carillon(stack, 'Push', { vapidSubject, alarmEmail: 'none', ...props });
  const template = Template.fromStack(stack);
  const kept = {
    ...template.findResources('AWS::DynamoDB::Table'),
    ...template.findResources('AWS::Logs::LogGroup', {
      Properties: { LogGroupName: Match.absent() },
    }),
  };
  expect(Object.keys(kept)).toHaveLength(tableNames.length + functionNames.length);
  for (const { DeletionPolicy } of Object.values(kept)) expect(DeletionPolicy).toBe(policy);
});

/** A value for each prop that is a setting. */
const every: Readonly<Record<Exclude<keyof Settings, 'stage'>, unknown>> = {
  vapidSubject: 7,
  subscriberCap: 0,
  monthlySendCap: 0,
  rateLimitPerMinute: 0,
  notificationDays: 91,
  logDays: 31,
  recoveryDays: 36,
  encryptionKeyArn: 'alias/carillon',
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

test.each([
  [undefined, 'setting vapidSubject is missing'],
  [{ vapidSubject, runbookUrl: null }, 'setting runbookUrl must be text'],
  [{ vapidSubject, vpcs: {} }, 'unknown setting vpcs'],
  [{ vapidSubject, stage: 'eu', subscriberCap: 1.5 }, 'setting subscriberCap must be'],
])('an app in JavaScript that gives %j gets an error', (props, message) => {
  expect(() => new Carillon(userStack(), 'Push', props as unknown as CarillonProps)).toThrow(
    message,
  );
});
