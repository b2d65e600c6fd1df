import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type RouteName, routes } from '../../contract/routes.ts';
import { endpointHash } from '../../lambdas/store/subscriptions.ts';
import type { DynamoDbCall, DynamoDbFault, DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { cancelledTransaction, errorResponse } from '../../local/dynamodb/response.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

/** What one request meets at the database; undefined lets a call through. */
let hook: DynamoDbHook | undefined;
let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService({ onDynamoDbCall: (call) => hook?.(call), onLog: () => {} });
});
afterAll(() => service.stop());
beforeEach(async () => {
  hook = undefined;
  project = await service.createProject();
});

const throttled = errorResponse('ThrottlingException', 'Rate exceeded');
const exceeded = errorResponse('ProvisionedThroughputExceededException', 'Too fast');

/** Does this to the first calls of an operation, and to none after. */
function first(times: number, operation: string, fault: DynamoDbFault): DynamoDbHook {
  let left = times;
  return (call) => {
    if (call.operation !== operation || left === 0) return undefined;
    left -= 1;
    return fault;
  };
}

const always =
  (operation: string, fault: DynamoDbFault): DynamoDbHook =>
  (call) =>
    call.operation === operation ? fault : undefined;

/** Cancels a transaction of these many items for a conflict on its counter. */
function conflict({ parameters }: DynamoDbCall): DynamoDbFault {
  const { length } = parameters.TransactItems as unknown[];
  return cancelledTransaction(Array(length).fill('None').with(0, 'TransactionConflict'));
}

function requestOf(name: RouteName, browser: SimulatedBrowser, notificationId = 'none') {
  const { projectId, secretKey } = project;
  const parameters = { projectId, notificationId };
  const bodies = {
    subscribe: browser.toJSON(),
    unsubscribe: undefined,
    send: { title: 'T' },
    track: { type: 'shown' },
  };
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  return service.call(routes[name], {
    parameters,
    headers: { authorization: `Bearer ${secretKey}` },
    ...(name === 'unsubscribe' ? { query } : { body: bodies[name] }),
  });
}

const newBrowser = () =>
  service.stack.pushService.subscribe({ applicationServerKey: project.applicationServerKey });

async function isStored({ endpoint }: SimulatedBrowser): Promise<boolean> {
  const { Item } = await service.dynamo.send(
    new GetCommand({
      TableName: service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE,
      Key: { projectId: project.projectId, endpointHash: endpointHash(endpoint) },
    }),
  );
  return Item !== undefined;
}

async function records(): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await service.dynamo.send(
    new ScanCommand({
      TableName: service.stack.dynamodb.tables.NOTIFICATIONS_TABLE,
      FilterExpression: 'projectId = :projectId',
      ExpressionAttributeValues: { ':projectId': project.projectId },
    }),
  );
  return Items;
}

const usage = () => service.usage(project.projectId);

