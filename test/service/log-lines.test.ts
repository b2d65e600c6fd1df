import { acceptedSendSchema } from '../../contract/wire/notification.ts';
import { type Route, routes } from '../../contract/wire/routes.ts';
import { useService } from '../fixtures/service.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';
import { until } from '../fixtures/until.ts';

type Line = Readonly<Record<string, unknown>>;

let lines: Line[] = [];

const service = useService({ onLog: ({ text }) => lines.push(JSON.parse(text)) });
beforeEach(() => {
  lines = [];
});

/** The lines that the query of the stack finds for a request id. */
function found(requestId: string): readonly Line[] {
  const [query] = Object.values(synthesize().resources('AWS::Logs::QueryDefinition'))
    .filter(({ Properties }) => Properties.Name.endsWith('/Lines of one request'))
    .map(({ Properties }) => Properties.QueryString as string);
  const [filter] = query!.split('\n');
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
  expect(messages.sort()).toEqual(['delivery', 'failed pushes', 'metrics', 'request']);
});

test('every line has the id of its invocation, by which the query finds it too', async () => {
  await sendAsync();
  const ids = lines.map(({ function_request_id: id }) => id as string);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  // One of send and one of deliver, neither the request's own.
  expect(new Set(ids).size).toBe(2);
  expect(ids).not.toContain(lines[0]!.request_id);
  const ofDeliver = lines.find(({ message }) => message === 'delivery')!;
  expect(found(ofDeliver.function_request_id as string)).toHaveLength(3);
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
