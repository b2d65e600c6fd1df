import { json } from 'node:stream/consumers';
import type { Pages } from 'aws-emulator/gateway';
import { localPaths } from '../../console/local-stack.ts';
import { pushMessage } from '../../contract/wire/message.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';
import { startPushService } from '../../local/push-service/push-service.ts';
import { simulatedBrowsers } from '../../local/simulated-browsers.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { push } from './push-service/sender.ts';

let control: ReturnType<typeof simulatedBrowsers> | undefined;
let service: Service;

beforeAll(async () => {
  const pages: Pages = async (request) => control?.respond(request);
  service = await startService({ pages });
  const { baseUrl, pushService } = service.stack;
  // Each browser shows and clicks, without a pause.
  control = simulatedBrowsers({ baseUrl, pushService, proxy: service.proxy, random: () => 0 });
});
afterAll(async () => {
  control?.stop();
  await service.stop();
});

type Project = Awaited<ReturnType<Service['createProject']>>;

async function events({ projectId, secretKey }: Project, notificationId: string) {
  const { body } = await service.call<NotificationResult>(routes.getNotification, {
    parameters: { projectId, notificationId },
    headers: { authorization: `Bearer ${secretKey}` },
  });
  return { shown: body.shown, clicked: body.clicked };
}

async function add(query: Record<string, string>, method = 'POST') {
  const search = new URLSearchParams(query);
  const url = `${service.stack.baseUrl}${localPaths.simulatedBrowsers}?${search}`;
  const response = await fetch(url, { method });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('simulated browsers subscribe, and show and click what is sent, above the limit of one address', async () => {
  const project = await service.createProject();
  const { projectId, applicationServerKey } = project;
  expect(await add({ projectId, applicationServerKey, count: '80' })).toEqual({
    status: 200,
    body: { added: 80 },
  });
  expect(await service.usage(projectId)).toMatchObject({ subscribers: 80 });
  // Two at once: each is shown, not the later one twice.
  const sends = await Promise.all(['One', 'Two'].map((title) => service.send(project, { title })));
  for (const { body } of sends) {
    expect(body).toMatchObject({ attempted: 80, delivered: 80 });
    await until('the events', async () => {
      const { shown, clicked } = await events(project, body.id);
      return shown === 80 && clicked === 80;
    });
  }
});

test('a browser of somebody else shows nothing by itself', async () => {
  const project = await service.createProject();
  const { projectId, applicationServerKey } = project;
  await service.subscribe(project, 'ada');
  await add({ projectId, applicationServerKey, count: '1' });
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ delivered: 2 });
  await until('the event', async () => {
    return (await events(project, body.id)).clicked === 1;
  });
  expect(await events(project, body.id)).toMatchObject({ shown: 1 });
});

test('a browser outside the sample of a broadcast reports its clicks only', async () => {
  const beacons: unknown[] = [];
  const server = await startHttpServer(async (request, response) => {
    beacons.push(await json(request));
    response.end();
  });
  const pushService = await startPushService();
  const browser = pushService.subscribe();
  const options = { baseUrl: server.origin, pushService, proxy: service.proxy };
  const { stop } = simulatedBrowsers({ ...options, random: () => 0 });
  try {
    const message = pushMessage('id', { title: 'T' }, `${server.origin}/events`, 0, false);
    await push(browser, JSON.stringify(message));
    await until('the click', () => beacons.length > 0);
    expect(beacons).toEqual([{ type: 'clicked' }]);
  } finally {
    stop();
    await pushService.stop();
    await server.stop();
  }
});

test('the refusal of the service is returned, after those that it took', async () => {
  const { projectId, applicationServerKey } = await service.createProject({ subscriberCap: 3 });
  const { status, body } = await add({ projectId, applicationServerKey, count: '5' });
  expect(status).toBe(403);
  expect(body).toMatchObject({ error: { code: 'subscriber_cap_reached' } });
  expect(await service.usage(projectId)).toMatchObject({ subscribers: 3 });
});

const valid = { projectId: 'p', applicationServerKey: 'x', count: '1' };

test.each<[query: Record<string, string>, method: string, status: number, message: string]>([
  [{ ...valid, applicationServerKey: 'no key' }, 'POST', 400, 'applicationServerKey'],
  [{ ...valid, count: '0' }, 'POST', 400, 'count'],
  [{ ...valid, count: '101' }, 'POST', 400, 'count'],
  [{ ...valid, projectId: '../p' }, 'POST', 400, 'projectId'],
  [valid, 'GET', 405, 'POST'],
])('%j by %s is refused with the reason', async (query, method, refused, message) => {
  const before = service.stack.pushService.stats();
  const { status, body } = await add(query, method);
  expect(status).toBe(refused);
  expect(body.message).toContain(message);
  expect(service.stack.pushService.stats()).toEqual(before);
});
