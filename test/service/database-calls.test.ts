import { type RouteName, routes } from '../../contract/routes.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
const calls: string[] = [];

beforeAll(async () => {
  // One instance of each function, so that all requests meet the same memory of projects.
  service = await startService({
    concurrency: 1,
    onDynamoDbCall: ({ operation }) => {
      calls.push(operation);
    },
  });
  project = await service.createProject();
  for (const route of Object.values(routes)) await warm(route.name);
});
afterAll(() => service.stop());

/** Has a function read the project, which it then remembers for 30 seconds. */
async function warm(name: RouteName) {
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

test('unsubscribing takes two calls', async () => {
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

test('a send takes three calls, one for each page and one for 50 that are gone', async () => {
  const owner = await service.createProject();
  await service.send(owner, { title: 'warm' });
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

test('a function that has to read the project first takes one call more', async () => {
  const unread = await service.createProject();
  const request = () => service.send(unread, { title: 'T' });
  expect((await callsOf(request))[0]).toBe('TransactGetItems');
  expect((await callsOf(request))[0]).toBe('UpdateItem');
});

test('a refused request takes no call beyond what refused it', async () => {
  const body = { type: 'closed' };
  const track = () =>
    service.call(routes.track, { parameters: { ...project, notificationId: 'x' }, body });
  expect(await callsOf(track)).toEqual(['UpdateItem']);
});
