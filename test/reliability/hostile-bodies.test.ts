import { limits } from '../../contract/limits.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import { readTables } from '../fixtures/read-table.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import {
  equivalentBodies,
  type HostileBody,
  invalidBodies,
  unknownFields,
} from './fixtures/hostile-bodies.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import { type RouteWithBody, routesWithBody, validBody } from './fixtures/valid-body.ts';

let service: Service;
let project: ProjectCredentials;
let notificationId: string;

beforeAll(async () => {
  service = await startService({ concurrency: 2 });
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});
afterAll(() => service.stop());

function call(name: RouteName, request: Partial<CallOptions>): Promise<ApiResponse> {
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId },
    ...request,
    headers: { authorization: `Bearer ${project.secretKey}`, ...request.headers },
  });
}

/** Reads the items of a project, without ids and times. */
async function comparableItems({ ref }: ProjectCredentials) {
  const { tables } = service.stack.dynamodb;
  const all = await readProjectItems(service.dynamo, tables, ref);
  const ignored =
    'id projectRef projectPart notificationId leasedBy leasedUntil leaseWrite sentAt createdAt updatedAt expiresAt'.split(
      ' ',
    );
  const plain = (items: Iterable<object>) =>
    [...items].map((item) => Object.entries(item).filter(([key]) => !ignored.includes(key)));
  return {
    subscriptions: plain(all.subscriptions.values()).map((one) => one.sort()),
    notifications: plain(all.notifications.values()).map((one) => one.sort()),
    slices: plain(all.slices.values()).map((one) => one.sort()),
    eventCounters: plain(all.eventCounters.values()).map((one) => one.sort()),
    subscribers: all.subscribers,
    sendsByMonth: all.sendsByMonth,
  };
}

describe('an invalid body is refused and changes nothing', () => {
  async function expectRefusal(
    name: RouteWithBody,
    { bytes, headers = {}, status = 400 }: HostileBody,
  ) {
    const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
    const response = await call(name, { body: bytes, headers });
    const isTooLong = Buffer.byteLength(bytes) > limits.bodyBytes[name] && status === 400;
    expect(response.status).toBe(isTooLong ? 413 : status);
    expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
  }

  describe.each(Object.entries(invalidBodies))('%s', (_, make) => {
    test.each(routesWithBody)('at %s', (name) =>
      expectRefusal(name, make(validBody(service, name))),
    );
  });

  test.each(Object.entries(unknownFields))('%s, at send', (_, make) =>
    expectRefusal('send', { bytes: make(validBody(service, 'send')) }),
  );
});

describe('unknown fields, duplicate keys and whitespace do not change what is stored', () => {
  /** Posts each body to a new project, and expects the same items. */
  async function expectSameItems(name: RouteWithBody, valid: object, other: string) {
    const items = [];
    for (const body of [JSON.stringify(valid), other]) {
      const owner = await service.createProject();
      const sent = (await service.send(owner, { title: 'T' })).body.id;
      const { status } = await call(name, {
        parameters: { projectId: owner.projectId, notificationId: sent },
        headers: { authorization: `Bearer ${owner.secretKey}` },
        body,
      });
      expect(status).toBe(name === 'track' ? 200 : 201);
      items.push(await comparableItems(owner));
    }
    expect(items[1]).toEqual(items[0]);
  }

  describe.each(Object.entries(equivalentBodies))('%s', (_, make) => {
    test.each(routesWithBody)('at %s', (name) => {
      const valid = validBody(service, name);
      return expectSameItems(name, valid, make(valid));
    });
  });

  describe.each(Object.entries(unknownFields))('%s', (_, make) => {
    test.each(['subscribe', 'track'] as const)('at %s', (name) => {
      const valid = validBody(service, name);
      return expectSameItems(name, valid, make(valid));
    });
  });
});

// The functions have received all bodies above by now.
test('no body changes a prototype in a function', async () => {
  const { projectId, ref, secretKey } = await service.createProject();
  const browser = service.stack.pushService.subscribe();
  await call('subscribe', { parameters: { projectId }, body: { ...browser.toJSON() } });
  const { subscriptions } = await readProjectItems(
    service.dynamo,
    service.stack.dynamodb.tables,
    ref,
  );
  expect([...subscriptions.values()].map(({ projectUser }) => projectUser)).toEqual([undefined]);
  const headers = { authorization: `Bearer ${secretKey}` };
  const { status } = await call('send', { parameters: { projectId }, headers, body: {} });
  expect(status).toBe(400);
});
