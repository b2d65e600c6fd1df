import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { AwsService } from '../../../local/aws-service.ts';
import {
  type DynamoDbFault,
  type DynamoDbHook,
  startDynamoDbProxy,
} from '../../../local/dynamodb/proxy.ts';
import { cancelledTransaction, errorResponse } from '../../../local/dynamodb/response.ts';
import type { Grant } from '../../../local/template/iam-policy.ts';

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
  await new Promise<void>((listening) => database.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  client.destroy();
  await proxy.stop();
  database.closeAllConnections();
  await new Promise((closed) => database.close(closed));
});

async function start(
  allowed: readonly Grant[],
  onCall?: DynamoDbHook,
  config?: DynamoDBClientConfig,
) {
  proxy = await startDynamoDbProxy({
    target: `http://127.0.0.1:${(database.address() as AddressInfo).port}`,
    grants: new Map([['Send', allowed]]),
    onCall,
  });
  client = new DynamoDBClient({
    endpoint: proxy.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'Send', secretAccessKey: 'local' },
    maxAttempts: 1,
    ...config,
  });
}

const get = (TableName = 'Projects') =>
  client.send(new GetItemCommand({ TableName, Key: { projectId: { S: 'p' } } }));

const accessDenied = { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } };

test('an allowed call reaches the database and returns its response', async () => {
  await start([read]);
  expect(await get()).toMatchObject({ Item: { projectId: { S: 'p' } } });
  expect(received).toEqual(['GetItem']);
});

test('an action that is not allowed is refused with DynamoDB’s error', async () => {
  await start([write]);
  await expect(get()).rejects.toMatchObject({
    ...accessDenied,
    message:
      `Send is not authorized to perform: dynamodb:GetItem on resource: ${table} ` +
      'because no identity-based policy allows the dynamodb:GetItem action',
  });
  expect(received).toEqual([]);
});

test('a table that is not allowed is refused', async () => {
  await start([read]);
  await expect(get('Usage')).rejects.toMatchObject(accessDenied);
  expect(received).toEqual([]);
});

test('every call of an unknown caller is refused', async () => {
  await start([read], undefined, {
    credentials: { accessKeyId: 'Stranger', secretAccessKey: 'local' },
  });
  await expect(get()).rejects.toMatchObject(accessDenied);
});

test('a transaction is refused if one of its writes is not allowed', async () => {
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

test.each<DynamoDbFault | undefined>([undefined, 'lost response', 'lost request'])(
  'a call ends when it has its response or its connection closes (fault: %s)',
  async (fault) => {
    const events: string[] = [];
    await start([read], async ({ ended }) => {
      void ended.then(() => events.push('ended'));
      // A call that had ended too early would be recorded before.
      await new Promise(setImmediate);
      events.push('forwarded');
      return fault;
    });
    await get().catch(() => undefined);
    expect(events).toEqual(['forwarded', 'ended']);
  },
);

test('a fault’s response reaches the caller, and the call does not reach the database', async () => {
  await start([read], () => errorResponse('ThrottlingException', 'Slow down.'));
  await expect(get()).rejects.toMatchObject({ name: 'ThrottlingException', message: 'Slow down.' });
  expect(received).toEqual([]);
});

test('cancelledTransaction() has one reason per item', async () => {
  await start([read], () => cancelledTransaction(['None', 'TransactionConflict']));
  await expect(get()).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
});

test('a lost request fails and does not reach the database', async () => {
  await start([read], () => 'lost request');
  await expect(get()).rejects.toThrow('socket hang up');
  expect(received).toEqual([]);
});

test('a lost response fails after the database has executed the request', async () => {
  await start([read], () => 'lost response');
  await expect(get()).rejects.toThrow('socket hang up');
  expect(received).toEqual(['GetItem']);
});

test('"no response" lets the caller time out', async () => {
  await start([read], () => 'no response', {
    requestHandler: { requestTimeout: 50, throwOnRequestTimeout: true },
  });
  await expect(get()).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(received).toEqual([]);
});

test('a call is delayed until the hook’s promise settles', async () => {
  const events = new EventEmitter();
  await start([read], async () => {
    events.emit('delayed');
    await once(events, 'continue');
    return undefined;
  });
  const delayed = once(events, 'delayed');
  const response = get();
  await delayed;
  expect(received).toEqual([]);
  events.emit('continue');
  await response;
  expect(received).toEqual(['GetItem']);
});

test('a call fails if the database cannot be reached', async () => {
  await start([read]);
  database.close();
  await expect(get()).rejects.toThrow('socket hang up');
});
