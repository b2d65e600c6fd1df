import { databaseCalls } from '../../bench/costs/database-calls.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import type { DynamoDbCall } from '../../local/dynamodb/proxy.ts';
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
  for (const route of Object.values(routes)) await warmCache(route.name);
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
async function warmCache(name: RouteName) {
  const headers = { authorization: `Bearer ${project.secretKey}` };
  await service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId: 'none' },
    headers,
    body: name === 'unsubscribe' || name === 'getNotification' ? undefined : {},
  });
}

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

test('a broadcast takes 13 calls, and one more per 50 gone subscriptions', async () => {
  const owner = await service.createProject();
  await service.send(owner, { title: 'Fills the cache' });
  const browsers = await Promise.all(Array.from({ length: 60 }, () => service.subscribe(owner)));
  for (const browser of browsers) browser.unsubscribe();
  expect(await callsOf(() => service.send(owner, { title: 'T' }))).toEqual([
    ...databaseCalls.beginBroadcast,
    ...databaseCalls.deliverBroadcast(60),
  ]);
});

test('a send to user ids takes four calls and one per user id', async () => {
  const request = () => service.send(project, { title: 'T', userIds: ['ada', 'bob'] });
  expect(await callsOf(request)).toEqual(databaseCalls.targetedSend(2));
});

test('reading a notification takes three calls', async () => {
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { ...project, notificationId: body.id };
  const headers = { authorization: `Bearer ${project.secretKey}` };
  const read = () => service.call(routes.getNotification, { parameters, headers });
  expect(await callsOf(read)).toEqual(databaseCalls.readNotification);
});

test('a project that is not cached takes one more call', async () => {
  const uncached = await service.createProject();
  const request = () => service.send(uncached, { title: 'T' });
  expect((await callsOf(request))[0]).toBe(databaseCalls.uncachedProject[0]);
  expect((await callsOf(request))[0]).toBe(databaseCalls.beginBroadcast[0]);
});

test('an invalid request takes only the call of the rate limit', async () => {
  const body = { type: 'closed' };
  const track = () =>
    service.call(routes.track, { parameters: { ...project, notificationId: 'x' }, body });
  expect(await callsOf(track)).toEqual(databaseCalls.invalidRequest);
});
