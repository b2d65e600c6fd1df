import { readFileSync } from 'node:fs';
import { type CfnResource, Validations } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { nodeVersion } from '../../contract/infrastructure/runtime.ts';
import { stackNameOf } from '../../contract/infrastructure/stack-name.ts';
import { constructIdOf, outputOf, tableNames } from '../../contract/infrastructure/tables.ts';
import { type FunctionName, functionNames } from '../../contract/wire/routes.ts';
import type { settingNames } from '../../lib/settings.ts';
import { version } from '../../package.json' with { type: 'json' };
import { tablesTemplate } from '../fixtures/database.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { type Resource, synthesize } from '../fixtures/synthesized-stack.ts';

const prod = synthesize();
const dev = synthesize({ stage: 'dev' });

function propertiesOf(name: FunctionName, stack = prod) {
  return stack.resources('AWS::Lambda::Function')[stack.functionNamed(name)]!.Properties;
}

test('send may invoke deliver, and nobody may invoke another function', () => {
  const invocations = Object.values(prod.resources('AWS::IAM::Policy')).flatMap(({ Properties }) =>
    Properties.PolicyDocument.Statement.filter(({ Action }: { Action: string | string[] }) =>
      [Action].flat().some((action) => action.startsWith('lambda:')),
    ),
  );
  expect(invocations).toEqual([
    {
      Effect: 'Allow',
      Action: 'lambda:InvokeFunction',
      Resource: { 'Fn::GetAtt': [prod.functionNamed('deliver'), 'Arn'] },
    },
  ]);
  // A resource policy would allow others: each route's function has one for its gateway only.
  for (const { Properties } of Object.values(prod.resources('AWS::Lambda::Permission'))) {
    expect(Properties.Principal).toBe('apigateway.amazonaws.com');
    expect(JSON.stringify(Properties.FunctionName)).not.toContain('Deliver');
  }
});

test('each function may write to its log group only', () => {
  for (const name of functionNames) {
    const { LoggingConfig, Role } = propertiesOf(name);
    const policy = Object.values(prod.resources('AWS::IAM::Policy')).find(
      ({ Properties }) => Properties.Roles[0].Ref === Role['Fn::GetAtt'][0],
    );
    expect(policy!.Properties.PolicyDocument.Statement[0].Resource).toEqual({
      'Fn::GetAtt': [LoggingConfig.LogGroup.Ref, 'Arn'],
    });
  }
});

test('settings reach the functions that read them, and the operator', () => {
  const stack = synthesize({
    stage: 'eu',
    subscriberCap: '5',
    monthlySendCap: '7',
    rateLimitPerMinute: '9',
    vapidSubject: 'mailto:push@carillon.net',
    extraPushOrigins: 'https://a.example, https://b.example',
    preferIpv6: 'true',
    notificationDays: '30',
    logDays: '7',
    recoveryDays: '7',
    pushesPerSecond: '500',
  });
  const origins = 'https://a.example,https://b.example';
  expect(propertiesOf('subscribe', stack).Environment.Variables).toMatchObject({
    SUBSCRIBER_CAP: '5',
    RATE_LIMIT_PER_MINUTE: '9',
    EXTRA_PUSH_ORIGINS: origins,
  });
  expect(JSON.parse(stack.template.findOutputs('Settings').Settings!.Value)).toEqual({
    SUBSCRIBER_CAP: '5',
    MONTHLY_SEND_CAP: '7',
    RATE_LIMIT_PER_MINUTE: '9',
    NOTIFICATION_DAYS: '30',
    RECOVERY_DAYS: '7',
    VAPID_SUBJECT: 'mailto:push@carillon.net',
    EXTRA_PUSH_ORIGINS: origins,
  });
  expect(propertiesOf('send', stack).Environment.Variables).toMatchObject({
    MONTHLY_SEND_CAP: '7',
    NOTIFICATION_DAYS: '30',
    PUSHES_PER_SECOND: '500',
    RATE_LIMIT_PER_MINUTE: '9',
  });
  stack.template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
  stack.template.hasResourceProperties('AWS::DynamoDB::Table', {
    PointInTimeRecoverySpecification: { RecoveryPeriodInDays: 7 },
  });
  for (const name of ['send', 'deliver'] as const) {
    expect(propertiesOf(name, stack).Environment.Variables).toMatchObject({
      VAPID_SUBJECT: 'mailto:push@carillon.net',
      EXTRA_PUSH_ORIGINS: origins,
      PREFER_IPV6: 'true',
      POWERTOOLS_SERVICE_NAME: 'Carillon-eu',
    });
  }
});

