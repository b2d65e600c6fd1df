import { stackNameOf } from '../../contract/stack-name.ts';
import type { settingNames } from '../../lib/settings.ts';
import {
  type CheckedTemplate,
  schemaMistakes,
  tagPropertyOf,
} from '../fixtures/resource-schema.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

/** One other value than the default for each setting. */
const settings: Readonly<Record<(typeof settingNames)[number], string>> = {
  stage: 'eu',
  subscriberCap: '5',
  monthlySendCap: '7',
  rateLimitPerMinute: '9',
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
} = settings;
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
])('the template with the settings %j follows the schema of CloudFormation', (context) => {
  expect(schemaMistakes(templateOf(context))).toEqual([]);
});

// AWS shows costs by tag.
test.each(['prod', 'dev'])(
  'each resource of the stage %s that can have tags has its tag',
  (stage) => {
    const expected = { Key: 'carillon:service', Value: stackNameOf(stage) };
    for (const [logicalId, { Type, Properties }] of Object.entries(
      templateOf({ stage }).Resources,
    )) {
      const property = tagPropertyOf(Type);
      if (property === undefined) continue;
      const tags = Properties?.[property] ?? [];
      const list = Array.isArray(tags)
        ? tags
        : Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
      expect({ logicalId, tags: list }).toEqual({ logicalId, tags: [expected] });
    }
  },
);

const { Resources } = templateOf({});
const [tableId, table] = Object.entries(Resources).find(
  ([, { Type }]) => Type === 'AWS::DynamoDB::Table',
)!;

test.each<[mistake: string, properties: object]>([
  [': unknown property BilingMode', { BilingMode: 'PAY_PER_REQUEST' }],
  [': KeySchema is missing', { KeySchema: undefined }],
  ['.BillingMode: expected string, got 1', { BillingMode: 1 }],
  ['.DeletionProtectionEnabled: expected boolean, got "yes"', { DeletionProtectionEnabled: 'yes' }],
  ['.SSESpecification: expected ref, got true', { SSESpecification: true }],
  ['.SSESpecification: SSEEnabled is missing', { SSESpecification: {} }],
  ['.KeySchema[0]: unknown property Type', { KeySchema: [{ ...hashKey('id'), Type: 'HASH' }] }],
  ['.KeySchema[0]: KeyType is missing', { KeySchema: [{ AttributeName: 'id' }] }],
  ['.Tags[0]: Value is missing', { Tags: [{ Key: 'project' }] }],
  [': refers to None, which does not exist', { TableName: { Ref: 'None' } }],
  [
    `: refers to ${tableId}.Nam, which does not exist`,
    { TableName: { 'Fn::GetAtt': [tableId, 'Nam'] } },
  ],
])('the check finds a table with the mistake %s', (mistake, properties) => {
  const changed = {
    ...table,
    Properties: withoutUndefined({ ...table.Properties, ...properties }),
  };
  expect(schemaMistakes({ Resources: { [tableId]: changed } })).toEqual([
    `${tableId} (AWS::DynamoDB::Table)${mistake}`,
  ]);
});

test('the check finds an unknown resource type', () => {
  expect(schemaMistakes({ Resources: { A: { Type: 'AWS::DynamoDB::Tabel' } } })).toEqual([
    'A (AWS::DynamoDB::Tabel): unknown resource type',
  ]);
});

function templateOf(context: Readonly<Record<string, unknown>>): CheckedTemplate {
  return synthesize(context).template.toJSON() as CheckedTemplate;
}

function withoutUndefined(value: object) {
  return JSON.parse(JSON.stringify(value));
}

function hashKey(name: string) {
  return { AttributeName: name, KeyType: 'HASH' };
}
