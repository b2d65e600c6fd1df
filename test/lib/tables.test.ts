import { Match } from 'aws-cdk-lib/assertions';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const prod = synthesize();

function propertiesOf(output: string) {
  return prod.resources('AWS::DynamoDB::Table')[prod.tableOf(output)]!.Properties;
}

function keysOf(schema: readonly { AttributeName: string; KeyType: string }[]): string[] {
  return schema.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`);
}

const tables = {
  ProjectsTable: ['HASH projectId'],
  VapidKeysTable: ['HASH projectId'],
  IdentityKeysTable: ['HASH projectId'],
  SubscriptionsTable: ['HASH projectPart', 'RANGE endpointHash'],
  UsageTable: ['HASH projectRef', 'RANGE period'],
  NotificationsTable: ['HASH projectRef', 'RANGE notificationId'],
  DeliveriesTable: ['HASH id'],
  RateLimitsTable: ['HASH bucket'],
};
const expiring = ['NotificationsTable', 'DeliveriesTable', 'RateLimitsTable'];

test.each(Object.entries(tables))('%s has the key %p', (output, keys) => {
  const { KeySchema, AttributeDefinitions } = propertiesOf(output);
  expect(keysOf(KeySchema)).toEqual(keys);
  for (const { AttributeName, AttributeType } of AttributeDefinitions) {
    expect(AttributeType).toBe(AttributeName === 'endpointHash' ? 'B' : 'S');
  }
});

test('the index by user id contains all that a push, the conditions of a send and a list of devices need', () => {
  const indexes = propertiesOf('SubscriptionsTable').GlobalSecondaryIndexes;
  expect(indexes).toHaveLength(1);
  expect(indexes[0].IndexName).toBe('byUser');
  expect(keysOf(indexes[0].KeySchema)).toEqual(['HASH projectUser']);
  expect(indexes[0].Projection).toEqual({
    ProjectionType: 'INCLUDE',
    NonKeyAttributes: [
      'origin',
      'path',
      'p256dh',
      'auth',
      'vapidPairNumber',
      'imported',
      'channels',
      'createdAt',
      'updatedAt',
    ],
  });
});

test.each(Object.keys(tables))('%s has a TTL only if its items expire', (output) => {
  expect(propertiesOf(output).TimeToLiveSpecification).toEqual(
    expiring.includes(output) ? { AttributeName: 'expiresAt', Enabled: true } : undefined,
  );
});

test.each(Object.keys(tables))(
  '%s has point-in-time recovery unless it counts requests per minute',
  (output) => {
    expect(propertiesOf(output).PointInTimeRecoverySpecification).toEqual({
      PointInTimeRecoveryEnabled: output !== 'RateLimitsTable',
    });
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
    expect(propertiesOf(output).SSESpecification).toEqual({ SSEEnabled: true });
  },
);
