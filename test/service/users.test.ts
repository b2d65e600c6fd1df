import type { ErrorBody } from '../../contract/errors.ts';
import { routes } from '../../contract/routes.ts';
import {
  type RemovedUser,
  removedUserSchema,
  type UserSubscriptions,
  userSubscriptionsSchema,
} from '../../contract/schemas/user.ts';
import { readTables } from '../fixtures/read-table.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  project = await service.createProject();
});

function call<Body = ErrorBody>(name: 'getUser' | 'removeUser', query: string, owner = project) {
  return service.call<Body>(routes[name], {
    parameters: { projectId: owner.projectId },
    headers: { authorization: `Bearer ${owner.secretKey}` },
    query,
  });
}

const queryOf = (userId: string) => `?userId=${encodeURIComponent(userId)}`;

async function count(userId: string, owner = project): Promise<number> {
  const { status, body } = await call<UserSubscriptions>('getUser', queryOf(userId), owner);
  expect(status).toBe(200);
  expect(userSubscriptionsSchema.parse(body)).toEqual(body);
  expect(body.userId).toBe(userId);
  return body.subscriptions;
}

async function remove(userId: string, owner = project): Promise<number> {
  const { status, body } = await call<RemovedUser>('removeUser', queryOf(userId), owner);
  expect(status).toBe(200);
  expect(removedUserSchema.parse(body)).toEqual(body);
  return body.removed;
}

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

test('removals of one user at the same time count each subscription once', async () => {
  for (let made = 0; made < 10; made += 1) await service.subscribe(project, 'ada');
  const removed = await Promise.all(Array.from({ length: 4 }, () => remove('ada')));
  expect(removed.reduce((sum, one) => sum + one)).toBe(10);
  expect(await subscribers()).toBe(0);
});

test('a subscription that has passed to another user, or has no user any more, is kept', async () => {
  const [first, second] = [
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
  ];
  const parameters = { projectId: project.projectId };
  await service.call(routes.subscribe, { parameters, body: { ...first.toJSON(), userId: 'bob' } });
  await service.call(routes.subscribe, { parameters, body: second.toJSON() });
  expect(await remove('ada')).toBe(0);
  expect([await count('ada'), await count('bob'), await subscribers()]).toEqual([0, 1, 2]);
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
  '../../../etc/passwd',
  '/api/v1/projects/x',
  'a b',
  ' ',
  'a+b@example.com',
  'a%2Fb',
  '100%',
  'a&userId=b',
  'a=b',
  'a#b',
  'a,b',
  '?',
  '"',
  '\0',
  'a\r\nX-Injected: yes',
  '__proto__',
  'null',
  'e\u0301',
  '\u00e9',
  '👩‍👩‍👧',
  '\ufffd',
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

describe.each(['getUser', 'removeUser'] as const)('%s refuses and changes nothing:', (name) => {
  test.each([
    ['no query', ''],
    ['an empty user id', '?userId='],
    ['257 characters', `?userId=${'x'.repeat(257)}`],
    ['257 characters outside the BMP', queryOf('💣'.repeat(257))],
    ['another parameter', '?userid=ada'],
    ['a list', '?userId[]=ada'],
    ['a user id in the fragment', '#userId=ada'],
  ])('%s', async (_, query) => {
    await service.subscribe(project, 'ada');
    const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
    const { status, body } = await call(name, query);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.error.issues).toEqual([{ path: 'userId', message: expect.any(String) }]);
    expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
  });
});
