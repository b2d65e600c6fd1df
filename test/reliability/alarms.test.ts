import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  cancelledTransaction,
  type DynamoDbCall,
  type DynamoDbHook,
  errorResponse,
} from 'aws-emulator/dynamodb-proxy';
import type { Template } from 'aws-emulator/template';
import { createBrowserKeys } from '../../admin/browser.ts';
import { routes } from '../../contract/wire/routes.ts';
import { sliceId } from '../../lambdas/store/items.ts';
import type { Behaviour } from '../../local/push-service/channels.ts';
import { measured } from '../fixtures/measured-stack.ts';
import { RecordedMetrics } from '../fixtures/recorded-metrics.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';
import { templateAlarms } from '../fixtures/template-alarms.ts';
import { until } from '../fixtures/until.ts';
import { exceeded, throttled } from './fixtures/database-faults.ts';

/** Executions that the account of these tests may run at once: those of two functions. */
const instances = 8;
const accountConcurrency = 2 * instances;

const template = synthesize({ accountConcurrency }).template.toJSON() as Template;
const alarms = templateAlarms(template);
const metrics = new RecordedMetrics();

let hook: DynamoDbHook | undefined;
let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService(
    measured(template, metrics, {
      accountConcurrency,
      concurrency: instances,
      retryDelaysMs: [0, 0],
      onDynamoDbCall: (call) => hook?.(call),
      onLog: () => {},
    }),
  );
});
afterAll(() => service.stop());
beforeEach(async () => {
  hook = undefined;
  metrics.clear();
  project = await newProject();
});

const minute = 60_000;
const hour = 60 * minute;

const keys = createBrowserKeys();
/** As Apple's push service says it. */
const keyMismatch: Behaviour = { status: 400, body: '{"reason":"VapidPkHashMismatch"}' };
/** As push services refuse a VAPID token, and some of them an endpoint that they do not know. */
const refusal: Behaviour = { status: 403 };
const newProject = () => service.createProject({ subscriberCap: null, rateLimitPerMinute: null });
const alarmOf = (id: string) => alarms.find((alarm) => alarm.id === id)!;
const failing = errorResponse('ValidationException', 'A fault.');
const isOn = (table: string, { requiredGrants }: DynamoDbCall) =>
  requiredGrants.some(({ resource }) => resource.includes(`table/${table}`));
const pool = (name: string) => [...service.stack.functions].find(([id]) => id.startsWith(name))![1];

/** Calls that often, from as many clients as one function has instances. */
async function times(number: number, call: () => Promise<unknown>): Promise<void> {
  const calls = Array.from({ length: number }).values();
  const client = async () => {
    for (const _ of calls) await call();
  };
  await Promise.all(Array.from({ length: instances }, client));
}

function unsubscribe(): Promise<unknown> {
  const { projectId } = project;
  return service.call(routes.unsubscribe, {
    parameters: { projectId },
    query: '?endpoint=https://x',
  });
}

function track(): Promise<unknown> {
  const parameters = { ...project, notificationId: randomUUID() };
  return service.call(routes.track, { parameters, body: { type: 'shown' } });
}

/** Sends without waiting for the delivery. */
function sendAsync() {
  return service.send(project, { title: 'T' }, { prefer: 'respond-async' });
}

async function subscribeMany(number: number, behaviour: Behaviour): Promise<void> {
  await times(number, async () => (await service.subscribe(project)).behave(behaviour));
}

async function sendToMany(number: number, behaviour: Behaviour): Promise<void> {
  await subscribeMany(number, behaviour);
  await service.send(project, { title: 'T' });
}

/** An alarm, what happens, and what makes it happen once. */
type Case = readonly [alarm: string, what: string, act: () => Promise<unknown>];

