import { type RouteName, routes } from '../../contract/routes.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
const calls: string[] = [];

beforeAll(async () => {
  // One environment per function, so that all requests share its cache of projects.
  service = await startService({
    concurrency: 1,
    onDynamoDbCall: ({ operation }) => {
      calls.push(operation);
    },
  });
  project = await service.createProject();
  for (const route of Object.values(routes)) await warmCache(route.name);
});
afterAll(() => service.stop());

/** Makes a function read the project, which it caches for 30 s. */
async function warmCache(name: RouteName) {
  const headers = { authorization: `Bearer ${project.secretKey}` };
  await service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId: 'none' },
    headers,
    body: name === 'unsubscribe' ? undefined : {},
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
  expect(await callsOf(subscribe)).toEqual(['UpdateItem', 'UpdateItem', 'TransactWriteItems']);
  expect(await callsOf(subscribe)).toEqual(['UpdateItem', 'UpdateItem']);
});

test('an unsubscribe takes two calls', async () => {
  const browser = await service.subscribe(project);
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  const unsubscribe = () => service.call(routes.unsubscribe, { parameters: { ...project }, query });
  expect(await callsOf(unsubscribe)).toEqual(['UpdateItem', 'TransactWriteItems']);
});

test('a beacon takes two calls', async () => {
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { ...project, notificationId: body.id };
  const track = () => service.call(routes.track, { parameters, body: { type: 'shown' } });
  expect(await callsOf(track)).toEqual(['UpdateItem', 'UpdateItem']);
});

test('a send takes three calls, one per page and one per 50 gone subscriptions', async () => {
  const owner = await service.createProject();
  await service.send(owner, { title: 'Fills the cache' });
  const browsers = await Promise.all(Array.from({ length: 60 }, () => service.subscribe(owner)));
  for (const browser of browsers) browser.unsubscribe();
  expect(await callsOf(() => service.send(owner, { title: 'T' }))).toEqual([
    'UpdateItem',
    'TransactWriteItems',
    'Query',
    'TransactWriteItems',
    'TransactWriteItems',
    'UpdateItem',
  ]);
});

test('a project that is not cached takes one more call', async () => {
  const uncached = await service.createProject();
  const request = () => service.send(uncached, { title: 'T' });
  expect((await callsOf(request))[0]).toBe('TransactGetItems');
  expect((await callsOf(request))[0]).toBe('UpdateItem');
});

test('an invalid request takes only the call of the rate limit', async () => {
  const body = { type: 'closed' };
  const track = () =>
    service.call(routes.track, { parameters: { ...project, notificationId: 'x' }, body });
  expect(await callsOf(track)).toEqual(['UpdateItem']);
});
