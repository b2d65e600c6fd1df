import { readAssembly, resourcesOf } from 'aws-emulator/template';
import { eventMetrics, logNamespace } from '../../contract/infrastructure/metrics.ts';
import { acceptedSendSchema } from '../../contract/wire/notification.ts';
import { type Route, routes } from '../../contract/wire/routes.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { measured } from '../fixtures/measured-stack.ts';
import { RecordedMetrics } from '../fixtures/recorded-metrics.ts';
import { useService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const { template } = readAssembly(sharedAssembly);
const metrics = new RecordedMetrics();
let lines: Line[] = [];

const service = useService(
  // One environment, so that no event waits in another one.
  measured(template, metrics, {
    concurrency: 1,
    onLog: ({ text }) => lines.push(JSON.parse(text)),
  }),
);
beforeEach(() => {
  lines = [];
});

type Line = Readonly<Record<string, unknown>>;

/** The lines that the query of the stack finds for a request id. */
function found(requestId: string): readonly Line[] {
  const queries = resourcesOf(template, 'AWS::Logs::QueryDefinition').map(
    ([, { Properties }]) => Properties as Readonly<Record<string, string>>,
  );
  const query = queries.find(({ Name }) => Name!.endsWith('/Lines of one request'));
  const [filter] = query!.QueryString!.split('\n');
  expect(filter).toBe("filter @message like 'REQUEST ID'");
  return lines.filter((line) => JSON.stringify(line).includes(requestId));
}

async function sendAsync() {
  const project = await service.createProject();
  (await service.subscribe(project)).behave({ status: 403 });
  lines = [];
  const { headers, body } = await service.call<unknown>(routes.send, {
    parameters: { projectId: project.projectId },
    headers: { authorization: `Bearer ${project.secretKey}`, prefer: 'respond-async' },
    body: { title: 'T' },
  });
  const { id } = acceptedSendSchema.parse(body);
  await until('both functions have logged', () =>
    ['request', 'delivery'].every((name) => lines.some(({ message }) => message === name))
      ? true
      : undefined,
  );
  return { id, requestId: headers.get('apigw-requestid')! };
}

test('the query for the lines of a request finds those of all functions that worked on it', async () => {
  await sendAsync();
  const { requestId } = await sendAsync();
  const messages = found(requestId).map(({ message, _aws }) => (_aws ? 'metrics' : message));
  expect(messages.sort()).toEqual(['delivery', 'failed pushes', 'metrics', 'metrics', 'request']);
});

test('every line has the id of its invocation, by which the query finds it too', async () => {
  await sendAsync();
  const ids = lines.map(({ function_request_id: id }) => id as string);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  // One of send and one of deliver, neither the request's own.
  expect(new Set(ids).size).toBe(2);
  expect(ids).not.toContain(lines[0]!.request_id);
  const ofDeliver = lines.find(({ message }) => message === 'delivery')!;
  expect(found(ofDeliver.function_request_id as string)).toHaveLength(4);
});

test('a line has the ids of its own invocation, not of one before', async () => {
  const first = await sendAsync();
  const second = await sendAsync();
  expect(first.requestId).not.toBe(second.requestId);
  expect(new Set(lines.map(({ request_id: id }) => id))).toEqual(new Set([second.requestId]));
});

const parameters = { projectId: 'shop', notificationId: 'x' };
const address = '198.51.100.9';

test.each<Route>(Object.values(routes))('a request to $name logs one line', async (route) => {
  const { status } = await service.call(route, { parameters, address });
  expect(lines).toEqual([
    expect.objectContaining({
      service: route.name,
      message: 'request',
      method: route.method,
      project_id: 'shop',
      network: '198.51.100.0/24',
      status,
      ms: expect.any(Number),
    }),
  ]);
});

test.each(Object.values<Route>(routes).filter(({ answersPreflight }) => answersPreflight))(
  'a preflight of $name logs one line',
  async (route) => {
    const preflight = { ...route, method: 'OPTIONS' } as unknown as Route;
    await service.call(preflight, { parameters, address });
    expect(lines).toEqual([
      expect.objectContaining({ message: 'request', method: 'OPTIONS', status: 204 }),
    ]);
  },
);

test('the address of the caller is not logged', async () => {
  for (const route of Object.values(routes)) await service.call(route, { parameters, address });
  expect(lines).toHaveLength(Object.keys(routes).length);
  expect(JSON.stringify(lines)).not.toContain(address);
});

function counted(name: keyof typeof eventMetrics) {
  const namespace = logNamespace('Carillon');
  const metric = { namespace, name: eventMetrics[name], dimensions: {} };
  const ever = { from: 0, to: Number.POSITIVE_INFINITY, seenAt: Number.POSITIVE_INFINITY };
  return metrics.statistic(metric, 'Sum', ever);
}

test('metrics have every event, although not each has a line, and no refused one', async () => {
  const project = await service.createProject();
  const { body } = await service.send(project, { title: 'T' });
  const report = async (type: string, notificationId = body.id) =>
    (
      await service.call(routes.track, {
        parameters: { ...project, notificationId },
        body: { type },
      })
    ).status;
  lines.length = 0;
  for (let event = 0; event < 30; event += 1) expect(await report('shown')).toBe(200);
  for (let event = 0; event < 20; event += 1) expect(await report('clicked')).toBe(200);
  expect(await report('shown', 'unknown')).toBe(404);
  const successful = lines.filter(({ status }) => status === 200);
  expect(successful.length).toBeLessThan(50);
  expect(lines.filter(({ status }) => status === 404)).toHaveLength(1);

  // The next event of the same environment has a line with the rest.
  service.stack.freeze(1000, 'reset');
  expect(await report('clicked')).toBe(200);
  expect({ shown: counted('shown'), clicked: counted('clicked') }).toEqual({
    shown: 30,
    clicked: 21,
  });
});