/** At least one fault for each alarm, and each fault of the runbook. */
const faults: readonly Case[] = [
  [
    'ServerErrors',
    'ten requests fail, half an hour apart, among many that need no key',
    () =>
      twice(30 * minute, async () => {
        await failingRequests(5);
        await withoutKey(200);
      }),
  ],
  ['ServerErrors', 'ten requests more than the account may run', () => throttledRequests(10)],
  ['ServerErrors', 'DynamoDB throttles every attempt', () => failingRequests(10, exceeded)],
  ['ServerErrors', 'ten subscriptions conflict at every attempt', conflictingSubscriptions],
  [
    'SendErrors',
    'three sends fail, among a request a second without a key',
    async () => {
      await failingSends(3);
      await withoutKey(300);
    },
  ],
  [
    'SendErrors',
    'the only two sends fail, half an hour apart',
    () => twice(30 * minute, () => failingSends(1)),
  ],
  ['SendErrors', 'send dies during its only two pushes', () => twice(30 * minute, sendDies)],
  [
    'DailySendErrors',
    'the only two sends of a day fail, and are not repeated, among requests without a key',
    () =>
      twice(8 * hour, async () => {
        await failingSends(1);
        await withoutKey(50);
      }),
  ],
  [
    'FailedPushes',
    'a push service is down for a small site, while another project has only old subscriptions',
    async () => {
      await sendToMany(10, { status: 503 });
      project = await newProject();
      await sendToMany(300, keyMismatch);
    },
  ],
  [
    'RefusedPushes',
    'a pair is wrong: a hundred pushes are refused',
    () => sendToMany(100, refusal),
  ],
  ['FloodOfRequests', 'events use up their throttle', () => traffic({ events: 5000 }, 20)],
  [
    'FloodOfRequests',
    'all routes use up their throttles',
    () => traffic({ events: 5000, subscriptions: 500, others: 3850 }, 20),
  ],
  [
    'FloodOfSubscriptions',
    'registrations use up their throttle',
    () => traffic({ subscriptions: 500 }, 20),
  ],
  [
    'DroppedInvocations',
    'deliver fails three times',
    async () => {
      hook = ({ caller }) => (caller.startsWith('Deliver') ? failing : undefined);
      const { status } = await sendAsync();
      expect(status).toBe(202);
      const dropped = alarmOf('DroppedInvocations').metrics;
      await until('Lambda drops the invocation', () =>
        dropped.every((metric) => metrics.has(metric)),
      );
    },
  ],
  ['VapidRefusals', 'the ten pushes of a small site are refused', () => sendToMany(10, refusal)],
  ['UnreachedSubscribers', 'the time is over before all were pushed to', sendToStalled],
  [
    'InterruptedPushes',
    'deliver dies during a push, after 14 minutes',
    () => deliverDies(14 * minute),
  ],
  ['ResultsNotStored', 'every write of counts fails', () => failingWritesOfCounts(() => true)],
  [
    'AccountConcurrency',
    'as many requests as the account may run',
    async () => (await holdRequests(accountConcurrency))(),
  ],
  [
    'UnconfirmedRemovals',
    'a push service says that all of its subscribers are gone',
    () => sendToMany(50, { gone: true }),
  ],
  [
    'SubscribersRefused',
    'a project with as many subscribers as its cap refuses one',
    async () => {
      const capped = await service.createProject({ subscriberCap: 1 });
      await service.subscribe(capped);
      await expect(service.subscribe(capped)).rejects.toThrow('403');
    },
  ],
  [
    'SendsRefused',
    'a project that has sent as often as its cap allows sends again',
    async () => {
      const capped = await service.createProject({ monthlySendCap: 1 });
      for (let sent = 0; sent < 2; sent += 1) await service.send(capped, { title: 'T' });
    },
  ],
  [
    'CountsDisagree',
    'a stored count is wrong when its notification is read',
    async () => readNotification(await sentWithCount('attempted', 3)),
  ],
  [
    'CountsDisagree',
    'a stored count is wrong when notifications are listed',
    async () => {
      await sentWithCount('removed', 1);
      await listNotifications();
    },
  ],
  [
    'CountsDisagree',
    'a send is repeated whose stored counts are wrong',
    async () => {
      const headers = { 'idempotency-key': randomUUID() };
      await sentWithCount('delivered', 2, headers);
      await service.send(project, { title: 'T' }, headers);
    },
  ],
  [
    'CountsDisagree',
    'a project has fewer than no subscribers when it is read',
    async () => {
      await setSubscribers(-2);
      await readProject();
    },
  ],
  [
    'CountsDisagree',
    'a project has fewer than no subscribers when it sends',
    async () => {
      await setSubscribers(-2);
      await service.send(project, { title: 'T' });
    },
  ],
];

