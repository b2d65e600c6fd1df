import { randomUUID } from 'node:crypto';
import { databaseCalls } from '../../bench/costs/database-calls.ts';
import { type Route, routes } from '../../contract/routes.ts';
import { endpointHash, partOf } from '../../lambdas/store/subscription-keys.ts';
import type { DynamoDbCall } from '../../local/dynamodb/proxy.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
const calls: string[] = [];

beforeAll(async () => {
  // One environment per function, so that all requests share its cache of projects.
  service = await startService({
    concurrency: 1,
    onDynamoDbCall: (call) => {
      calls.push(textOf(call));
    },
  });
  project = await service.createProject();
  for (const route of Object.values(routes)) await warmCache(route);
});
afterAll(() => service.stop());

/** A call's operation, and the tables of its items. */
function textOf({ operation, parameters }: DynamoDbCall): string {
  const {
    TableName,
    IndexName,
    TransactItems = [],
    RequestItems = {},
  } = parameters as {
    readonly TableName?: string;
    readonly IndexName?: string;
    readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
    readonly RequestItems?: object;
  };
  const tables = [
    ...(TableName === undefined ? [] : [TableName]),
    ...TransactItems.flatMap((item) => Object.values(item).map((write) => write.TableName)),
    ...Object.keys(RequestItems),
  ];
  // The template's name of a table ends with CDK's hash.
  const names = tables.map((table) => table.replace(/Table[0-9A-F]{8}$/, ''));
  return [operation, ...names].join(' ') + (IndexName === undefined ? '' : `/${IndexName}`);
}

/** Makes a function read the project, which it caches for 30 s. */
async function warmCache({ name, method }: Route) {
  await service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId: 'none' },
    headers: authorized(),
    body: method === 'POST' ? {} : undefined,
  });
}

/** With an `Idempotency-Key`, as every documented send. */
const send = (owner: ProjectCredentials, body: object) =>
  service.send(owner, body, { 'idempotency-key': randomUUID() });

const authorized = () => ({ authorization: `Bearer ${project.secretKey}` });

async function callsOf(request: () => Promise<unknown>): Promise<string[]> {
  calls.length = 0;
  await request();
  return [...calls];
}

test('a new subscription takes three calls, an update two', async () => {
  const browser = service.stack.pushService.subscribe();
  const subscribe = () =>
    service.call(routes.subscribe, { parameters: { ...project }, body: browser.toJSON() });
  expect(await callsOf(subscribe)).toEqual(databaseCalls.newSubscription);
  expect(await callsOf(subscribe)).toEqual(databaseCalls.updatedSubscription);
});

test('a subscription beyond the cap takes two calls more', async () => {
  const owner = await service.createProject({ subscriberCap: 0 });
  const body = service.stack.pushService.subscribe().toJSON();
  const subscribe = () => service.call(routes.subscribe, { parameters: { ...owner }, body });
  // Fills the cache.
  await subscribe();
  expect(await callsOf(subscribe)).toEqual(databaseCalls.refusedSubscription);
});

test('a subscription with an unknown key takes two calls', async () => {
  const { applicationServerKey } = await service.createProject();
  const body = { ...service.stack.pushService.subscribe().toJSON(), applicationServerKey };
  const subscribe = () => service.call(routes.subscribe, { parameters: { ...project }, body });
  expect(await callsOf(subscribe)).toEqual(databaseCalls.unknownServerKey);
});

test('a subscription with a known key takes no more calls than without', async () => {
  const { applicationServerKey } = project;
  const body = { ...service.stack.pushService.subscribe().toJSON(), applicationServerKey };
  const subscribe = () => service.call(routes.subscribe, { parameters: { ...project }, body });
  expect(await callsOf(subscribe)).toEqual(databaseCalls.newSubscription);
});

test('a wrong key pair takes one more call in the first send only', async () => {
  const owner = await service.createProject();
  await service.registry.rotateVapid(owner.projectId);
  // With the previous key, which the request does not name.
  await service.subscribe(owner);
  const sendTo = () => send(owner, { title: 'T' });
  const { beginBroadcast, deliverBroadcast, correctedPair } = databaseCalls;
  const plain = [...beginBroadcast, ...deliverBroadcast(0)];
  expect(await callsOf(sendTo)).toEqual([
    ...[...databaseCalls.uncachedProject, ...plain.slice(0, -1)],
    ...[...correctedPair, plain.at(-1)],
  ]);
  expect(await callsOf(sendTo)).toEqual(plain);
});

