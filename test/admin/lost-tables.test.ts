import {
  bringBack,
  complete,
  lacksOf,
  lostTables,
  type TablesDependencies,
} from '../../admin/lost-tables.ts';
import { tableNames } from '../../contract/infrastructure/tables.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { type AwsEndpoint, startAwsEndpoint } from '../fixtures/aws-endpoint.ts';
import { AwsError } from '../fixtures/aws-protocols.ts';

/** What is asked of AWS. The local engines have neither backups nor recovery nor tags. */

let aws: AwsEndpoint;
let deps: TablesDependencies;

beforeAll(async () => {
  aws = await startAwsEndpoint();
  deps = {
    dynamo: documentClient({
      endpoint: aws.url,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'operator', secretAccessKey: 'none' },
    }),
    tables: Object.fromEntries(
      tableNames.map((name) => [name, `Carillon-${name}`]),
    ) as TablesDependencies['tables'],
    service: 'Carillon',
  };
});
afterAll(async () => {
  deps.dynamo.destroy();
  await aws.stop();
});

const arn = (name: unknown) => `arn:aws:dynamodb:eu-west-1:111122223333:table/${name}`;

/** A stack in which these tables do not exist. */
const without = (...lost: readonly string[]) => ({
  DescribeTable: ({ TableName }: Record<string, unknown>) =>
    lost.includes(String(TableName).replace('Carillon-', ''))
      ? new AwsError('ResourceNotFoundException', 'Requested resource not found')
      : { Table: { TableName, TableArn: arn(TableName), TableStatus: 'ACTIVE' } },
});

const backup = (table: string, time: string) => ({
  TableName: `Carillon-${table}`,
  BackupArn: `${arn(`Carillon-${table}`)}/backup/${time}`,
  BackupCreationDateTime: Date.parse(time) / 1000,
});

test('of each table that was deleted, the newest of AWS’s own backups is found, on any page', async () => {
  aws.respond({
    ...without('subscriptions', 'rateLimits'),
    ListBackups: ({ ExclusiveStartBackupArn: from }) =>
      from === undefined
        ? {
            BackupSummaries: [backup('subscriptions', '2026-11-02T00:00:00Z')],
            LastEvaluatedBackupArn: arn('next'),
          }
        : {
            BackupSummaries: [
              backup('subscriptions', '2026-11-20T08:00:00Z'),
              backup('usage', '2026-11-21T00:00:00Z'),
            ],
          },
  });
  expect(await lostTables(deps)).toEqual([
    {
      table: 'subscriptions',
      name: 'Carillon-subscriptions',
      backup: {
        arn: expect.stringContaining('/backup/2026-11-20'),
        time: new Date('2026-11-20T08:00:00Z'),
      },
    },
    { table: 'rateLimits', name: 'Carillon-rateLimits', backup: undefined },
  ]);
  const asked = aws.calls.filter(({ operation }) => operation === 'ListBackups');
  expect(asked[0]!.input).toEqual({ BackupType: 'SYSTEM' });
});

test('a table is restored under its own name; those of keys so that each use is logged', async () => {
  aws.respond({ RestoreTableFromBackup: () => ({}), CreateTable: () => ({}) });
  const of = { arn: 'a', time: new Date() };
  await bringBack(deps, { table: 'usage', name: 'Carillon-usage', backup: of });
  await bringBack(deps, { table: 'vapidKeys', name: 'Carillon-vapidKeys', backup: of });
  await bringBack(deps, { table: 'rateLimits', name: 'Carillon-rateLimits', backup: undefined });
  expect(aws.calls.map(({ operation, input }) => [operation, input])).toEqual([
    ['RestoreTableFromBackup', { TargetTableName: 'Carillon-usage', BackupArn: 'a' }],
    [
      'RestoreTableFromBackup',
      {
        ...{ TargetTableName: 'Carillon-vapidKeys', BackupArn: 'a' },
        SSESpecificationOverride: { Enabled: true, SSEType: 'KMS' },
      },
    ],
    [
      'CreateTable',
      {
        ...{ TableName: 'Carillon-rateLimits', BillingMode: 'PAY_PER_REQUEST' },
        KeySchema: [{ AttributeName: 'bucket', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'bucket', AttributeType: 'S' }],
      },
    ],
  ]);
});

test.each([
  ['notifications', ['expiry', 'recovery', 'tag']],
  ['usage', ['recovery', 'tag']],
  ['rateLimits', ['expiry', 'tag']],
] as const)('a restored table %s lacks %j, and gets it', async (table, expected) => {
  aws.respond({
    ...without(),
    DescribeTimeToLive: () => ({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } }),
    DescribeContinuousBackups: () => ({
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
      },
    }),
    ListTagsOfResource: () => ({ Tags: [{ Key: 'carillon:service', Value: 'Carillon-eu' }] }),
    UpdateTimeToLive: () => ({}),
    UpdateContinuousBackups: () => ({}),
    TagResource: () => ({}),
  });
  const lacks = await lacksOf(deps, table);
  expect(lacks).toEqual(expected);
  aws.calls.length = 0;
  await complete({ ...deps, settings: { RECOVERY_DAYS: 7 } }, table, lacks);
  const TableName = `Carillon-${table}`;
  const inputs: Record<string, object> = {
    expiry: {
      TableName,
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    },
    recovery: {
      TableName,
      PointInTimeRecoverySpecification: {
        PointInTimeRecoveryEnabled: true,
        RecoveryPeriodInDays: 7,
      },
    },
    tag: { ResourceArn: arn(TableName), Tags: [{ Key: 'carillon:service', Value: 'Carillon' }] },
  };
  const made = aws.calls.filter(({ operation }) => operation !== 'DescribeTable');
  expect(made.map(({ input }) => input)).toEqual(expected.map((lack) => inputs[lack]));
});

test('a table as the stack has made it lacks nothing', async () => {
  aws.respond({
    ...without(),
    DescribeTimeToLive: () => ({ TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED' } }),
    DescribeContinuousBackups: () => ({
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
      },
    }),
    ListTagsOfResource: () => ({ Tags: [{ Key: 'carillon:service', Value: 'Carillon' }] }),
  });
  for (const table of tableNames) expect(await lacksOf(deps, table)).toEqual([]);
});
