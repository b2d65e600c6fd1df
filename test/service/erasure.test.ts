import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { ErrorBody } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import type { RemovedUser, UserSubscriptions } from '../../contract/wire/user.ts';
import { deviceIdOf } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { readTable } from '../fixtures/read-table.ts';
import type { ApiResponse, ProjectCredentials, Service } from '../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let first: ServiceOperator;
let second: ServiceOperator;
let service: Service;
const lines: string[] = [];

beforeAll(async () => {
  first = await startServiceOperator({ onLog: ({ text }) => lines.push(text) });
  ({ service } = first);
  const { settings, pushService } = service.stack;
  const environment = { EXTRA_PUSH_ORIGINS: pushService.origin };
  second = await startServiceOperator({ environment }, { settings });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

function register(
  { projectId }: ProjectCredentials,
  browser: SimulatedBrowser,
  choice: object = {},
  at = service,
): Promise<ApiResponse<ErrorBody>> {
  const body = { ...browser.toJSON(), ...choice };
  return at.call(routes.subscribe, { parameters: { projectId }, body });
}

const renewal = { renewal: true } as const;

type Query = Readonly<Record<string, string | undefined>>;

function queryText(query: Query): string {
  return `?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`;
}

async function erase(project: ProjectCredentials, query: Query): Promise<number> {
  const { status, body } = await callWithValidRequest<RemovedUser>(service, project, 'removeUser', {
    query: queryText(query),
  });
  expect(status).toBe(200);
  return body.removed;
}

/** What is stored of a project or of a text, in all tables. */
async function stored(...texts: readonly string[]): Promise<readonly string[]> {
  const tables = Object.values(service.stack.dynamodb.tables);
  const items = (await Promise.all(tables.map((table) => readTable(service.dynamo, table)))).flat();
  return items
    .map((item) => JSON.stringify(item))
    .filter((item) => texts.some((text) => item.includes(text)));
}

const subscribers = async ({ projectId }: ProjectCredentials) =>
  (await service.usage(projectId)).subscribers;

describe.each(['user', 'device', 'endpoint'])('an erasure by %s', (by) => {
  test('leaves a hash, refuses a renewal, and ends with a consent', async () => {
    const project = await service.createProject();
    const userId = `ada-${randomUUID()}`;
    const userIdSignature = signUserId(project.identityKey, userId);
    const browser = service.stack.pushService.subscribe(project);
    const { endpoint } = browser;
    const choice = { userId, userIdSignature, channels: [`channel-of-ada`] };
    expect((await register(project, browser, choice)).status).toBe(201);
    const query = {
      user: { userId },
      device: { device: deviceIdOf(endpoint) },
      endpoint: { endpoint },
    }[by]!;
    lines.length = 0;

    expect(await erase(project, query)).toBe(1);
    expect(await erase(project, query)).toBe(0);
    expect(await subscribers(project)).toBe(0);
    const path = new URL(endpoint).pathname;
    const personal = [userId, path, userIdSignature, 'channel-of-ada', deviceIdOf(endpoint)];
    expect(await stored(...personal)).toEqual([]);
    expect(lines.filter((line) => personal.some((text) => line.includes(text)))).toEqual([]);
    const [left, ...more] = (await stored(`${project.ref}#`)).filter((item) =>
      item.includes('#erased'),
    );
    expect(more).toEqual([]);
    const { projectPart, endpointHash, expiresAt, ...others } = JSON.parse(left!);
    expect(others).toEqual({});
    expect(Object.keys(endpointHash)).toHaveLength(32);
    expect(projectPart).toMatch(new RegExp(`^${project.ref}#[0-7]#erased$`));
    expect(expiresAt / 86_400 - Date.now() / 86_400_000).toBeCloseTo(400, 1);

    for (const renewed of [renewal, { ...choice, ...renewal }]) {
      const { status, body } = await register(project, browser, renewed);
      expect({ status, code: body.error.code }).toEqual({ status: 410, code: 'erased' });
    }
    const successor = service.stack.pushService.subscribe(project);
    const replacing = { ...choice, ...renewal, replaces: endpoint };
    expect((await register(project, successor, replacing)).status).toBe(410);
    expect(await subscribers(project)).toBe(0);

    expect((await register(project, browser, choice)).status).toBe(201);
    expect((await stored(`${project.ref}#`)).filter((item) => item.includes('#erased'))).toEqual(
      [],
    );
    expect((await register(project, browser, { ...choice, ...renewal })).status).toBe(201);
    expect(await subscribers(project)).toBe(1);
    expect(await erase(project, query)).toBe(1);
    expect((await register(project, browser)).status).toBe(201);
  });
});

test('a renewal that was erased is told so also in a full project, and other browsers of it are told of the cap', async () => {
  const project = await service.createProject({ subscriberCap: 1 });
  const browser = await service.subscribe(project, 'ada');
  expect(await erase(project, { userId: 'ada' })).toBe(1);
  await service.subscribe(project, 'bob');
  for (let time = 0; time < 2; time += 1) {
    expect((await register(project, browser, renewal)).body.error.code).toBe('erased');
    const other = service.stack.pushService.subscribe(project);
    const { body } = await register(project, other, renewal);
    expect(body.error.code).toBe('subscriber_cap_reached');
  }
  expect((await register(project, browser)).body.error.code).toBe('subscriber_cap_reached');
  expect((await register(project, browser, renewal)).body.error.code).toBe('erased');
});

test('a device is erased only if it is the user’s, where both are given', async () => {
  const project = await service.createProject();
  const { endpoint } = await service.subscribe(project, 'bob');
  const device = deviceIdOf(endpoint);
  expect(await erase(project, { userId: 'ada', device })).toBe(0);
  const read = async (query: Query) => {
    const answer = await callWithValidRequest<UserSubscriptions>(service, project, 'getUser', {
      query: queryText(query),
    });
    return answer.body;
  };
  for (const query of [{ device }, { endpoint }, { userId: 'bob', device }]) {
    expect(await read(query)).toMatchObject({
      userId: 'bob',
      subscriptions: 1,
      devices: [{ id: device }],
    });
  }
  expect(await read({ userId: 'ada', device })).toEqual({
    userId: 'ada',
    subscriptions: 0,
    devices: [],
  });
  const unknown = { device: deviceIdOf('https://push.example/unknown') };
  expect(await read(unknown)).toEqual({ userId: null, subscriptions: 0, devices: [] });
  expect(await erase(project, { userId: 'bob', device })).toBe(1);
});

test.each([
  ['', 'userId'],
  ['?endpoint=https://push.example/a&userId=ada', 'endpoint'],
  ['?endpoint=elsewhere', 'endpoint'],
  ['?device=short', 'device'],
])('the query %s names nobody', async (query, path) => {
  const project = await service.createProject();
  for (const name of ['getUser', 'removeUser'] as const) {
    const { status, body } = await callWithValidRequest<ErrorBody>(service, project, name, {
      query,
    });
    expect({ status, path: body.error.issues?.[0]?.path }).toEqual({ status: 400, path });
  }
});

test('no list, no export and no copy of the project brings back who was erased', async () => {
  const { folder, run } = first;
  const project = await service.createProject();
  const { projectId } = project;
  const erased = await service.subscribe(project, 'ada');
  await service.subscribe(project, 'bob');
  const list = `${folder.path}/${projectId}.ndjson`;
  expect((await run(['subscriptions', 'export', projectId, list])).code).toBe(0);
  expect((await run(['users', 'delete', 'ada', '--project', projectId, '--yes'])).code).toBe(0);

  const imported = await run(['subscriptions', 'import', projectId, list, '--json']);
  expect(JSON.parse(imported.output)).toMatchObject({ created: 0, unchanged: 1, erased: 1 });
  expect(await subscribers(project)).toBe(1);

  const file = `${folder.path}/${projectId}.project`;
  expect((await run(['export', projectId, file])).code).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const moved = await second.run(['import', file, '--json']);
  expect(JSON.parse(moved.output)).toMatchObject({ subscriptions: 1, erased: 0 });
  expect((await register(project, erased, renewal, second.service)).status).toBe(410);
  const again = await second.run(['subscriptions', 'import', projectId, list, '--json']);
  expect(JSON.parse(again.output)).toMatchObject({ erased: 1 });
});

test('the hashes survive the deletion of their project, so that an older file brings nobody back', async () => {
  const { folder, run } = first;
  const project = await service.createProject();
  const { projectId } = project;
  await service.subscribe(project, 'ada');
  const file = `${folder.path}/${projectId}.project`;
  expect((await run(['export', projectId, file])).code).toBe(0);
  expect(await erase(project, { userId: 'ada' })).toBe(1);
  expect((await run(['delete', projectId, '--yes'])).code).toBe(0);
  const { output } = await run(['import', file, '--json']);
  expect(JSON.parse(output)).toMatchObject({ subscriptions: 0, erased: 1 });
  expect(await subscribers(project)).toBe(0);
});