/** For each alarm something that looks like its fault and is harmless. */
const harmless: readonly Case[] = [
  ['ServerErrors', 'nine requests fail', () => failingRequests(9)],
  ['ServerErrors', 'nine requests more than the account may run', () => throttledRequests(9)],
  [
    'ServerErrors',
    'DynamoDB throttles calls twice',
    async () => {
      let calls = 0;
      hook = () => (++calls <= 2 ? exceeded : undefined);
      await times(10, unsubscribe);
    },
  ],
  [
    'SendErrors',
    'two of five sends fail',
    async () => {
      await failingSends(2);
      await times(3, () => service.send(project, { title: 'T' }));
    },
  ],
  [
    'DailySendErrors',
    'two of the five sends of a day fail',
    async () => {
      await times(3, () => service.send(project, { title: 'T' }));
      await twice(8 * hour, () => failingSends(1));
    },
  ],
  ['FailedPushes', 'nine pushes fail', () => sendToMany(9, { status: 503 })],
  [
    'FailedPushes',
    'all subscriptions of a project were made with another key',
    () => sendToMany(60, keyMismatch),
  ],
  ['FailedPushes', 'invented endpoints are refused beside two browsers', junkBesideBrowsers],
  ['RefusedPushes', 'invented endpoints are refused beside two browsers', junkBesideBrowsers],
  [
    'FloodOfRequests',
    'every push of a broadcast to a million is shown within ten minutes, after half of the events were refused',
    () => traffic({ events: 2 * (1_000_000 / 600) }, 10),
  ],
  [
    'FloodOfSubscriptions',
    '80,000 visitors subscribe within 15 minutes, each with a preflight',
    () => traffic({ subscriptions: (2 * 80_000) / 900 }, 15),
  ],
  ['DroppedInvocations', 'deliver fails twice', () => deliverFails(2)],
  ['VapidRefusals', 'nine pushes are refused', () => sendToMany(9, refusal)],
  ['VapidRefusals', 'invented endpoints are refused beside two browsers', junkBesideBrowsers],
  ['UnreachedSubscribers', 'a subscriber is gone', () => sendToMany(1, { gone: true })],
  ['UnconfirmedRemovals', 'a few subscribers are gone', () => sendToMany(49, { gone: true })],
  [
    'InterruptedPushes',
    'deliver fails before its first push, and is repeated',
    () => deliverFails(1),
  ],
  [
    'ResultsNotStored',
    'a write of counts fails once',
    () => failingWritesOfCounts((number) => number === 1),
  ],
  [
    'AccountConcurrency',
    'three quarters of the requests that the account may run',
    async () => (await holdRequests((accountConcurrency * 3) / 4))(),
  ],
  [
    'SubscribersRefused',
    'the last subscriber below the cap is updated, and a wrong signature refused',
    async () => {
      const capped = await service.createProject({ subscriberCap: 1 });
      const browser = await service.subscribe(capped);
      for (const signed of [{}, { userId: 'ada', userIdSignature: 'wrong' }]) {
        const body = { ...browser.toJSON(), ...signed };
        await service.call(routes.subscribe, { parameters: { ...capped }, body });
      }
    },
  ],
  [
    'SendsRefused',
    'the last send below the cap is repeated, and wrong ones are refused',
    async () => {
      const capped = await service.createProject({ monthlySendCap: 1 });
      const headers = { 'idempotency-key': randomUUID() };
      for (const title of ['T', 'T', 'Other']) await service.send(capped, { title }, headers);
      await service.send({ ...capped, secretKey: project.secretKey }, { title: 'T' });
    },
  ],
  [
    'CountsDisagree',
    'intact counts are sent, read, listed and repeated',
    async () => {
      const headers = { 'idempotency-key': randomUUID() };
      await subscribeMany(1, { status: 400 });
      await subscribeMany(1, { gone: true });
      const { body } = await service.send(project, { title: 'T' }, headers);
      await service.send(project, { title: 'T' }, headers);
      await readNotification(body.id);
      await listNotifications();
      await readProject();
    },
  ],
];

async function twice(apartMs: number, act: () => Promise<unknown>): Promise<void> {
  await act();
  metrics.skip(apartMs);
  await act();
}

/** Requests that anybody can make, to each kind of route. */
async function withoutKey(number: number): Promise<void> {
  const { projectId } = project;
  const kinds = [
    unsubscribe,
    () => service.call(routes.send, { parameters: { projectId }, body: { title: 'T' } }),
    () => fetch(`${service.stack.baseUrl}/api/v1/projects/${projectId}`, { method: 'OPTIONS' }),
    () => fetch(`${service.stack.baseUrl}/console`),
  ];
  let made = 0;
  await times(number, () => kinds[made++ % kinds.length]!());
}

