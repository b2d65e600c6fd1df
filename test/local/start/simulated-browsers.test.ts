import type { ConsolePages } from '../../../console/console-pages.ts';
import { simulatedBrowsersPath } from '../../../console/settings.ts';
import type { SimulatedBrowser } from '../../../local/push-service/simulated-browser.ts';
import { simulatedBrowsers } from '../../../local/start/simulated-browsers.ts';
import { type Service, startService } from '../../fixtures/service.ts';

let control: ConsolePages | undefined;
let service: Service;

beforeAll(async () => {
  service = await startService({ pages: async (request) => control?.(request) });
  control = simulatedBrowsers(service.stack.baseUrl, service.stack.pushService, service.proxy);
});
afterAll(() => service.stop());

async function call(
  method: string,
  query: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const search = new URLSearchParams(query);
  const url = `${service.stack.baseUrl}${simulatedBrowsersPath}?${search}`;
  const response = await fetch(url, { method, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const received = async (notificationId: string) =>
  (await call('GET', { notificationId })).body.received;

test('the whole job: browsers subscribe, get two broadcasts, and all counts agree', async () => {
  const project = await service.createProject();
  const { projectId, applicationServerKey } = project;
  const { pushService } = service.stack;
  const responses = () => ({ 201: 0, 410: 0, 403: 0, 500: 0, ...pushService.stats().responses });
  // More than the rate limit allows one address.
  expect(await call('POST', { projectId, applicationServerKey, count: '80' })).toEqual({
    status: 200,
    body: { added: 80 },
  });
  expect(await service.usage(projectId)).toMatchObject({ subscribers: 80 });

  const first = await service.send(project, { title: 'T' });
  expect(first.body).toMatchObject({ attempted: 80, delivered: 80, removed: 0, failed: 0 });
  expect(await received(first.body.id)).toBe(80);
  expect(responses()).toMatchObject({ 201: 80 });

  const [gone, refused, failing] = [...pushService.channels.all()] as SimulatedBrowser[];
  gone!.unsubscribe();
  refused!.behave({ status: 403 });
  failing!.behave({ status: 500, times: 1 });
  const second = await service.send(project, { title: 'T' });
  expect(second.body).toMatchObject({ attempted: 80, delivered: 78, removed: 1, failed: 1 });
  expect(await received(second.body.id)).toBe(78);
  expect(responses()).toMatchObject({ 201: 158, 410: 1, 403: 1, 500: 1 });
  expect(await service.usage(projectId)).toMatchObject({ subscribers: 79, sends: 2 });
});

test('a notification that was sent to some is received by these only', async () => {
  const project = await service.createProject();
  const { projectId, applicationServerKey } = project;
  await call('POST', { projectId, applicationServerKey, count: '3' });
  await service.subscribe(project, 'ada');
  const { body } = await service.send(project, { title: 'T', userIds: ['ada'] });
  expect(await received(body.id)).toBe(1);
});

test.each<[method: string, query: Record<string, string>, message: string]>([
  ['POST', { projectId: 'p', applicationServerKey: 'no key', count: '1' }, 'applicationServerKey'],
  ['POST', { projectId: 'p', applicationServerKey: 'x', count: '0' }, 'count'],
  ['POST', { projectId: 'p', applicationServerKey: 'x', count: '101' }, 'count'],
  ['POST', { projectId: '../p', applicationServerKey: 'x', count: '1' }, 'projectId'],
  ['GET', { notificationId: 'x' }, 'notificationId'],
])('%s %j is refused with the reason', async (method, query, message) => {
  const before = service.stack.pushService.stats();
  const { status, body } = await call(method, query);
  expect(status).toBe(400);
  expect(body.message).toContain(message);
  expect(service.stack.pushService.stats()).toEqual(before);
});

test('a page of another origin adds no browser', async () => {
  const { projectId, applicationServerKey } = await service.createProject();
  const query = { projectId, applicationServerKey, count: '1' };
  const { status } = await call('POST', query, { origin: 'https://evil.example' });
  expect(status).toBe(403);
  expect(await service.usage(projectId)).toMatchObject({ subscribers: 0 });
});
