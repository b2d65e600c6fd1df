import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDbEngine,
  dynamoDbEngines,
  hasEngine,
  startDynamoDb,
} from '../../../local/dynamodb/dynamodb.ts';
import { createTables, localClient } from '../../../local/dynamodb/tables.ts';
import { createResolver } from '../../../local/template/references.ts';
import type { Template } from '../../../local/template/template.ts';
import { temporaryFolder } from '../../fixtures/folder.ts';

/** A table of either kind, with all that CDK writes into one. */
const key = (name: string, type: string) => ({ AttributeName: name, KeyType: type });
const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
const template: Template = {
  Resources: {
    Plain: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        AttributeDefinitions: [attribute('project'), attribute('id')],
        KeySchema: [key('project', 'HASH'), key('id', 'RANGE')],
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        Tags: [{ Key: 'stage', Value: 'prod' }],
      },
    },
    Global: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        AttributeDefinitions: [attribute('project'), attribute('user')],
        KeySchema: [key('project', 'HASH')],
        BillingMode: 'PAY_PER_REQUEST',
        GlobalSecondaryIndexes: [
          {
            IndexName: 'byUser',
            KeySchema: [key('project', 'HASH'), key('user', 'RANGE')],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
        Replicas: [{ Region: { Ref: 'AWS::Region' }, DeletionProtectionEnabled: true }],
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      },
    },
  },
};
const makeTables = (endpoint: string, from = template) =>
  createTables(from, endpoint, createResolver(from));

async function describeTimeToLive(client: DynamoDBClient, table: string) {
  const { TimeToLiveDescription } = await client.send(
    new DescribeTimeToLiveCommand({ TableName: table }),
  );
  return TimeToLiveDescription;
}

describe.each(dynamoDbEngines)('%s', (engine: DynamoDbEngine) => {
  const withEngine = hasEngine(engine) ? test : test.skip;

  withEngine('makes the template’s tables, indexes and TTL, and makes them once', async () => {
    const dynamodb = await startDynamoDb({ engine });
    const client = localClient(dynamodb.endpoint);
    try {
      const names = { Plain: 'Plain', Global: 'Global' };
      expect(await makeTables(dynamodb.endpoint)).toEqual(names);
      expect(await makeTables(dynamodb.endpoint)).toEqual(names);

      const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Global' }));
      expect(Table?.GlobalSecondaryIndexes).toEqual([
        expect.objectContaining({
          IndexName: 'byUser',
          KeySchema: [key('project', 'HASH'), key('user', 'RANGE')],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        }),
      ]);
      expect(await describeTimeToLive(client, 'Plain')).toEqual({
        AttributeName: 'expiresAt',
        TimeToLiveStatus: 'ENABLED',
      });
      expect(await describeTimeToLive(client, 'Global')).toMatchObject({
        TimeToLiveStatus: 'DISABLED',
      });
    } finally {
      client.destroy();
      await dynamodb.stop();
    }
  });

  withEngine('answers no more once it is stopped', async () => {
    const { endpoint, stop } = await startDynamoDb({ engine });
    await stop();
    await expect(fetch(endpoint)).rejects.toThrow('fetch failed');
  });

  withEngine('keeps the data in a directory over a restart', async () => {
    const folder = temporaryFolder();
    const item = { project: { S: 'p' }, id: { S: '1' } };
    const first = await startDynamoDb({ engine, dataDir: folder.path });
    await makeTables(first.endpoint);
    const writer = localClient(first.endpoint);
    await writer.send(new PutItemCommand({ TableName: 'Plain', Item: item }));
    writer.destroy();
    await first.stop();

    const second = await startDynamoDb({ engine, dataDir: folder.path });
    const reader = localClient(second.endpoint);
    try {
      await makeTables(second.endpoint);
      const { Item } = await reader.send(new GetItemCommand({ TableName: 'Plain', Key: item }));
      expect(Item).toEqual(item);
    } finally {
      reader.destroy();
      await second.stop();
      folder.remove();
    }
  });

  withEngine('refuses data whose tables have other keys', async () => {
    const { endpoint, stop } = await startDynamoDb({ engine });
    const changed: Template = {
      Resources: {
        Plain: {
          ...template.Resources.Plain!,
          Properties: { KeySchema: [key('id', 'HASH')], AttributeDefinitions: [attribute('id')] },
        },
      },
    };
    try {
      await makeTables(endpoint);
      await expect(makeTables(endpoint, changed)).rejects.toThrow(
        'Table "Plain" has other keys or indexes than the template gives it',
      );
    } finally {
      await stop();
    }
  });
});

test('an engine ends with the process that started it, even a killed one', async () => {
  const script = `
    import { startDynamoDb } from './local/dynamodb/dynamodb.ts';
    const { endpoint } = await startDynamoDb();
    console.log(endpoint);
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const endpoint = line.toString().trim();
  expect((await fetch(endpoint)).status).toBeGreaterThan(0);

  parent.kill('SIGKILL');
  const answers = () => fetch(endpoint).then(Boolean, () => false);
  while (await answers()) await delay(10);
});

test('a data directory that cannot be made is told in one line', async () => {
  const folder = temporaryFolder();
  const file = folder.write('occupied', '');
  await expect(startDynamoDb({ dataDir: file })).rejects.toThrow(
    'The data directory cannot be made: EEXIST',
  );
  folder.remove();
});
