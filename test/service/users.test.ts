import { createHash } from 'node:crypto';
import type { ErrorBody } from '../../contract/wire/errors.ts';
import {
  type RemovedUser,
  removedUserSchema,
  type UserSubscriptions,
  userSubscriptionsSchema,
} from '../../contract/wire/user.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTables } from '../fixtures/read-table.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;

const service = useService();
beforeEach(async () => {
  project = await service.createProject();
});

function call<Body = ErrorBody>(name: 'getUser' | 'removeUser', query: string, owner = project) {
  return callWithValidRequest<Body>(service, owner, name, { query });
}

const queryOf = (userId: string) => `?userId=${encodeURIComponent(userId)}`;

async function count(userId: string, owner = project): Promise<number> {
  const { status, body } = await call<UserSubscriptions>('getUser', queryOf(userId), owner);
  expect(status).toBe(200);
  expect(userSubscriptionsSchema.parse(body)).toEqual(body);
  expect(body.userId).toBe(userId);
  return body.subscriptions;
}

async function devices(userId: string): Promise<UserSubscriptions['devices']> {
  const { body } = await call<UserSubscriptions>('getUser', queryOf(userId));
  return body.devices;
}

async function remove(userId: string, owner = project, device?: string): Promise<number> {
  const query = queryOf(userId) + (device === undefined ? '' : `&device=${device}`);
  const { status, body } = await call<RemovedUser>('removeUser', query, owner);
  expect(status).toBe(200);
  expect(removedUserSchema.parse(body)).toEqual(body);
  return body.removed;
}

const removeDevice = (userId: string, device: string) => remove(userId, project, device);

const idOf = ({ endpoint }: SimulatedBrowser) =>
  createHash('sha256').update(endpoint).digest('base64url');

const register = (browser: SimulatedBrowser, userId?: string) =>
  callWithValidRequest(service, project, 'subscribe', { body: { ...browser.toJSON(), userId } });

const subscribers = async (owner = project) => (await service.usage(owner.projectId)).subscribers;

test('an unknown user has no subscriptions, and there is nothing to remove', async () => {
  expect(await count('nobody')).toBe(0);
  expect(await remove('nobody')).toBe(0);
});

test('all subscriptions of a user are removed once', async () => {
  const browsers = [];
  // More than one batch.
  for (let made = 0; made < 60; made += 1) browsers.push(await service.subscribe(project, 'ada'));
  const others = [await service.subscribe(project, 'bob'), await service.subscribe(project)];
  expect(await count('ada')).toBe(60);
  expect(await remove('ada')).toBe(60);
  expect([await count('ada'), await remove('ada')]).toEqual([0, 0]);
  expect(await subscribers()).toBe(2);
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 2, delivered: 2 });
  expect(others.map(({ messages }) => messages.length)).toEqual([1, 1]);
  expect(browsers.flatMap(({ messages }) => messages)).toEqual([]);
});

test('a subscription that has passed to another user, or no longer has a user, is kept', async () => {
  const [first, second] = [
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
  ];
  await register(first, 'bob');
  await register(second);
  expect(await remove('ada')).toBe(0);
  expect([await count('ada'), await count('bob'), await subscribers()]).toEqual([0, 1, 2]);
});

describe('the devices of a user', () => {
  test('are the newest first, with ids, push services and times', async () => {
    const startedAt = new Date().toISOString();
    const first = await service.subscribe(project, 'ada');
    const second = await service.subscribe(project, 'ada');
    await service.subscribe(project, 'bob');
    const found = await devices('ada');
    expect(found.map(({ id }) => id)).toEqual([idOf(second), idOf(first)]);
    for (const { pushService, createdAt, updatedAt } of found) {
      expect(pushService).toBe(new URL(first.endpoint).origin);
      expect([createdAt, startedAt].toSorted()).toEqual([startedAt, createdAt]);
      expect(updatedAt).toBe(createdAt);
    }
  });

  test('keep id, createdAt and place when they are registered again', async () => {
    const first = await service.subscribe(project, 'ada');
    await service.subscribe(project, 'ada');
    const before = await devices('ada');
    await register(first, 'ada');
    const after = await devices('ada');
    const withoutUpdate = ({ updatedAt: _, ...device }: (typeof before)[number]) => device;
    expect(after.map(withoutUpdate)).toEqual(before.map(withoutUpdate));
    expect(Date.parse(after[1]!.updatedAt)).toBeGreaterThan(Date.parse(before[1]!.updatedAt));
    expect(after[0]).toEqual(before[0]);
  });
});