describe('a passing fault is not noticed by the caller', () => {
  test.each([
    ['throttling', 'UpdateItem', throttled],
    ['throttled throughput', 'UpdateItem', exceeded],
    [
      'an error inside the database',
      'TransactWriteItems',
      errorResponse('InternalServerError', 'x'),
    ],
    ['a connection that breaks', 'UpdateItem', 'lost request'],
    ['a call without an answer', 'UpdateItem', 'no response'],
    [
      'a write that met a transaction',
      'UpdateItem',
      errorResponse('TransactionConflictException', 'x'),
    ],
  ] as const)('%s', async (_, operation, fault) => {
    hook = first(1, operation, fault);
    const browser = newBrowser();
    expect((await requestOf('subscribe', browser)).status).toBe(201);
    expect(await isStored(browser)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });

  test('transactions that conflict five times', async () => {
    let conflicts = 0;
    hook = (call) => {
      if (call.operation !== 'TransactWriteItems' || conflicts === 5) return undefined;
      conflicts += 1;
      return conflict(call);
    };
    const browser = newBrowser();
    expect((await requestOf('subscribe', browser)).status).toBe(201);
    expect(conflicts).toBe(5);
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });
});

describe('an answer lost after its write happened counts nothing twice', () => {
  test('subscribing', async () => {
    hook = first(1, 'TransactWriteItems', 'lost response');
    const browser = newBrowser();
    expect((await requestOf('subscribe', browser)).status).toBe(201);
    expect(await isStored(browser)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });

  test('unsubscribing', async () => {
    const browser = await service.subscribe(project);
    hook = first(1, 'TransactWriteItems', 'lost response');
    expect((await requestOf('unsubscribe', browser)).status).toBe(200);
    expect(await isStored(browser)).toBe(false);
    expect(await usage()).toMatchObject({ subscribers: 0 });
  });

  test('sending, by the month and by the browser', async () => {
    const browser = await service.subscribe(project);
    hook = first(1, 'TransactWriteItems', 'lost response');
    const { status, body } = await service.send(project, { title: 'T' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await usage()).toMatchObject({ sends: 1 });
    expect(await records()).toHaveLength(1);
  });

  test('removing the gone', async () => {
    const browser = await service.subscribe(project);
    await service.subscribe(project);
    browser.unsubscribe();
    let transactions = 0;
    hook = ({ operation }) => {
      if (operation !== 'TransactWriteItems') return undefined;
      transactions += 1;
      return transactions === 2 ? 'lost response' : undefined;
    };
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 2, delivered: 1, removed: 1 });
    expect(await usage()).toMatchObject({ subscribers: 1 });
  });
});

describe('a fault that lasts is 503 with a time to try again, and changes nothing', () => {
  const lasting: [string, RouteName, DynamoDbHook][] = [
    ['subscribe: throttled', 'subscribe', always('TransactWriteItems', throttled)],
    ['subscribe: no connection', 'subscribe', always('UpdateItem', 'lost request')],
    ['subscribe: no answer', 'subscribe', always('TransactWriteItems', 'no response')],
    [
      'subscribe: endless conflicts',
      'subscribe',
      (call) => (call.operation === 'TransactWriteItems' ? conflict(call) : undefined),
    ],
    ['unsubscribe: throttled', 'unsubscribe', always('TransactWriteItems', throttled)],
    ['send: the project cannot be read', 'send', always('TransactGetItems', throttled)],
    ['send: no unit can be taken', 'send', always('TransactWriteItems', exceeded)],
    ['send: the audience cannot be read', 'send', always('Query', throttled)],
    ['track: throttled', 'track', always('UpdateItem', throttled)],
  ];

  test.each(lasting)('%s', async (_, name, fault) => {
    const known = await service.subscribe(project);
    const target = name === 'subscribe' ? newBrowser() : known;
    hook = fault;
    const { status, headers, body } = await requestOf(name, target);
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    hook = undefined;
    expect(await isStored(known)).toBe(true);
    expect(await usage()).toMatchObject({ subscribers: 1, sends: 0 });
    expect(await records()).toEqual([]);
    expect(known.messages).toEqual([]);
  });
});

describe('a send that the database leaves alone half-way still says what it did', () => {
  const many = 1100;

  beforeEach(async () => {
    project = await service.createProject({ subscriberCap: null });
  });

  test('reads on once the database is back, and reaches everyone once', async () => {
    const browsers = await subscribeMany(many);
    let pages = 0;
    hook = ({ operation }) => {
      if (operation !== 'Query') return undefined;
      pages += 1;
      return pages === 2 ? throttled : undefined;
    };
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: many, delivered: many });
    expect(browsers.every(({ messages }) => messages.length === 1)).toBe(true);
  });

  test('answers what it did where the database stays away, and keeps its unit', async () => {
    await subscribeMany(many);
    let pages = 0;
    hook = ({ operation }) => {
      if (operation !== 'Query') return undefined;
      pages += 1;
      return pages === 1 ? undefined : throttled;
    };
    const { status, body } = await service.send(project, { title: 'T' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ attempted: 1000, delivered: 1000, unreached: 1 });
    expect(await usage()).toMatchObject({ sends: 1 });
  });

  test('answers its counts where they cannot be written down', async () => {
    await service.subscribe(project);
    const isCounts = ({ operation, requiredGrants }: DynamoDbCall) =>
      operation === 'UpdateItem' &&
      requiredGrants.some(({ resource }) => resource.includes('Notifications'));
    hook = (call) => (isCounts(call) ? throttled : undefined);
    const { status, body } = await service.send(project, { title: 'T' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
    const [record] = await records();
    expect(record).not.toHaveProperty('attempted');
  });

  test('counts a gone browser as failed where it cannot be deleted, and removes it next time', async () => {
    const browser = await service.subscribe(project);
    browser.unsubscribe();
    let transactions = 0;
    hook = ({ operation }) => {
      if (operation !== 'TransactWriteItems') return undefined;
      transactions += 1;
      return transactions > 1 ? throttled : undefined;
    };
    const refused = await service.send(project, { title: 'T' });
    expect(refused.body).toMatchObject({ attempted: 1, removed: 0, failed: 1 });
    expect(await usage()).toMatchObject({ subscribers: 1 });
    hook = undefined;
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 1, removed: 1, failed: 0 });
    expect(await usage()).toMatchObject({ subscribers: 0 });
  });
});

/** Browsers that share a key pair, subscribed some at a time. */
async function subscribeMany(number: number): Promise<SimulatedBrowser[]> {
  const browsers: SimulatedBrowser[] = [];
  while (browsers.length < number) {
    const batch = Array.from({ length: Math.min(50, number - browsers.length) }, () =>
      service.subscribe(project),
    );
    browsers.push(...(await Promise.all(batch)));
  }
  return browsers;
}