test('the longest settings leave room in the environment of each function', () => {
  const stack = synthesize({
    stage: 'a'.repeat(32),
    vapidSubject: `https://${'a'.repeat(60)}.carillon.net/${'b'.repeat(170)}`,
    extraPushOrigins: `https://push.carillon.net${' '.repeat(2000 - 25)}`,
    publicBaseUrl: `https://${'a.'.repeat(120)}carillon.net`,
    originSecretHashes: `${'a1'.repeat(32)},${'b2'.repeat(32)}`,
  });
  for (const { Properties } of Object.values(stack.resources('AWS::Lambda::Function'))) {
    const { EXTRA_PUSH_ORIGINS, ...variables } = Properties.Environment.Variables;
    // A reference becomes the name of a resource: of the stack, the resource, and what CloudFormation adds.
    const lengths = Object.entries(variables).map(
      ([name, value]) => name.length + (typeof value === 'string' ? value.length : 100),
    );
    const others = lengths.reduce((sum, length) => sum + length, 'EXTRA_PUSH_ORIGINS'.length);
    expect(others).toBeLessThanOrEqual(4096 - 2000);
  }
});

test('the outputs are the base URL, the version, the settings, the quotas and the tables', () => {
  const found = prod.template.findOutputs('*');
  expect(Object.keys(found).sort()).toEqual(
    ['ApiUrl', 'Version', 'Settings', 'Quotas', ...Object.keys(keysOfTables)].sort(),
  );
  expect(found.Version!.Value).toBe(version);
  expect(found.ApiUrl!.Value).toEqual({ 'Fn::GetAtt': [expect.any(String), 'ApiEndpoint'] });
  for (const name of Object.keys(keysOfTables)) {
    expect(prod.resources('AWS::DynamoDB::Table')).toHaveProperty(found[name]!.Value.Ref);
  }
});

test('the name of the stack contains any stage except prod', () => {
  expect([prod.stack.stackName, dev.stack.stackName]).toEqual(['Carillon', 'Carillon-dev']);
});

test.each([
  ['AWS::DynamoDB::Table', 'TableName'],
  ['AWS::Lambda::Function', 'FunctionName'],
  ['AWS::IAM::Role', 'RoleName'],
  ['AWS::CloudWatch::Alarm', 'AlarmName'],
  ['AWS::CloudWatch::Dashboard', 'DashboardName'],
])('no %s has a physical name, so that one account can have several stages', (type, property) => {
  expect(Object.keys(prod.resources(type))).not.toHaveLength(0);
  prod.template.allResourcesProperties(type, { [property]: Match.absent() });
});

