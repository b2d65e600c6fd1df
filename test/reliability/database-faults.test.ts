import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type DynamoDbHook, errorResponse } from 'aws-emulator/dynamodb-proxy';
import type { RouteName } from '../../contract/wire/routes.ts';
import { endpointHash, subscriptionKey } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';
import {
  always,
  conflict,
  exceeded,
  once,
  readsAudience,
  throttled,
} from './fixtures/database-faults.ts';
import { readProjectItems } from './fixtures/project-items.ts';

/** The faults of the current test; undefined for none. */
let hook: DynamoDbHook | undefined;
let project: ProjectCredentials;

const service = useService({ onDynamoDbCall: (call) => hook?.(call), onLog: () => {} });
beforeEach(async () => {
  hook = undefined;
  project = await service.createProject();
});

function call(name: RouteName, browser: SimulatedBrowser, notificationId = 'none') {
  return callWithValidRequest(service, project, name, { parameters: { notificationId } }, browser);
}

const subscriberOf = (userId: string) => service.subscribe(project, userId);
const newBrowser = () =>
  service.stack.pushService.subscribe({ applicationServerKey: project.applicationServerKey });

async function isStored({ endpoint }: SimulatedBrowser): Promise<boolean> {
  const { Item } = await service.dynamo.send(
    new GetCommand({
      TableName: service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE,
      Key: subscriptionKey(project.ref, endpointHash(project, endpoint)),
    }),
  );
  return Item !== undefined;
}

const readItems = () =>
  readProjectItems(service.dynamo, service.stack.dynamodb.tables, project.ref);

const usage = () => service.usage(project.projectId);