describe('the removal of one device', () => {
  test('removes exactly that one, once', async () => {
    const [first, second] = [
      await service.subscribe(project, 'ada'),
      await service.subscribe(project, 'ada'),
    ];
    expect(await removeDevice('ada', idOf(first))).toBe(1);
    expect(await removeDevice('ada', idOf(first))).toBe(0);
    expect((await devices('ada')).map(({ id }) => id)).toEqual([idOf(second)]);
    expect(await subscribers()).toBe(1);
  });

  test('removes no device of another user, project or of nobody', async () => {
    const bobs = await service.subscribe(project, 'bob');
    const nobodys = await service.subscribe(project);
    const other = await service.createProject();
    const others = await service.subscribe(other, 'ada');
    for (const browser of [bobs, nobodys, others]) {
      expect(await removeDevice('ada', idOf(browser))).toBe(0);
    }
    expect([await subscribers(), await subscribers(other)]).toEqual([2, 1]);
  });

  test.each([
    ['an empty id', 'device=', 'device'],
    ['a short id', `device=${'A'.repeat(42)}`, 'device'],
    ['a long id', `device=${'A'.repeat(44)}`, 'device'],
    ['base64 that is not base64url', `device=${'A'.repeat(42)}%2F`, 'device'],
    ['another spelling of an id', `device=${'A'.repeat(42)}B`, 'device'],
    ['two devices', `device=${'A'.repeat(43)}&device=${'A'.repeat(43)}`, 'device'],
    ['a mistyped parameter', `deviceId=${'A'.repeat(43)}`, 'deviceId'],
    ['another parameter', 'limit=1', 'limit'],
  ])('with %s is refused and changes nothing', async (_, query, path) => {
    await service.subscribe(project, 'ada');
    const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
    const { status, body } = await call('removeUser', `?userId=ada&${query}`);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.error.issues).toEqual([{ path, message: expect.any(String) }]);
    expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
  });
});

test('a user of another project is neither counted nor removed', async () => {
  const other = await service.createProject();
  await service.subscribe(other, 'ada');
  expect([await count('ada'), await remove('ada')]).toEqual([0, 0]);
  expect(await count('ada', other)).toBe(1);
});

test.each([
  'a/b',
  '..',
  'a b',
  'a+b@example.com',
  'a%2Fb',
  '100%',
  'a&userId=b',
  'a#b',
  'a,b',
  '\0',
  'a\r\nX-Injected: yes',
  '__proto__',
  'e\u0301',
  '\u00e9',
  'ﷺ'.repeat(256),
  '💣'.repeat(128),
  'x'.repeat(256),
])('the user id %j is found and removed', async (userId) => {
  await service.subscribe(project, userId);
  await service.subscribe(project, 'somebody else');
  expect(await count(userId)).toBe(1);
  expect(await remove(userId)).toBe(1);
  expect([await count(userId), await subscribers()]).toEqual([0, 1]);
});

test('user ids that look alike are different', async () => {
  await service.subscribe(project, 'e\u0301');
  for (const other of ['\u00e9', 'e', 'E\u0301', ' e\u0301', 'e\u0301 ']) {
    expect(await remove(other)).toBe(0);
  }
  expect(await count('e\u0301')).toBe(1);
});

// A query cannot contain a lone surrogate: its bytes are not UTF-8, and are read as U+FFFD.
test('the bytes of a lone surrogate name no user', async () => {
  await service.subscribe(project, 'ada');
  for (const bytes of ['%ED%A0%80', '%ED%B0%80ada', '%ff']) {
    expect((await call('removeUser', `?userId=${bytes}`)).body).toEqual({ removed: 0 });
  }
  expect(await count('ada')).toBe(1);
});
