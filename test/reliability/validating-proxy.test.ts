import { pathOf, type Route, routes } from '../../contract/routes.ts';
import type { AcceptedSend, NotificationResult } from '../../contract/schemas/notification.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { runTour } from '../fixtures/tour.ts';
import { until } from '../fixtures/until.ts';
import { startValidatingProxy, type ValidatingProxy } from './fixtures/validating-proxy.ts';

const subscribers = 20;

test('an independent proxy finds no difference between openapi.json and the traffic of the tour and of an asynchronous send', async () => {
  const service = await startService({ throttled: false });
  try {
    const proxy = await startValidatingProxy(service.stack.baseUrl);
    try {
      await runTour(service, proxy.baseUrl);
      await sendAsync(service, proxy);
      await callBrowserRoutes(service, proxy);
    } finally {
      const { run, problems } = await proxy.stop();
      expect(problems).toEqual([]);
      expect(run.undocumentedExchanges).toBe(0);
      expect(run.totalExchanges).toBeGreaterThan(subscribers);
    }
  } finally {
    await service.stop();
  }
});

const json = { 'content-type': 'application/json' };

/** Browsers subscribe, and the owner does not wait for the delivery. The tour waits. */
async function sendAsync({ createProject, stack }: Service, { baseUrl }: ValidatingProxy) {
  const { projectId, applicationServerKey, secretKey } = await createProject({
    rateLimitPerMinute: null,
  });
  const owner = { authorization: `Bearer ${secretKey}` };
  for (let count = 0; count < subscribers; count++) {
    const body = JSON.stringify(stack.pushService.subscribe({ applicationServerKey }));
    const url = baseUrl + pathOf(routes.subscribe, { projectId });
    expect((await fetch(url, { method: 'POST', headers: json, body })).status).toBe(201);
  }
  const sent = await fetch(baseUrl + pathOf(routes.send, { projectId }), {
    method: 'POST',
    headers: { ...json, ...owner, prefer: 'respond-async' },
    body: JSON.stringify({ title: 'T' }),
  });
  const { id: notificationId } = (await sent.json()) as AcceptedSend;
  const url = baseUrl + pathOf(routes.getNotification, { projectId, notificationId });
  await until('the delivery', async () => {
    const read = (await (await fetch(url, { headers: owner })).json()) as NotificationResult;
    return read.status === 'sent' && read.delivered === subscribers;
  });
}

/** Both pass the proxy by elsewhere: the events URL names the service itself. */
async function callBrowserRoutes(service: Service, { baseUrl }: ValidatingProxy): Promise<void> {
  const project = await service.createProject();
  const { endpoint } = await service.subscribe(project);
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { projectId: project.projectId, notificationId: body.id };
  const call = (route: Route, query: string, init: RequestInit) =>
    fetch(baseUrl + pathOf(route, parameters) + query, { method: route.method, ...init });
  const tracked = await call(routes.track, '', {
    headers: json,
    body: JSON.stringify({ type: 'shown' }),
  });
  const unsubscribed = await call(
    routes.unsubscribe,
    `?endpoint=${encodeURIComponent(endpoint)}`,
    {},
  );
  expect([tracked.status, unsubscribed.status]).toEqual([200, 200]);
}