describe('a transient database fault does not reach the caller', () => {
  test.each([
    ['throttling', 'UpdateItem', throttled],
    ['throughput exceeded', 'UpdateItem', exceeded],
    ['internal server error', 'TransactWriteItems', errorResponse('InternalServerError', 'x')],
    ['broken connection', 'UpdateItem', 'lost request'],
    ['no response', 'UpdateItem', 'no response'],
    [
      'conflict with a transaction',
      'UpdateItem',
      errorResponse('TransactionConflictException', 'x'),
    ],
  ] as const)('%s', async (_, operation, fault) => {
    hook = once(operation, fault);
    const browser = newBrowser();
    expect((await call('subscribe', browser)).status).toBe(201);
    expect(await isStored(browser)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });

  test.each([
    ['three', 'subscribe', 3, 201],
    ['three', 'unsubscribe', 3, 200],
    ['nine', 'removeUser', 9, 200],
  ] as const)('%s conflicts of a transaction: %s', async (...row) => {
    const [, name, times, status] = row;
    const browser = await subscriberOf('ada');
    let conflicts = 0;
    hook = (request) => {
      if (request.operation !== 'TransactWriteItems' || conflicts === times) return undefined;
      conflicts += 1;
      return conflict(request);
    };
    const used = name === 'subscribe' ? newBrowser() : browser;
    expect((await call(name, used)).status).toBe(status);
    expect(conflicts).toBe(times);
    expect(await usage()).toMatchObject({ subscribers: name === 'subscribe' ? 2 : 0 });
  });
});

// With the ten attempts of other functions, a flood would keep a thousand of these busy.
test.each(['subscribe', 'unsubscribe'] as const)(
  'five conflicts of a transaction are unavailable in a request of a browser: %s',
  async (name) => {
    const browser = await subscriberOf('ada');
    let conflicts = 0;
    hook = (request) => {
      if (request.operation !== 'TransactWriteItems') return undefined;
      conflicts += 1;
      return conflict(request);
    };
    const used = name === 'subscribe' ? newBrowser() : browser;
    const { status, headers } = await call(name, used);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(conflicts).toBe(5);
  },
);

describe('a subscription or a send whose response is lost counts once', () => {
  test('a new subscription', async () => {
    hook = once('TransactWriteItems', 'lost response');
    const browser = newBrowser();
    expect((await call('subscribe', browser)).status).toBe(201);
    expect(await isStored(browser)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });

  test('a send', async () => {
    const browser = await service.subscribe(project);
    hook = once('TransactWriteItems', 'lost response');
    const { status, body } = await service.send(project, { title: 'T' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await usage()).toMatchObject({ sends: 1 });
    expect((await readItems()).notifications.size).toBe(1);
  });
});

test('an event whose response is lost may count twice, as may a request against the rate limit', async () => {
  const { body } = await service.send(project, { title: 'T' });
  const browser = newBrowser();
  const lost = new Set<string>();
  hook = ({ operation, parameters }) => {
    const table = String(parameters.TableName);
    const isOfKey = String(parameters.UpdateExpression).includes('addressKey');
    if (operation !== 'UpdateItem' || isOfKey || lost.has(table)) return undefined;
    lost.add(table);
    return 'lost response';
  };
  expect((await call('track', browser, body.id)).status).toBe(200);
  hook = undefined;
  const read = await call('getNotification', browser, body.id);
  expect(read.body).toMatchObject({ shown: 2 });
  const { Items = [] } = await service.dynamo.send(
    new ScanCommand({ TableName: service.stack.dynamodb.tables.RATE_LIMITS_TABLE }),
  );
  const ofTrack = Items.filter(({ bucket }) => bucket.startsWith(`${project.projectId}#track#`));
  expect(ofTrack).toMatchObject([{ hits: 2 }]);
});

describe('a lasting database fault returns 503 with Retry-After and changes nothing', () => {
  const lasting: [string, RouteName, DynamoDbHook][] = [
    ['subscribe: throttled', 'subscribe', always('TransactWriteItems', throttled)],
    ['subscribe: no connection', 'subscribe', always('UpdateItem', 'lost request')],
    ['subscribe: no response', 'subscribe', always('TransactWriteItems', 'no response')],
    [
      'subscribe: conflicts',
      'subscribe',
      (request) => (request.operation === 'TransactWriteItems' ? conflict(request) : undefined),
    ],
    ['unsubscribe: throttled', 'unsubscribe', always('TransactWriteItems', throttled)],
    ['send: throttled read of the project', 'send', always('TransactGetItems', throttled)],
    ['send: throttled count of the unit', 'send', always('TransactWriteItems', exceeded)],
    ['send: throttled count of the subscribers', 'send', always('Query', throttled)],
    [
      'send: throttled read of the audience',
      'send',
      (call) => (readsAudience(call) ? throttled : undefined),
    ],
    ['send: throttled claim', 'send', always('UpdateItem', throttled)],
    ['getNotification: throttled', 'getNotification', always('GetItem', throttled)],
    ['stopNotification: throttled', 'stopNotification', always('GetItem', throttled)],
    ['track: throttled', 'track', always('UpdateItem', throttled)],
    ['getProject: throttled', 'getProject', always('Query', throttled)],
    ['listNotifications: throttled', 'listNotifications', always('Query', throttled)],
    ['listNotifications: no response', 'listNotifications', always('Query', 'no response')],
    ['getUser: throttled', 'getUser', always('Query', throttled)],
    ['getUser: no response', 'getUser', always('Query', 'no response')],
    ['removeUser: throttled read', 'removeUser', always('Query', throttled)],
    ['removeUser: throttled removal', 'removeUser', always('TransactWriteItems', throttled)],
    [
      'removeUser: conflicts',
      'removeUser',
      (request) => (request.operation === 'TransactWriteItems' ? conflict(request) : undefined),
    ],
  ];

  test.each(lasting)('%s', async (_, name, fault) => {
    const existing = await service.subscribe(project, 'ada');
    const target = name === 'subscribe' ? newBrowser() : existing;
    hook = fault;
    const { status, headers, body } = await call(name, target);
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    hook = undefined;
    expect(await isStored(existing)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1, sends: 0 });
    const { notifications, idempotencyItems } = await readItems();
    expect({ notifications, idempotencyItems }).toEqual({
      notifications: new Map(),
      idempotencyItems: [],
    });
    expect(existing.messages).toEqual([]);
  });
});