// It could not be created again: the name is taken by the one that was kept.
test('nothing that is kept has a physical name', () => {
  const all: Readonly<Record<string, Resource>> = prod.template.toJSON().Resources;
  const kept = Object.entries(all).filter(
    ([, { DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' }]) =>
      DeletionPolicy !== 'Delete' || UpdateReplacePolicy !== 'Delete',
  );
  expect(kept.length).toBeGreaterThan(8);
  for (const [id, { Properties }] of kept) {
    const names = Object.keys(Properties).filter((name) => name.endsWith('Name'));
    expect([id, names]).toEqual([id, []]);
  }
});

test('every stage except dev has termination protection', () => {
  expect(prod.stack.terminationProtection).toBe(true);
  expect(synthesize({ stage: 'eu' }).stack.terminationProtection).toBe(true);
  expect(dev.stack.terminationProtection).toBe(false);
});

test('prod keeps tables and logs of functions after a successful deployment, dev keeps nothing', () => {
  const kept: Readonly<Record<string, Resource>> = {
    ...prod.resources('AWS::DynamoDB::Table'),
    ...Object.fromEntries(
      functionNames.map((name) => {
        const log = propertiesOf(name).LoggingConfig.LogGroup.Ref;
        return [log, prod.resources('AWS::Logs::LogGroup')[log]!];
      }),
    ),
  };
  for (const { DeletionPolicy, UpdateReplacePolicy } of Object.values(kept)) {
    expect({ DeletionPolicy, UpdateReplacePolicy }).toEqual({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  }
  const all = Object.values(dev.template.toJSON().Resources) as readonly Resource[];
  for (const { DeletionPolicy = 'Delete' } of all) expect(DeletionPolicy).toBe('Delete');
});

// With another id, a deployment would create an empty table, another address, or a topic that nobody has
// confirmed; the table with the data would remain outside the stack.
test('the logical ids of the tables, the address and the alarms’ topic do not change', () => {
  const { resources } = synthesize({
    domainName: 'push.carillon.example',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
  });
  const types = [
    ...['AWS::DynamoDB::Table', 'AWS::ApiGatewayV2::Api', 'AWS::ApiGatewayV2::DomainName'],
    ...['AWS::SNS::Topic', 'AWS::SNS::Subscription'],
  ];
  expect(types.flatMap((type) => Object.keys(resources(type)).sort())).toEqual([
    'AuditTable18A3095C',
    'DeliveriesTable439E74BF',
    'IdentityKeysTable65EABC96',
    'NotificationsTable024CBB72',
    'ProjectsTableCB300803',
    'RateLimitsTable29A563C1',
    'SubscriptionsTable34714BC1',
    'UsageTableADB4B05A',
    'VapidKeysTable2BC65A4E',
    'HttpApi9292168F',
    'CustomDomain50EDADAC',
    'AlarmsTopic3A2DFEBA',
    'AlarmsTopicoperatorcarillonnetD8BDA1B2',
  ]);
});

test('the AwsSolutions checks find no violations', () => {
  const { success, violations } = new AwsSolutionsChecks().validateScope(prod.app);
  expect(violations).toEqual([]);
  expect(success).toBe(true);
});

// cdk-nag 3 reads the one, cdk-nag 2 the other.
test('a rule is acknowledged on a single resource, and in its metadata with the same reason', () => {
  const acknowledging = prod.app.node.findAll().flatMap((construct) => {
    const rules = construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries<string>(data));
    return rules.length === 0 ? [] : [{ construct, rules }];
  });
  expect(acknowledging).not.toHaveLength(0);
  for (const { construct, rules } of acknowledging) {
    const suppressed = rules.map(([id, reason]) => ({ id: id.replace(/^.*::/, ''), reason }));
    expect((construct as CfnResource).getMetadata('cdk_nag')).toEqual({
      rules_to_suppress: suppressed,
    });
  }
});

/** One for each route, deliver and console. */
const functionCount = everyRoute.length + 2;

test('functions run on Node.js 24 and ARM', () => {
  prod.template.resourceCountIs('AWS::Lambda::Function', functionCount);
  prod.template.allResourcesProperties('AWS::Lambda::Function', {
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Handler: 'index.handler',
  });
});

test('developers are asked to use the Node version of the functions', () => {
  expect(readFileSync('.nvmrc', 'utf8').trim()).toBe(String(nodeVersion));
});

test('each function has a log group with a retention of one month', () => {
  const groups = Object.values(prod.resources('AWS::Lambda::Function')).map(
    ({ Properties }) => Properties.LoggingConfig.LogGroup.Ref,
  );
  expect(new Set(groups).size).toBe(functionCount);
  prod.template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
});

test('Lambda’s own lines are about failures only, and about every invocation of what pushes', () => {
  const levels = Object.entries(prod.resources('AWS::Lambda::Function')).map(
    ([id, { Properties }]) => {
      const { LogFormat, SystemLogLevel } = Properties.LoggingConfig;
      return [id, `${LogFormat} ${SystemLogLevel}`];
    },
  );
  const pushing = [prod.functionNamed('send'), prod.functionNamed('deliver')];
  for (const [id, level] of levels) {
    expect(level).toBe(pushing.includes(id!) ? 'JSON INFO' : 'JSON WARN');
  }
});

test('an asynchronous invocation of deliver has two retries and one hour', () => {
  const configurations = Object.values(prod.resources('AWS::Lambda::EventInvokeConfig'));
  expect(configurations.map(({ Properties }) => Properties)).toEqual([
    {
      FunctionName: { Ref: prod.functionNamed('deliver') },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
    },
  ]);
});

function tablePropertiesOf(output: string) {
  return prod.resources('AWS::DynamoDB::Table')[prod.tableOf(output)]!.Properties;
}

function keysOf(schema: readonly { AttributeName: string; KeyType: string }[]): string[] {
  return schema.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`);
}

const keysOfTables = {
  ProjectsTable: ['HASH projectId'],
  VapidKeysTable: ['HASH projectId'],
  IdentityKeysTable: ['HASH projectId'],
  SubscriptionsTable: ['HASH projectPart', 'RANGE endpointHash'],
  UsageTable: ['HASH projectRef', 'RANGE period'],
  NotificationsTable: ['HASH projectRef', 'RANGE notificationId'],
  DeliveriesTable: ['HASH id'],
  RateLimitsTable: ['HASH bucket'],
  AuditTable: ['HASH projectId', 'RANGE at'],
};
const expiring = [
  'SubscriptionsTable',
  'NotificationsTable',
  'DeliveriesTable',
  'RateLimitsTable',
  'AuditTable',
];

test.each(Object.entries(keysOfTables))('%s has the key %p', (output, keys) => {
  const { KeySchema, AttributeDefinitions } = tablePropertiesOf(output);
  expect(keysOf(KeySchema)).toEqual(keys);
  for (const { AttributeName, AttributeType } of AttributeDefinitions) {
    const types: Readonly<Record<string, string>> = { endpointHash: 'B', userSince: 'N' };
    expect(AttributeType).toBe(types[AttributeName] ?? 'S');
  }
});

test.each(tableNames)('a test finds the table %s as it is deployed', (name) => {
  const { Properties } = tablesTemplate.Resources[constructIdOf(name)]!;
  expect(tablePropertiesOf(outputOf(name))).toMatchObject(Properties!);
});

test.each(Object.keys(keysOfTables))('%s has a TTL only if its items expire', (output) => {
  expect(tablePropertiesOf(output).TimeToLiveSpecification).toEqual(
    expiring.includes(output) ? { AttributeName: 'expiresAt', Enabled: true } : undefined,
  );
});

test.each(Object.keys(keysOfTables))(
  '%s has point-in-time recovery unless it counts requests per minute',
  (output) => {
    expect(tablePropertiesOf(output).PointInTimeRecoverySpecification).toEqual(
      output === 'RateLimitsTable'
        ? { PointInTimeRecoveryEnabled: false }
        : { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
    );
  },
);

// Each event is a write to both.
test('the tables that events are counted in can be warmed', () => {
  const warm = synthesize({ warmWritesPerSecond: '12000' });
  const warmed = Object.entries(warm.resources('AWS::DynamoDB::Table')).flatMap(
    ([id, { Properties }]) => (Properties.WarmThroughput ? [[id, Properties.WarmThroughput]] : []),
  );
  expect(Object.fromEntries(warmed)).toEqual({
    [prod.tableOf('DeliveriesTable')]: { WriteUnitsPerSecond: 12_000 },
    [prod.tableOf('RateLimitsTable')]: { WriteUnitsPerSecond: 12_000 },
  });
  prod.template.allResourcesProperties('AWS::DynamoDB::Table', { WarmThroughput: Match.absent() });
});

test('tables use on-demand billing', () => {
  prod.template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    ProvisionedThroughput: Match.absent(),
  });
});

// CloudFormation could not roll back a failed first deployment: the stack could then be neither
// completed nor deleted.
test('no table has deletion protection', () => {
  prod.template.allResourcesProperties('AWS::DynamoDB::Table', {
    DeletionProtectionEnabled: Match.absent(),
  });
});

test.each(['VapidKeysTable', 'IdentityKeysTable'])(
  '%s is encrypted with a key of the account',
  (output) => {
    expect(tablePropertiesOf(output).SSESpecification).toEqual({ SSEEnabled: true });
  },
);

test('with a key of one’s own, it encrypts all tables, and functions that use them may decrypt', () => {
  const { encryptionKeyArn } = otherSettings;
  const stack = synthesize({ encryptionKeyArn });
  stack.template.allResourcesProperties('AWS::DynamoDB::Table', {
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: encryptionKeyArn },
  });
  const policies = Object.values(stack.resources('AWS::IAM::Policy')).map(
    ({ Properties }) => Properties.PolicyDocument.Statement as readonly { Action: unknown }[],
  );
  const uses = (service: string) => (statements: readonly { Action: unknown }[]) =>
    statements.filter(({ Action }) =>
      [Action].flat().some((one) => String(one).startsWith(service)),
    );
  for (const statements of policies) {
    expect(uses('kms:')(statements)).toEqual(
      uses('dynamodb:')(statements).length === 0
        ? []
        : [
            {
              Effect: 'Allow',
              Action: 'kms:Decrypt',
              Resource: encryptionKeyArn,
              Condition: {
                StringEquals: {
                  'kms:ViaService': {
                    'Fn::Join': [
                      '',
                      ['dynamodb.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }],
                    ],
                  },
                },
              },
            },
          ],
    );
  }
  expect(
    policies.filter((statements) => uses('kms:')(statements).length > 0).length,
  ).toBeGreaterThan(5);
});

/** One other value than the default for each setting. */
const otherSettings: Readonly<Record<(typeof settingNames)[number], string>> = {
  stage: 'eu',
  subscriberCap: '5',
  monthlySendCap: '7',
  rateLimitPerMinute: '9',
  notificationDays: '30',
  logDays: '7',
  recoveryDays: '7',
  encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/1234-abcd',
  pushesPerSecond: '500',
  vapidSubject: 'https://carillon.net/contact',
  extraPushOrigins: 'https://a.example,https://b.example',
  preferIpv6: 'true',
  console: 'false',
  alarmEmail: 'on-call@carillon.net',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:on-call',
  monthlyBudget: '20',
  runbookUrl: 'https://carillon.example/runbook',
  domainName: 'push.carillon.example',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
  hostedZoneId: 'Z0123456789',
  publicBaseUrl: 'https://carillon.example',
  originSecretHashes: `${'a1'.repeat(32)},${'b2'.repeat(32)}`,
  requireOriginSecret: 'true',
  accountConcurrency: '3000',
  eventsPerSecond: '12000',
  warmWritesPerSecond: '12000',
};
// `independent` has the values of variables: together they show the same as each alone.
const {
  alarmTopicArn,
  alarmEmail,
  monthlyBudget,
  stage,
  domainName,
  certificateArn,
  hostedZoneId,
  publicBaseUrl,
  originSecretHashes,
  requireOriginSecret,
  ...independent
} = otherSettings;
const domain = { domainName, certificateArn };

test.each([
  {},
  { stage },
  { alarmEmail, monthlyBudget, ...independent },
  { alarmTopicArn },
  { publicBaseUrl },
  { originSecretHashes },
  { originSecretHashes, requireOriginSecret },
  domain,
  { ...domain, hostedZoneId, publicBaseUrl, originSecretHashes, requireOriginSecret },
])('the stack is synthesized with the settings %j', (context) => {
  expect(Object.keys(resourcesOf(context)).length).toBeGreaterThan(100);
});

// AWS shows costs by tag.
test.each(['prod', 'dev'])('the resources of the stage %s have the tag of its service', (stage) => {
  const tagged = Object.values(resourcesOf({ stage })).filter(({ Properties }) => Properties?.Tags);
  expect([...new Set(tagged.map(({ Type }) => Type))]).toEqual(
    expect.arrayContaining([
      ...['AWS::DynamoDB::Table', 'AWS::Lambda::Function', 'AWS::Logs::LogGroup'],
      ...['AWS::ApiGatewayV2::Api', 'AWS::CloudWatch::Alarm', 'AWS::IAM::Role'],
    ]),
  );
  for (const { Properties } of tagged) {
    const { Tags } = Properties as { Tags: object };
    const list = Array.isArray(Tags)
      ? Tags
      : Object.entries(Tags).map(([Key, Value]) => ({ Key, Value }));
    expect(list).toEqual([{ Key: 'carillon:service', Value: stackNameOf(stage) }]);
  }
});

function resourcesOf(
  context: Readonly<Record<string, unknown>>,
): Readonly<Record<string, Resource>> {
  return synthesize(context).template.toJSON().Resources;
}