test('an unsubscribe takes two calls', async () => {
  const browser = await service.subscribe(project);
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  const unsubscribe = () => service.call(routes.unsubscribe, { parameters: { ...project }, query });
  expect(await callsOf(unsubscribe)).toEqual(databaseCalls.unsubscribe);
});

test('a beacon takes two calls', async () => {
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { ...project, notificationId: body.id };
  const track = () => service.call(routes.track, { parameters, body: { type: 'shown' } });
  expect(await callsOf(track)).toEqual(databaseCalls.event);
});

test('a broadcast takes 13 calls, and one more per 50 gone subscriptions of a part', async () => {
  const owner = await service.createProject();
  await service.send(owner, { title: 'Fills the cache' });
  const browsers: SimulatedBrowser[] = [];
  // Together fewer than the rate limit.
  for (const [part, count] of [
    [2, 5],
    [5, 53],
  ] as const) {
    const added = Array.from({ length: count }, () => inPart(owner, part));
    browsers.push(...(await Promise.all(added)));
  }
  for (const browser of browsers) browser.unsubscribe();
  const made = await callsOf(() => send(owner, { title: 'T' }));
  const { beginBroadcast, deliverBroadcast } = databaseCalls;
  expect(made.toSorted()).toEqual(
    [...beginBroadcast, ...deliverBroadcast(0), ...[5, 50, 3].map(removal)].toSorted(),
  );
});

function removal(subscriptions: number): string {
  return `TransactWriteItems ${'Subscriptions '.repeat(subscriptions)}Usage`;
}

/** Subscribes a browser whose endpoint is of this part of its project. */
function inPart(owner: ProjectCredentials, part: number): Promise<SimulatedBrowser> {
  for (;;) {
    const browser = service.stack.pushService.subscribe(owner);
    if (partOf(endpointHash(browser.endpoint)) === part) return subscribe(owner, browser);
    browser.unsubscribe();
  }
}

async function subscribe(owner: ProjectCredentials, browser: SimulatedBrowser) {
  const { status } = await service.call(routes.subscribe, {
    parameters: { ...owner },
    body: browser.toJSON(),
  });
  expect(status).toBe(201);
  return browser;
}

test('a send to user ids takes four calls and one per user id', async () => {
  const request = () => send(project, { title: 'T', userIds: ['ada', 'bob'] });
  expect(await callsOf(request)).toEqual(databaseCalls.targetedSend(2));
});

test('reading a notification takes three calls', async () => {
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { ...project, notificationId: body.id };
  const request = { parameters, headers: authorized() };
  const read = () => service.call(routes.getNotification, request);
  expect(await callsOf(read)).toEqual(databaseCalls.readNotification);
});

test('reading a project takes two calls', async () => {
  const request = { parameters: { ...project }, headers: authorized() };
  const read = () => service.call(routes.getProject, request);
  expect(await callsOf(read)).toEqual(databaseCalls.readProject);
});

test('a page of notifications takes three calls', async () => {
  for (const title of ['A', 'B', 'C']) await service.send(project, { title });
  const request = { parameters: { ...project }, headers: authorized(), query: '?limit=2' };
  const list = () => service.call(routes.listNotifications, request);
  expect(await callsOf(list)).toEqual(databaseCalls.listNotifications);
});

test('counting the subscriptions of a user takes two calls', async () => {
  const request = { parameters: { ...project }, headers: authorized(), query: '?userId=eve' };
  const read = () => service.call(routes.getUser, request);
  expect(await callsOf(read)).toEqual(databaseCalls.readUser);
});

test('removing a user with one subscription takes three calls, an unknown user two', async () => {
  await service.subscribe(project, 'eve');
  const request = { parameters: { ...project }, headers: authorized(), query: '?userId=eve' };
  const remove = () => service.call(routes.removeUser, request);
  expect(await callsOf(remove)).toEqual(databaseCalls.removeUser);
  expect(await callsOf(remove)).toEqual(databaseCalls.removeUser.slice(0, 2));
});

test('a project that is not cached takes one more call', async () => {
  const uncached = await service.createProject();
  const request = () => send(uncached, { title: 'T' });
  expect((await callsOf(request))[0]).toBe(databaseCalls.uncachedProject[0]);
  expect((await callsOf(request))[0]).toBe(databaseCalls.beginBroadcast[0]);
});

test('an invalid request takes only the call of the rate limit', async () => {
  const body = { type: 'closed' };
  const track = () =>
    service.call(routes.track, { parameters: { ...project, notificationId: 'x' }, body });
  expect(await callsOf(track)).toEqual(databaseCalls.invalidRequest);
});