/** What anybody can subscribe: endpoints that a push service refuses, for whatever reason. */
async function junkBesideBrowsers(): Promise<void> {
  await subscribeMany(40, refusal);
  await subscribeMany(40, { status: 401 });
  await subscribeMany(40, { status: 400 });
  await sendToMany(2, {});
}

/** Requests per second, by what counts them: as CloudWatch has them, for some minutes. */
async function traffic(
  { events = 0, subscriptions = 0, others = 0 }: Partial<Record<string, number>>,
  minutes: number,
): Promise<void> {
  const [requests] = alarmOf('FloodOfRequests').metrics;
  const [registrations] = alarmOf('FloodOfSubscriptions').metrics;
  for (let passed = 0; passed < minutes; passed += 1) {
    metrics.record(requests!, metrics.now, 60 * (events + subscriptions + others));
    metrics.record(registrations!, metrics.now, 60 * subscriptions);
    metrics.skip(minute);
  }
}

async function failingRequests(number: number, fault = failing): Promise<void> {
  hook = () => fault;
  await times(number, unsubscribe);
  hook = undefined;
}

async function failingSends(number: number): Promise<void> {
  hook = (call) => (isOn('Usage', call) ? failing : undefined);
  await times(number, () => service.send(project, { title: 'T' }));
  hook = undefined;
}

/** Sends, while those writes of counts fail. */
async function failingWritesOfCounts(fails: (number: number) => boolean): Promise<void> {
  await service.subscribe(project);
  let writes = 0;
  hook = (call) =>
    call.operation === 'UpdateItem' && isOn('Deliveries', call) && fails(++writes)
      ? throttled
      : undefined;
  await service.send(project, { title: 'T' });
}

/** While others use all that the account may run. */
async function throttledRequests(number: number): Promise<void> {
  const release = await holdRequests(accountConcurrency);
  await times(number, unsubscribe);
  await release();
}

async function conflictingSubscriptions(): Promise<void> {
  hook = ({ operation, parameters }) => {
    if (operation !== 'TransactWriteItems') return undefined;
    const items = (parameters.TransactItems as object[]).map((item) => JSON.stringify(item));
    const isCounter = (item: string) => item.includes('"TableName":"Usage');
    return cancelledTransaction(
      items.map((item) => (isCounter(item) ? 'TransactionConflict' : 'None')),
    );
  };
  await times(10, () => service.subscribe(project).catch(() => {}));
}

const key = () => ({ authorization: `Bearer ${project.secretKey}` });

/** Sends to one subscriber, and stores another count. @returns the notification's id. */
async function sentWithCount(name: string, count: number, headers = {}): Promise<string> {
  await service.subscribe(project);
  const { body } = await service.send(project, { title: 'T' }, headers);
  await setStored('DELIVERIES_TABLE', { id: sliceId(body.id, 0) }, name, count);
  return body.id;
}

async function readNotification(notificationId: string) {
  const parameters = { ...project, notificationId };
  return service.call<{ status: string }>(routes.getNotification, { parameters, headers: key() });
}

function listNotifications() {
  const { projectId } = project;
  return service.call(routes.listNotifications, { parameters: { projectId }, headers: key() });
}

function readProject() {
  const { projectId } = project;
  return service.call(routes.getProject, { parameters: { projectId }, headers: key() });
}

async function setStored(
  table: 'DELIVERIES_TABLE' | 'USAGE_TABLE',
  itemKey: Record<string, unknown>,
  name: string,
  value: number,
): Promise<void> {
  await service.dynamo.send(
    new UpdateCommand({
      TableName: service.stack.dynamodb.tables[table],
      Key: itemKey,
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    }),
  );
}

/** Of a project that has none. */
async function setSubscribers(number: number): Promise<void> {
  const { ref: projectRef } = project;
  await setStored('USAGE_TABLE', { projectRef, period: 'subscribers#0' }, 'used', number);
}

/** Sends to a push service that does not respond. More subscribers than may be in flight to it. */
async function sendToStalled(): Promise<void> {
  project = await newProject();
  const release = await subscribeStalled(500);
  await service.send(project, { title: 'T' });
  release();
}

/** Stores subscribers to whom the push service does not respond. @returns lets it respond. */
async function subscribeStalled(number: number): Promise<() => void> {
  const { pushService, dynamodb } = service.stack;
  const browsers = Array.from({ length: number }, () => pushService.subscribe({ keys }));
  await storeSubscribers(service.dynamo, dynamodb.tables, project, browsers);
  for (const browser of browsers) browser.behave({ stall: true });
  return () => {
    for (const browser of browsers) browser.behave({});
  };
}

