import { createHash } from 'node:crypto';
import type { DynamoDbCall } from 'aws-emulator/dynamodb-proxy';
import type { ErrorBody } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import {
  type RemovedUser,
  removedUserSchema,
  type UserSubscriptions,
  userSubscriptionsSchema,
} from '../../contract/wire/user.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTables } from '../fixtures/read-table.ts';
import { rotatedLongAgo } from '../fixtures/rotated-long-ago.ts';
import { type ApiResponse, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;
/** Holds calls to the database until it is settled. */
let held: (call: DynamoDbCall) => Promise<void> | undefined = () => undefined;

const service = useService({
  onDynamoDbCall: async (call) => {
    await held(call);
    return undefined;
  },
});
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

describe('the language of a reader', () => {
  const registerIn = async (browser: SimulatedBrowser, choice: object) => {
    const body = { ...browser.toJSON(), userId: 'ada', ...choice };
    const { status } = await callWithValidRequest(service, project, 'subscribe', { body });
    expect(status).toBe(201);
    return (await devices('ada'))[0]!.locale;
  };

  test('is stored in one spelling, kept by an update without it, and cleared by null', async () => {
    const browser = await service.subscribe(project, 'ada');
    expect(await registerIn(browser, { locale: 'zh-hant-tw' })).toBe('zh-Hant-TW');
    expect(await registerIn(browser, {})).toBe('zh-Hant-TW');
    expect(await registerIn(browser, { renewal: true, channels: ['news'] })).toBe('zh-Hant-TW');
    expect(await registerIn(browser, { locale: null })).toBeUndefined();
  });

  test.each(['en_US', '', 'x', 'C', 'de-', 'i-klingon', `de-${'x'.repeat(40)}`, 7, ['de']])(
    'is not %j: refused, and nothing changes',
    async (locale) => {
      const browser = await service.subscribe(project, 'ada');
      await registerIn(browser, { locale: 'de' });
      const body = { ...browser.toJSON(), userId: 'ada', locale };
      const refused = await callWithValidRequest<ErrorBody>(service, project, 'subscribe', {
        body,
      });
      expect(refused.body.error.issues).toMatchObject([{ path: 'locale' }]);
      expect((await devices('ada'))[0]!.locale).toBe('de');
    },
  );
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

function unsubscribe({ endpoint }: SimulatedBrowser): Promise<ApiResponse> {
  const query = `?endpoint=${encodeURIComponent(endpoint)}`;
  const { projectId } = project;
  return service.call(routes.unsubscribe, { parameters: { projectId }, query });
}

/** Makes a request whose next call with this operation and text arrives only after the second request has ended. */
async function overtaken(
  [operation, text]: readonly [operation: string, text: string],
  first: () => Promise<ApiResponse>,
  second: () => Promise<ApiResponse>,
): Promise<void> {
  let arrives = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrives = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  held = (call) => {
    const isHeld = call.operation === operation && JSON.stringify(call.parameters).includes(text);
    if (!isHeld) return undefined;
    held = () => undefined;
    arrives();
    return released;
  };
  const overtaken = first();
  await arrived;
  const { status } = await second();
  release();
  expect([status, (await overtaken).status].map((one) => one < 300)).toEqual([true, true]);
}

/** Which of these users a send reaches. */
async function reached(userIds: readonly string[]): Promise<readonly string[]> {
  const { body } = await service.send(project, { title: 'T', userIds });
  return userIds.filter((userId) => !body.usersNotReached?.includes(userId));
}

test.each([
  ['updated', 'UpdateItem', true],
  ['created', 'TransactWriteItems', false],
])('the later of two registrations wins, though the earlier one is %s last', async (...row) => {
  const [, operation, isKnown] = row;
  const browser = service.stack.pushService.subscribe(project);
  if (isKnown) await register(browser, 'nobody');
  await overtaken(
    [operation, '#ann'],
    () => register(browser, 'ann'),
    () => register(browser, 'bob'),
  );
  expect(await reached(['ann', 'bob'])).toEqual(['bob']);
  expect((await register(browser, 'ann')).status).toBe(201);
  expect(await reached(['ann', 'bob'])).toEqual(['ann']);
});

test('a registration stays though an earlier removal arrives after it', async () => {
  const browser = service.stack.pushService.subscribe(project);
  await register(browser, 'eve');
  await overtaken(
    ['TransactWriteItems', 'Delete'],
    () => unsubscribe(browser),
    () => register(browser, 'eve'),
  );
  expect(await reached(['eve'])).toEqual(['eve']);
  await unsubscribe(browser);
  expect(await reached(['eve'])).toEqual([]);
});

const noWaiting = { sleep: async () => {}, onWait: () => {} };

/** Creates a project that all functions remember with its first pair, and rotates that. */
async function rotatedProject() {
  const project = await service.createProject();
  const early = await service.subscribe(project);
  await service.send(project, { title: 'Before' });
  const { vapidPublicKey } = await service.registry.rotateVapid(project.projectId);
  return { project, early, newKey: vapidPublicKey, oldKey: project.applicationServerKey };
}

/** Subscribes a browser that was made with a key. @param named the key that the request names. */
async function subscribe(
  { projectId }: ProjectCredentials,
  applicationServerKey: string,
  named = applicationServerKey,
) {
  const browser = service.stack.pushService.subscribe({ applicationServerKey });
  const response = await service.call(routes.subscribe, {
    parameters: { projectId },
    body: { ...browser.toJSON(), applicationServerKey: named },
  });
  return { browser, response };
}

/** The keys with which the messages of a browser were signed. */
const signedWith = ({ messages }: SimulatedBrowser) =>
  messages.map(({ headers }) => /k=([\w-]+)/.exec(headers.authorization!)![1]);

test('right after a rotation, browsers of both keys subscribe and get each send once', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const old = await subscribe(project, oldKey);
  const young = await subscribe(project, newKey);
  expect([old.response.status, young.response.status]).toEqual([201, 201]);
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 3, delivered: 3, failed: 0 });
  expect(signedWith(early)).toEqual([oldKey, oldKey]);
  expect(signedWith(old.browser)).toEqual([oldKey]);
  expect(signedWith(young.browser)).toEqual([newKey]);
});

