import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type BatchGetCommand,
  type BatchGetCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  cancelledTransaction,
  type DynamoDbResponse,
  errorResponse,
} from 'aws-emulator/dynamodb-proxy';
import { connectionForgetter } from 'aws-emulator/loopback';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { readParts, subscriberCounter } from '../../../lambdas/store/counters.ts';
import { batchGet, documentClient, sendRepeatedly } from '../../../lambdas/store/dynamo.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { projectStore } from '../../../lambdas/store/projects.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { useDatabase } from '../../fixtures/database.ts';

const database = useDatabase();

describe('the client', () => {
  let server: Server;
  let client: DynamoDBDocumentClient;
  let nowMs: number;
  /** The connections that the server has accepted. */
  let accepted: Socket[];
  /** The parameters of the calls, and the responses to the first of them. */
  let received: Record<string, unknown>[];
  let responses: DynamoDbResponse[];

  beforeEach(async () => {
    nowMs = 0;
    accepted = [];
    received = [];
    responses = [];
    server = createServer(async (request, response) => {
      received.push((await json(request)) as Record<string, unknown>);
      const { status, body } = responses.shift() ?? { status: 200, body: {} };
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(body));
    });
    server.keepAliveTimeout = 0;
    server.on('connection', (socket) => accepted.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const config = {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'Send', secretAccessKey: 'local' },
    };
    client = documentClient(config, () => nowMs);
  });
  afterEach(async () => {
    client.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const get = () => client.send(new GetCommand({ TableName: 'Projects', Key: { projectId: 'p' } }));
  const getAtOnce = (count: number) => Promise.all(Array.from({ length: count }, get));

  test('a connection that was lost makes the database unavailable', async () => {
    const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    const parts = { sleep: async () => {}, random: () => 0, newToken: () => 'token' };
    const sent = sendRepeatedly(
      { input: {}, isTransaction: false },
      () => Promise.reject(lost),
      parts,
    );
    await expect(sent).rejects.toMatchObject({ code: 'unavailable', cause: lost });
  });

  test('a response that stops half-way makes the database unavailable', async () => {
    server.removeAllListeners('request');
    server.on('request', (_, response) => {
      response.writeHead(200, {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': 9,
      });
      response.write('{');
    });
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
  }, 15_000);

  describe('connections', () => {
    test('are used again for 30 s, by the wall clock', async () => {
      await getAtOnce(4);
      nowMs += 29_999;
      await getAtOnce(4);
      expect(accepted).toHaveLength(4);
      nowMs += 30_000;
      const closed = accepted.map((socket) => once(socket, 'close'));
      await getAtOnce(2);
      await Promise.all(closed);
      expect(accepted).toHaveLength(6);
    });

    test('are closed each by its own time', async () => {
      await getAtOnce(3);
      nowMs += 20_000;
      await get();
      nowMs += 10_000;
      await get();
      expect(accepted).toHaveLength(3);
      await getAtOnce(2);
      expect(accepted).toHaveLength(4);
    });

    test.each(['reset', 'silence'] as const)(
      'that the database forgot while the function was frozen are not used: %s',
      async (then) => {
        const forget = connectionForgetter(server);
        // More than the client makes attempts.
        await getAtOnce(8);
        expect(forget(then)).toBe(8);
        nowMs += 60_000;
        await getAtOnce(8);
        expect(accepted).toHaveLength(16);
      },
    );

    test.each(['reset', 'silence'] as const)(
      'that the database forgot meanwhile fail one attempt, and the next ones are new: %s',
      async (then) => {
        const forget = connectionForgetter(server);
        await getAtOnce(8);
        expect(forget(then)).toBe(8);
        await get();
        expect(accepted).toHaveLength(9);
      },
    );
  });

  const Update = {
    TableName: 'Usage',
    Key: { projectId: 'p', period: '2026-11' },
    UpdateExpression: 'ADD used :one',
    ExpressionAttributeValues: { ':one': 1 },
  };
  const transact = (options: { ClientRequestToken?: string } = {}) =>
    client.send(new TransactWriteCommand({ TransactItems: [{ Update }], ...options }));
  const tokens = () => received.map(({ ClientRequestToken }) => ClientRequestToken);

  const conflict = cancelledTransaction(['TransactionConflict']);

  describe('a transaction that conflicts with another one', () => {
    test('is repeated with one token, so that a late attempt does nothing', async () => {
      responses = [conflict, errorResponse('InternalServerError', 'x'), conflict];
      await transact();
      await transact();
      const [first, , , , second] = tokens();
      expect(first).toEqual(expect.any(String));
      expect(tokens()).toEqual([first, first, first, first, second]);
      expect(second).not.toBe(first);
    });

    test('keeps the token of its caller', async () => {
      responses = [conflict];
      await transact({ ClientRequestToken: 'own' });
      expect(tokens()).toEqual(['own', 'own']);
    });

    test('is repeated although a condition failed: the other conditions are judged without the conflict', async () => {
      const judged = cancelledTransaction(['ConditionalCheckFailed', 'ConditionalCheckFailed']);
      responses = [cancelledTransaction(['TransactionConflict', 'ConditionalCheckFailed']), judged];
      await expect(transact()).rejects.toThrow('Transaction cancelled');
      expect(received).toHaveLength(2);
    });
  });

  test('a single write that conflicts with a transaction is repeated without a token', async () => {
    responses = Array(4).fill(errorResponse('TransactionConflictException', 'x'));
    await client.send(new UpdateCommand(Update));
    expect(tokens()).toEqual(Array(5).fill(undefined));
  });

  test('a command that conflicts for 4 s is unavailable', async () => {
    const error = Object.assign(new Error('Conflict.'), { name: 'TransactionConflictException' });
    const waitsMs: number[] = [];
    const sent = sendRepeatedly({ input: {}, isTransaction: false }, () => Promise.reject(error), {
      sleep: async (ms) => waitsMs.push(ms),
      random: () => 1,
      newToken: () => 'token',
    });
    await expect(sent).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 1,
      cause: error,
    });
    expect(waitsMs.reduce((sum, ms) => sum + ms)).toBeLessThan(4100);
    expect(waitsMs).toHaveLength(9);
  });
});

