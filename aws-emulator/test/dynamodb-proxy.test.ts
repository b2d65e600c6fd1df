import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type DynamoDbFault, type DynamoDbHook, startDynamoDbProxy } from '../dynamodb-proxy.ts';
import type { Grant } from '../grants.ts';
import type { AwsService } from '../loopback.ts';
import { until } from './fixtures.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/Projects';
const read: Grant = { action: 'dynamodb:GetItem', resource: table };
const write: Grant = { action: 'dynamodb:PutItem', resource: table };

let database: Server;
/** Operations that the database received. */
let received: string[];
let proxy: AwsService;
let client: DynamoDBClient;

beforeEach(async () => {
  received = [];
  database = createServer((request, response) => {
    // DynamoDB Local's guard refuses other hosts.
    if (request.headers.host !== `127.0.0.1:${request.socket.localPort}`) return response.destroy();
    received.push(String(request.headers['x-amz-target']).split('.')[1]!);
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    request.resume().once('end', () => response.end('{"Item":{"projectId":{"S":"p"}}}'));
  });
  await once(database.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  client.destroy();
  await proxy.stop();
  database.closeAllConnections();
  database.close();
});

async function start(allowed: readonly Grant[], onCall?: DynamoDbHook, accessKeyId = 'Send') {
  proxy = await startDynamoDbProxy({
    target: `http://127.0.0.1:${(database.address() as AddressInfo).port}`,
    grants: new Map([['Send', allowed]]),
    onCall,
  });
  client = new DynamoDBClient({
    endpoint: proxy.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'local' },
    maxAttempts: 1,
    requestHandler: { requestTimeout: 1000, throwOnRequestTimeout: true },
  });
}

const get = (TableName = 'Projects') =>
  client.send(new GetItemCommand({ TableName, Key: { projectId: { S: 'p' } } }));
const accessDenied = { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } };

test('an action that the role lacks is refused with DynamoDB’s error', async () => {
  await start([write]);
  await expect(get()).rejects.toMatchObject({
    ...accessDenied,
    message:
      `Send is not authorized to perform: dynamodb:GetItem on resource: ${table} ` +
      'because no identity-based policy allows the dynamodb:GetItem action',
  });
  expect(received).toEqual([]);
});

test('another table, an unknown caller, and a transaction with one such write are refused', async () => {
  await start([read, write]);
  await expect(get('Usage')).rejects.toMatchObject(accessDenied);
  const TransactItems = [
    { Put: { TableName: 'Projects', Item: { projectId: { S: 'p' } } } },
    { Delete: { TableName: 'Projects', Key: { projectId: { S: 'q' } } } },
  ];
  const transaction = client.send(new TransactWriteItemsCommand({ TransactItems }));
  await expect(transaction).rejects.toThrow('dynamodb:DeleteItem');
  await proxy.stop();
  client.destroy();
  await start([read], undefined, 'Stranger');
  await expect(get()).rejects.toMatchObject(accessDenied);
  expect(received).toEqual([]);
});

test('the hook is called for allowed calls only', async () => {
  const calls: unknown[] = [];
  await start([read], (call) => {
    calls.push(call);
  });
  await get();
  await expect(get('Usage')).rejects.toThrow();
  expect(calls).toEqual([
    {
      caller: 'Send',
      operation: 'GetItem',
      parameters: { TableName: 'Projects', Key: { projectId: { S: 'p' } } },
      requiredGrants: [read],
      ended: expect.any(Promise),
    },
  ]);
});

test.each<[fault: DynamoDbFault | undefined, isReceived: boolean]>([
  [undefined, true],
  ['lost response', true],
  ['lost request', false],
  ['no response', false],
])(
  'a call ends when its caller knows of it, and is executed or not (%s)',
  async (fault, executed) => {
    const events: string[] = [];
    await start([read], async ({ ended }) => {
      void ended.then(() => events.push('ended'));
      // A call that had ended too early would be recorded before.
      await new Promise(setImmediate);
      events.push(received.length === 0 ? 'held' : 'executed');
      return fault;
    });
    const error = await get().then(
      () => undefined,
      ({ name }: Error) => name,
    );
    expect(error === undefined).toBe(fault === undefined);
    expect(error === 'TimeoutError').toBe(fault === 'no response');
    expect(received).toEqual(executed ? ['GetItem'] : []);
    await until(() => events.length === 2);
    expect(events).toEqual(['held', 'ended']);
  },
);