test('the key may be base64', async () => {
  const { project, newKey } = await rotatedProject();
  const base64 = Buffer.from(newKey, 'base64url').toString('base64');
  const { browser, response } = await subscribe(project, newKey, base64);
  expect(response.status).toBe(201);
  await service.send(project, { title: 'After' });
  expect(signedWith(browser)).toEqual([newKey]);
});

test('a key that the project does not have is refused and nothing is stored', async () => {
  const project = await service.createProject();
  const { applicationServerKey } = await service.createProject();
  const { response } = await subscribe(project, applicationServerKey);
  expect(response).toMatchObject({
    status: 409,
    body: { error: { code: 'application_server_key_unknown' } },
  });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 0 });
});

test('an update keeps the pair of a known endpoint, with its key and without', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const { projectId } = project;
  // Makes the function read the project again, so that it would assume the new pair.
  await subscribe(project, newKey);
  for (const applicationServerKey of [undefined, oldKey]) {
    const body = { ...early.toJSON(), applicationServerKey };
    await callWithValidRequest(service, project, 'subscribe', { body });
    const rotated = await service.registry.find(projectId);
    expect(await service.registry.countPreviousPair(rotated!)).toBe(1);
  }
});

test('a subscription whose key is not named is delivered with the other pair, and corrected', async () => {
  const { project, oldKey, newKey } = await rotatedProject();
  const { projectId } = project;
  await subscribe(project, newKey);
  const browser = service.stack.pushService.subscribe({ applicationServerKey: oldKey });
  await callWithValidRequest(service, project, 'subscribe', {}, browser);
  const rotated = (await service.registry.find(projectId))!;
  expect(await service.registry.countPreviousPair(rotated)).toBe(1);
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 3, delivered: 3 });
  expect(signedWith(browser)).toEqual([oldKey]);
  expect(await service.registry.countPreviousPair(rotated)).toBe(2);
});

test('after the previous pair is dropped, its subscribers are removed and its key is refused', async () => {
  const { project, early, oldKey, newKey } = await rotatedProject();
  const { browser } = await subscribe(project, newKey);
  const options = { isForced: true, waiting: noWaiting };
  const { PROJECTS_TABLE } = service.stack.dynamodb.tables;
  await rotatedLongAgo(service.dynamo, PROJECTS_TABLE!, project.projectId);
  expect(await service.registry.dropPreviousVapid(project.projectId, options)).toBe(1);
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1 });
  const { body } = await service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 1, delivered: 1 });
  expect(signedWith(browser)).toEqual([newKey]);
  expect(early.messages).toHaveLength(1);
  const next = await service.registry.rotateVapid(project.projectId);
  // Reads the project again: only then does this function know that the old key is dropped.
  expect((await subscribe(project, next.vapidPublicKey)).response.status).toBe(201);
  expect((await subscribe(project, oldKey)).response.status).toBe(409);
});

describe('a project that allows pages of some origins', () => {
  const own = 'https://www.example.com';
  let browser: SimulatedBrowser;

  beforeEach(async () => {
    project = await service.createProject({ origins: [own] });
    browser = await service.subscribe(project);
  });

  const from = async (name: 'subscribe' | 'unsubscribe', headers: Record<string, string>) => {
    const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
    const request = name === 'subscribe' ? { body: browser.toJSON() } : { query };
    const used = { ...request, headers };
    return callWithValidRequest<ErrorBody>(service, project, name, used, browser);
  };

  test.each([
    'https://evil.example',
    'https://www.example.com.evil.example',
    'http://www.example.com',
    'null',
    '',
  ])('refuses a page of the origin "%s", which can read why', async (origin) => {
    const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
    for (const name of ['subscribe', 'unsubscribe'] as const) {
      const { status, body, headers } = await from(name, { origin });
      expect([status, body.error.code]).toEqual([403, 'origin_not_allowed']);
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
  });

  test.each<Record<string, string>>([{ origin: own }, {}])(
    'accepts a request with %j',
    async (headers) => {
      expect((await from('subscribe', headers)).status).toBe(201);
      expect((await from('unsubscribe', headers)).status).toBe(200);
    },
  );

  test('counts events of any page', async () => {
    const { body } = await service.send(project, { title: 'T' });
    const parameters = { notificationId: body.id };
    const headers = { origin: 'https://evil.example' };
    const request = { parameters, headers, body: { type: 'shown' } };
    expect((await callWithValidRequest(service, project, 'track', request)).status).toBe(200);
  });
});
