import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GetItemCommand, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  createTables,
  type DynamoDbEngine,
  dynamoDbEngines,
  hasEngine,
  localClient,
  startDynamoDb,
} from '../dynamodb.ts';
import type { Template } from '../template.ts';
import { useFolder } from './fixtures.ts';

const key = (name: string, type: string) => ({ AttributeName: name, KeyType: type });
const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
/** A table with the properties that CDK writes. */
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
  },
};
const folder = useFolder();

const createAllTables = (endpoint: string, from = template) => createTables(from, endpoint);

/** The port of the engine that has its data in a directory. */
function enginePort(dataDir: string): string {
  const commands = execFileSync('ps', ['-ww', '-eo', 'args'], { encoding: 'utf8' }).split('\n');
  const command = commands.find(
    (line) => line.includes(dataDir) && /^\S*(dynoxide|java) /.test(line),
  );
  const [, port] = /-port (\d+)/.exec(command!)!;
  return port!;
}

// One of the engines takes seconds to start, so that the tests share its starts.
describe.each(dynamoDbEngines)('%s', (engine: DynamoDbEngine) => {
  const withEngine = hasEngine(engine) ? test : test.skip;

  withEngine('refuses data whose tables have other keys than the template', async () => {
    const dynamodb = await startDynamoDb({ engine });
    await createAllTables(dynamodb.endpoint);
    const otherKeys = {
      ...template.Resources.Plain!,
      Properties: { KeySchema: [key('id', 'HASH')], AttributeDefinitions: [attribute('id')] },
    };
    await expect(
      createAllTables(dynamodb.endpoint, { Resources: { Plain: otherKeys } }),
    ).rejects.toThrow(/^Table "Plain" has other keys or indexes than in the template: /);
    await dynamodb.stop();
    await expect(fetch(dynamodb.endpoint)).rejects.toThrow('fetch failed');
  });

  withEngine('keeps the data in a directory across restarts, and from others', async () => {
    const dataDir = join(folder.path, 'data');
    const item = { project: { S: 'p' }, id: { S: '1' } };
    const first = await startDynamoDb({ engine, dataDir });
    await createAllTables(first.endpoint);
    const writer = localClient(first.endpoint);
    await writer.send(new PutItemCommand({ TableName: 'Plain', Item: item }));
    writer.destroy();

    // Someone who knows only the port.
    const stranger = localClient(`http://127.0.0.1:${enginePort(dataDir)}`);
    const found = await stranger.send(new ListTablesCommand({})).catch(() => undefined);
    stranger.destroy();
    expect(found?.TableNames ?? []).toEqual([]);
    for (const path of ['', ...readdirSync(dataDir)]) {
      const { mode } = statSync(join(dataDir, path));
      expect([path, mode & 0o077]).toEqual([path, 0]);
    }
    await first.stop();

    const second = await startDynamoDb({ engine, dataDir });
    const reader = localClient(second.endpoint);
    try {
      await createAllTables(second.endpoint);
      const { Item } = await reader.send(new GetItemCommand({ TableName: 'Plain', Key: item }));
      expect(Item).toEqual(item);
    } finally {
      reader.destroy();
      await second.stop();
    }
  });
});

test('an engine ends when the process that started it is killed', async () => {
  const script = `
    import { startDynamoDb } from 'aws-emulator/dynamodb';
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
  const responds = () => fetch(endpoint).then(Boolean, () => false);
  while (await responds()) await delay(10);
});

const withDynoxide = hasEngine('dynoxide') ? test : test.skip;
withDynoxide('an engine that cannot read the data fails with one line', async () => {
  folder.write('dynoxide.db', 'not a database '.repeat(500));
  await expect(startDynamoDb({ engine: 'dynoxide', dataDir: folder.path })).rejects.toThrow(
    /^dynoxide failed to start: [^\n]+$/,
  );
});
