import { pathOf, type Route, routes } from '../../contract/routes.ts';
import { runScenario } from '../../local/demo/scenario.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { runTour } from '../fixtures/tour.ts';
import { startValidatingProxy, type ValidatingProxy } from './fixtures/validating-proxy.ts';

const subscribers = 20;

test('an independent proxy finds no difference between openapi.json and the traffic of the tour and the demo', async () => {
  const service = await startService({ throttled: false });
  try {
    const proxy = await startValidatingProxy(service.stack.baseUrl);
    try {
      await runTour(service, proxy.baseUrl);
      await runDemo(service, proxy);
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

/** The demo with `Prefer: respond-async`. The tour waits for the delivery. */
async function runDemo({ stack, dynamo }: Service, { baseUrl }: ValidatingProxy): Promise<void> {
  const tables = projectTables(stack.dynamodb.tables);
  const scenarioStack = { baseUrl, pushService: stack.pushService, dynamo, tables };
  const startProgress = () => ({ update: () => {}, stop: () => {} });
  await runScenario(scenarioStack, subscribers, startProgress, { respondAsync: true });
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
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'shown' }),
  });
  const unsubscribed = await call(
    routes.unsubscribe,
    `?endpoint=${encodeURIComponent(endpoint)}`,
    {},
  );
  expect([tracked.status, unsubscribed.status]).toEqual([200, 200]);
}