/** A client that processes one key of each call. */
function slowClient() {
  const requests: BatchGetCommandInput[] = [];
  const client = {
    send: async ({ input }: BatchGetCommand) => {
      requests.push(input);
      const [read, ...left] = input.RequestItems!.Items!.Keys!;
      return {
        Responses: { Items: [read] },
        UnprocessedKeys: left.length === 0 ? {} : { Items: { Keys: left } },
      };
    },
  };
  return { client: client as unknown as DynamoDBDocumentClient, requests };
}

const keys = Array.from({ length: 9 }, (_, id) => ({ id }));

test('keys that DynamoDB leaves out are read again, ever more slowly, and all of them consistently', async () => {
  const { client, requests } = slowClient();
  const waits: number[] = [];
  const found = await batchGet(client, 'Items', keys, undefined, async (ms) => waits.push(ms));
  expect(found).toEqual(keys);
  expect(waits).toEqual([50, 100, 200, 400, 800, 1000, 1000, 1000]);
  expect(requests.map(({ RequestItems }) => RequestItems!.Items!.ConsistentRead)).toEqual(
    keys.map(() => true),
  );
});

test('the wait ends with its signal, as a database that is busy', async () => {
  const { client, requests } = slowClient();
  const caller = new AbortController();
  const reading = batchGet(client, 'Items', keys, caller.signal, async (_, signal) => {
    caller.abort();
    signal!.throwIfAborted();
  });
  await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
  expect(requests).toHaveLength(1);
});

describe('a read that must not be stale', () => {
  // A local engine never reads stale items. What DynamoDB would do is seen only in the requests.

  let reads: (boolean | undefined)[] = [];
  beforeAll(async () => {
    database.dynamo.middlewareStack.add(
      (next) => (args) => {
        reads.push((args.input as { ConsistentRead?: boolean }).ConsistentRead);
        return next(args);
      },
      { step: 'initialize' },
    );
  });
  beforeEach(() => {
    reads = [];
  });

  const clock = () => new Date();
  const project = 'shop' as ProjectRef;

  test.each<[string, (tables: ReturnType<typeof projectTables>) => Promise<unknown>]>([
    [
      'a notification',
      ({ notifications }) =>
        notificationStore(database.dynamo, notifications, clock).find(project, 'id'),
    ],
    [
      'the list of notifications',
      ({ notifications }) =>
        notificationStore(database.dynamo, notifications, clock).newest(project, 1),
    ],
    [
      'the send of an idempotency key',
      (tables) => sendStore(database.dynamo, tables).earlier(project, 'hash', clock()),
    ],
    [
      'the parts of a counter',
      ({ usage }) => readParts(database.dynamo, subscriberCounter(usage, project)),
    ],
    ['a project', ({ projects }) => projectStore(database.dynamo, projects, clock).find('shop')],
  ])('%s is read consistently', async (_, read) => {
    await read(projectTables(database.tables));
    expect(reads).toEqual([true]);
  });

  test.each([true, false])(
    'a broadcast that asks for it is read consistently: %s',
    async (asked) => {
      const store = audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
      const options = { limit: 1, consistent: asked, conditions: {}, sentAt: 0 };
      await store.everyone(project, { from: 0, to: 1 }, options);
      expect(reads).toEqual([asked]);
    },
  );
});