async function sendDies(): Promise<void> {
  await subscribeMany(1, { stall: true });
  const { requests } = service.stack.pushService.stats();
  const sending = service.send(project, { title: 'T' });
  await until('a push has begun', () => service.stack.pushService.stats().requests > requests);
  await pool('Send').kill();
  expect((await sending).status).toBe(500);
}

/** The deliver function dies during a push, after this time. Its repetition delivers the slice. */
async function deliverDies(afterMs: number): Promise<void> {
  await subscribeMany(1, { stall: true });
  const { requests } = service.stack.pushService.stats();
  const { body } = await sendAsync();
  await until('a push has begun', () => service.stack.pushService.stats().requests > requests);
  // The retry of Lambda comes when the time of the first attempt is over. Here it comes at once.
  await setStored('DELIVERIES_TABLE', { id: sliceId(body.id, 0) }, 'leasedUntil', 0);
  metrics.skip(afterMs);
  await pool('Deliver').kill();
  await untilSent(body.id);
}

/** The deliver function fails that often before its first push. */
async function deliverFails(number: number): Promise<void> {
  await service.subscribe(project);
  let calls = 0;
  hook = ({ caller }) => (caller.startsWith('Deliver') && ++calls <= number ? failing : undefined);
  const { body } = await sendAsync();
  await untilSent(body.id);
}

async function untilSent(id: string): Promise<void> {
  await until('the notification is sent', async () => {
    const { body } = await readNotification(id);
    return body.status === 'sent';
  });
}

/**
 * Starts requests whose calls to the database wait.
 * @returns lets them continue, and waits for their end.
 */
async function holdRequests(number: number): Promise<() => Promise<void>> {
  const held = new EventEmitter().setMaxListeners(0);
  let running = 0;
  hook = async () => {
    running += 1;
    await once(held, 'release');
    return undefined;
  };
  const requests = [...Array(number / 2)].flatMap(() => [unsubscribe(), track()]);
  await until('all requests are running', () => running >= number);
  return async () => {
    hook = undefined;
    held.emit('release');
    await Promise.all(requests);
  };
}

test('no alarm fires while nothing is wrong', async () => {
  const browser = await service.subscribe(project, 'ada');
  await service.send(project, { title: 'T' });
  await browser.show();
  await service.send(project, { title: 'T', userIds: ['ada'] });
  await sendAsync();
  await unsubscribe();
  await until('deliver has pushed', () => browser.messages.length === 3);
  metrics.skip(hour);
  const fired = alarms.filter((alarm) => alarm.hasFired(metrics));
  expect(fired.map(({ id }) => id)).toEqual([]);
});

test.each([
  ['a fault', faults],
  ['a harmless case', harmless],
])('there is %s for each alarm', (_, cases) => {
  const ids = new Set(cases.map(([alarm]) => alarm));
  expect([...ids].sort()).toEqual(alarms.map(({ id }) => id).sort());
});

describe('every alarm fires on its fault, by metrics that are stamped and delayed as on AWS', () => {
  test.each(faults)('%s: %s', async (id, _, act) => {
    const alarm = alarmOf(id);
    await act();
    hook = undefined;
    metrics.skip(5 * minute);
    expect(alarm.hasFired(metrics)).toBe(true);
    expect(alarm.metrics.filter((metric) => !metrics.has(metric))).toEqual([]);
    metrics.skip(alarm.periodMs);
    expect(alarm.isFiring(metrics)).toBe(false);
  });
});

test('a flood at the throttles fires within 20 minutes', async () => {
  for (const [id, flood] of [
    ['FloodOfRequests', { events: 5000 }],
    ['FloodOfSubscriptions', { subscriptions: 500 }],
  ] as const) {
    metrics.clear();
    let minutes = 0;
    for (; !alarmOf(id).hasFired(metrics); minutes += 1) await traffic(flood, 1);
    expect(minutes).toBeLessThan(20);
  }
});

describe('no alarm fires on what looks like its fault and is harmless', () => {
  test.each(harmless)('%s: %s', async (id, _, act) => {
    await act();
    hook = undefined;
    const alarm = alarmOf(id);
    metrics.skip(5 * minute + alarm.periodMs);
    expect(alarm.hasFired(metrics)).toBe(false);
  });
});
