import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDbHook,
  type DynamoDbProxy,
  startDynamoDbProxy,
} from '../../../local/dynamodb/proxy.ts';
import { cancelledTransaction, errorResponse } from '../../../local/dynamodb/response.ts';
import type { Grant } from '../../../local/template/iam-policy.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/Projects';
const read: Grant = { action: 'dynamodb:GetItem', resource: table };
const write: Grant = { action: 'dynamodb:PutItem', resource: table };

let database: Server;
/** Operations that the database was asked for. */
let asked: string[];
let gate: DynamoDbProxy;
let client: DynamoDBClient;

beforeEach(async () => {
  asked = [];
  database = createServer((request, response) => {
    asked.push(String(request.headers['x-amz-target']).split('.')[1]!);
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    request.resume().once('end', () => response.end('{"Item":{"projectId":{"S":"p"}}}'));
  });
  await new Promise<void>((listening) => database.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  client.destroy();
  await gate.stop();
  database.closeAllConnections();
  await new Promise((closed) => database.close(closed));
});

async function start(own: readonly Grant[], onCall?: DynamoDbHook, config?: DynamoDBClientConfig) {
  gate = await startDynamoDbProxy({
    target: `http://127.0.0.1:${(database.address() as AddressInfo).port}`,
    grants: new Map([['Send', own]]),
    onCall,
  });
  client = new DynamoDBClient({
    endpoint: gate.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'Send', secretAccessKey: 'local' },
    maxAttempts: 1,
    ...config,
  });
}

const get = (TableName = 'Projects') =>
  client.send(new GetItemCommand({ TableName, Key: { projectId: { S: 'p' } } }));

const refused = { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } };

test('what the role allows reaches the database, and its answer comes back', async () => {
  await start([read]);
  expect(await get()).toMatchObject({ Item: { projectId: { S: 'p' } } });
  expect(asked).toEqual(['GetItem']);
});

test('another action is refused as DynamoDB refuses it, and never gets there', async () => {
  await start([write]);
  await expect(get()).rejects.toMatchObject({
    ...refused,
    message:
      `Send is not authorized to perform: dynamodb:GetItem on resource: ${table} ` +
      'because no identity-based policy allows the dynamodb:GetItem action',
  });
  expect(asked).toEqual([]);
});

test('another table is refused', async () => {
  await start([read]);
  await expect(get('Usage')).rejects.toMatchObject(refused);
  expect(asked).toEqual([]);
});

test('who is no function of the template is refused everything', async () => {
  await start([read], undefined, {
    credentials: { accessKeyId: 'Stranger', secretAccessKey: 'local' },
  });
  await expect(get()).rejects.toMatchObject(refused);
});

test('a transaction with one write that is not allowed is refused whole', async () => {
  const items = [
    { Put: { TableName: 'Projects', Item: { projectId: { S: 'p' } } } },
    { Delete: { TableName: 'Projects', Key: { projectId: { S: 'q' } } } },
  ];
  await start([read, write]);
  const transact = new TransactWriteItemsCommand({ TransactItems: items });
  await expect(client.send(transact)).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining('dynamodb:DeleteItem'),
  });
  expect(asked).toEqual([]);
});

test('the hook hears what is allowed, and nothing else', async () => {
  const heard: unknown[] = [];
  await start([read], (call) => {
    heard.push(call);
  });
  await get();
  await expect(get('Usage')).rejects.toThrow();
  expect(heard).toEqual([
    {
      caller: 'Send',
      operation: 'GetItem',
      parameters: { TableName: 'Projects', Key: { projectId: { S: 'p' } } },
      needs: [read],
    },
  ]);
});

test('a fault’s answer is what the caller hears, and the database is not asked', async () => {
  await start([read], () => errorResponse('ThrottlingException', 'Slow down.'));
  await expect(get()).rejects.toMatchObject({ name: 'ThrottlingException', message: 'Slow down.' });
  expect(asked).toEqual([]);
});

test('a cancelled transaction tells the reason of each item', async () => {
  await start([read], () => cancelledTransaction(['None', 'TransactionConflict']));
  await expect(get()).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
});

test('a lost call fails, and the database has not heard of it', async () => {
  await start([read], () => 'lost call');
  await expect(get()).rejects.toThrow('socket hang up');
  expect(asked).toEqual([]);
});

test('a lost answer fails, and the database has done it', async () => {
  await start([read], () => 'lost answer');
  await expect(get()).rejects.toThrow('socket hang up');
  expect(asked).toEqual(['GetItem']);
});

test('no answer is one that the caller gives up waiting for', async () => {
  await start([read], () => 'no answer', {
    requestHandler: { requestTimeout: 50, throwOnRequestTimeout: true },
  });
  await expect(get()).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(asked).toEqual([]);
});

test('a call is held until the hook lets it go', async () => {
  const events = new EventEmitter();
  await start([read], async () => {
    events.emit('held');
    await once(events, 'go');
    return undefined;
  });
  const held = once(events, 'held');
  const answer = get();
  await held;
  expect(asked).toEqual([]);
  events.emit('go');
  await answer;
  expect(asked).toEqual(['GetItem']);
});

test('a database that went away is one that hangs up', async () => {
  await start([read]);
  database.close();
  await expect(get()).rejects.toThrow('socket hang up');
});
