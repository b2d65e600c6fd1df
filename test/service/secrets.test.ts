import { createHash } from 'node:crypto';
import {
  type DynamoDbFault,
  type DynamoDbResponse,
  errorResponse,
} from 'aws-emulator/dynamodb-proxy';
import { constructIdOf, tableNames, tableVariables } from '../../contract/infrastructure/tables.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { type RouteName, routes } from '../../contract/wire/routes.ts';
import { requestLine } from '../../local/log.ts';
import type { Behaviour } from '../../local/push-service/channels.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { unlisted } from '../fixtures/listed-names.ts';
import { readTable } from '../fixtures/read-table.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { SecretScanner } from '../fixtures/secret-scanner.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  useService,
} from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const wrongKey = `carillon_sk_${'wrong-key-of-43-characters'.padEnd(43, '0')}`;
const userId = 'a-secret-user-id-in-this-test';
const value = 'a-secret-value-in-this-test';
const content = {
  title: 'a-secret-title-in-this-test',
  body: 'a-secret-body-in-this-test',
  url: 'https://shop.example.com/a-secret-page-in-this-test',
};

let project: ProjectCredentials;
/** Injected into every call to the database. */
let fault: DynamoDbFault | undefined;
/** Lines that the functions logged in the current test. */
let log: string[] = [];
/** Their fields, in all tests. */
const logged = new Set<string>();
/** Lines that `npm start` prints for requests. */
const printed: string[] = [];
/** All responses of 400 and above. */
const refusals: ApiResponse[] = [];
// Its end throws if a test logged a part of a key, an endpoint or a body.
const service = useService({
  onLog: ({ text }) => {
    log.push(text);
    for (const field of Object.keys(JSON.parse(text))) logged.add(field);
  },
  onRequest: (line) => printed.push(requestLine(line)),
  onDynamoDbCall: () => fault,
});
beforeAll(async () => {
  project = await service.createProject();
});
beforeEach(() => {
  fault = undefined;
  log = [];
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const newSubscription = () => ({
  ...service.stack.pushService.subscribe(project).toJSON(),
  userId,
  userIdSignature: signUserId(project.identityKey, userId),
});

/** What requests contain besides the key. */
const withSecrets = (): Partial<Record<RouteName, Partial<CallOptions>>> => ({
  subscribe: { body: newSubscription() },
  send: { headers: { 'idempotency-key': 'a-secret-idempotency-key' }, body: content },
  getUser: { query: `?userId=${userId}` },
  removeUser: { query: `?userId=${userId}` },
});

async function call(name: RouteName, overrides: Partial<CallOptions> = {}) {
  const request = { ...withSecrets()[name], ...overrides };
  const response = await callWithValidRequest(service, project, name, request);
  if (response.status >= 400) refusals.push(response);
  return response;
}

test('successful requests are logged without secrets', async () => {
  const body = newSubscription();
  for (const _ of ['added', 'updated']) {
    expect((await call('subscribe', { body })).status).toBe(201);
  }
  const browser = await service.subscribe(project, userId);
  const { body: sent } = await service.send(project, {
    ...{ ...content, body: '{{v}}' },
    recipients: [{ userId, values: { v: value } }],
  });
  expect(sent.delivered).toBeGreaterThan(0);
  await browser.show();
  for (const name of ['getProject', 'listNotifications', 'getUser'] as const) {
    expect((await call(name)).status).toBe(200);
  }
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  expect((await call('unsubscribe', { query })).status).toBe(200);
  expect((await call('removeUser')).body).toEqual({ removed: 1 });

  const lines = log.map((text) => JSON.parse(text) as { message?: string; _aws?: object });
  expect(lines.filter(({ message }) => message === 'request')).toHaveLength(10);
  expect(lines.filter(({ message }) => message === 'delivery')).toHaveLength(1);
  expect(lines.filter(({ _aws }) => _aws !== undefined)).toHaveLength(1);
});

test.each<[string, Behaviour]>([
  ['refuses the token', { status: 403, body: 'the token' }],
  ['reports the subscription as gone', { status: 410 }],
  ['throttles', { status: 429, headers: { 'retry-after': '3600' } }],
  ['resets the connection', { reset: true }],
])('a push service that %s is logged without the endpoint', async (_, behaviour) => {
  const owner = await service.createProject();
  const browser = await service.subscribe(owner, userId);
  // Real push services repeat the endpoint in responses.
  const echo = behaviour.status === undefined ? {} : { body: browser.endpoint };
  browser.behave({ ...behaviour, ...echo });
  expect((await service.send(owner, content)).body).toMatchObject({ attempted: 1, delivered: 0 });
  expect(log.filter((text) => text.includes('"delivery"'))).toHaveLength(1);
});

test.each<[string, RouteName, object, number]>([
  ['a wrong key', 'send', { headers: bearer(wrongKey) }, 401],
  ['a key of another scheme', 'send', { headers: { authorization: `Basic ${wrongKey}` } }, 401],
  ['a key as the project id', 'send', { parameters: { projectId: wrongKey } }, 401],
  [
    'a key as the project id of a subscription',
    'subscribe',
    { parameters: { projectId: wrongKey } },
    404,
  ],
  ['a truncated body', 'send', { body: `{"title":"${content.title}` }, 400],
  ['a body that is not JSON', 'subscribe', { body: `endpoint=${wrongKey}` }, 400],
  ['fields of wrong types', 'send', { body: { title: [content.title], url: userId } }, 400],
  ['a title that is too long', 'send', { body: { title: content.title.repeat(20) } }, 400],
  [
    'a value that is too long',
    'send',
    { body: { title: '{{v}}', recipients: [{ userId, values: { v: value.repeat(20) } }] } },
    400,
  ],
  [
    'a user id twice',
    'send',
    { body: { title: 'T', recipients: [{ userId }, { userId, values: { v: value } }] } },
    400,
  ],
  [
    'a push message that is too large',
    'send',
    { body: { ...content, body: 'ü'.repeat(2000) } },
    413,
  ],
  ['an endpoint of no push service', 'subscribe', { body: { endpoint: content.url } }, 400],
  ['an unknown event', 'track', { body: { type: content.title } }, 400],
  ['a key as the cursor', 'listNotifications', { query: `?cursor=${wrongKey}` }, 400],
  ['a user id that is too long', 'getUser', { query: `?userId=${userId.repeat(20)}` }, 400],
  ['a user id that is too long', 'removeUser', { query: `?userId=${userId.repeat(20)}` }, 400],
  ['an invalid endpoint', 'unsubscribe', { query: `?endpoint=${wrongKey}` }, 400],
])(
  'a request with %s is refused and logged without secrets',
  async (_, name, overrides, status) => {
    // Without the idempotency key, with which it would repeat the send of another test.
    const headers = name === 'send' ? { headers: bearer(project.secretKey) } : {};
    expect((await call(name, { ...headers, ...overrides })).status).toBe(status);
    expect(log).toHaveLength(1);
  },
);

test('a request with a wrong signature is refused and logged without secrets', async () => {
  const userIdSignature = signUserId(project.identityKey, 'somebody else');
  const body = { ...newSubscription(), userIdSignature };
  expect((await call('subscribe', { body })).status).toBe(403);
  expect(log).toHaveLength(1);
  expect(log[0]).toContain('user_id_signature_invalid');
});

/** A cancelled transaction with the existing item (`ReturnValuesOnConditionCheckFailure`). */
function cancellationWithItem(): DynamoDbResponse {
  const { endpoint, keys } = newSubscription();
  const Item = { endpoint: { S: endpoint }, auth: { S: keys.auth }, userId: { S: userId } };
  const reasons = { CancellationReasons: [{ Code: 'ValidationError', Item }] };
  return errorResponse('TransactionCanceledException', 'Transaction cancelled.', reasons);
}

test.each<[string, () => DynamoDbFault, number]>([
  [
    'a throttled call',
    () => errorResponse('ProvisionedThroughputExceededException', 'Slow down.'),
    503,
  ],
  ['a broken connection', () => 'lost request', 503],
  ['a validation error', () => errorResponse('ValidationException', 'Wrong.'), 500],
  ['an error with an item', cancellationWithItem, 500],
])('each route logs %s of the database without secrets', async (_, createFault, status) => {
  fault = createFault();
  const responses = await Promise.all(everyRoute.map((name) => call(name)));
  expect(responses.map((response) => response.status)).toEqual(everyRoute.map(() => status));
  expect(log.filter((text) => text.includes('"level":"ERROR"'))).toHaveLength(everyRoute.length);
});

test('a send that fails after it has started is logged without secrets', async () => {
  const owner = await service.createProject();
  await service.subscribe(owner, userId);
  await service.send(owner, content);
  log = [];
  fault = cancellationWithItem();
  const { status } = await callWithValidRequest(service, owner, 'send', { body: content });
  expect(status).toBe(500);
  expect(log.join('')).toContain('"cancellation":["ValidationError"]');
});

test('the template is stored, and values are neither stored nor logged', async () => {
  const owner = await service.createProject();
  await service.subscribe(owner, userId);
  const recipients = [{ userId, values: { v: value } }];
  const headers = { 'idempotency-key': 'with-values' };
  for (const prefer of ['', 'respond-async']) {
    await service.send(owner, { title: '{{ v }}', recipients }, { ...headers, prefer });
  }
  const { SUBSCRIPTIONS_TABLE, ...tables } = service.stack.dynamodb.tables;
  for (const table of Object.values(tables)) {
    const text = JSON.stringify(await readTable(service.dynamo, table));
    expect(text).not.toContain(value);
    expect(text).not.toContain(userId);
  }
  const [stored] = (await readTable(service.dynamo, tables.NOTIFICATIONS_TABLE)).filter(
    (item) => item.projectRef === owner.ref && item.content !== undefined,
  );
  expect(stored).toMatchObject({ content: { title: '{{ v }}' }, users: 1 });
  expect(log.join('')).not.toContain(value);
});

test('npm start prints requests without the secrets in their URLs', async () => {
  const { endpoint } = service.stack.pushService.subscribe(project);
  const { projectId, secretKey } = project;
  const urls = [
    `${pathOf(routes.unsubscribe, { projectId })}?endpoint=${encodeURIComponent(endpoint)}`,
    `${pathOf(routes.send, { projectId })}?key=${secretKey}`,
    pathOf(routes.subscribe, { projectId: secretKey }),
    `${pathOf(routes.send, { projectId })}/${secretKey}`,
    pathOf(routes.track, { projectId, notificationId: 'a-capability' }),
    `/${secretKey}`,
  ];
  printed.length = 0;
  for (const method of ['POST', 'DELETE', 'GET', 'OPTIONS']) {
    for (const url of urls) await fetch(service.stack.baseUrl + url, { method });
  }
  const scanner = new SecretScanner();
  scanner.addSecrets('the key', [secretKey]);
  scanner.addSecrets('the endpoint', [endpoint, encodeURIComponent(endpoint)]);
  for (const line of printed) scanner.addLine(line);
  expect(scanner.findings()).toEqual([]);
  const paths = printed.map((line) => /^POST (.+) → \d{3} {2}\d+ ms$/.exec(line)?.[1]);
  expect(printed).toHaveLength(24);
  expect(paths.filter(Boolean)).toEqual([
    `/api/v1/projects/${projectId}`,
    `/api/v1/projects/${projectId}/notifications`,
    '/api/v1/projects/{projectId}',
    '(no route)',
    `/api/v1/projects/${projectId}/notifications/{notificationId}/events`,
    '(no route)',
  ]);
});

test('error responses contain no secret', () => {
  const scanner = new SecretScanner();
  scanner.addSecrets('a key', [wrongKey, project.secretKey, project.identityKey]);
  scanner.addSecrets('a text', { userId, value, ...content });
  for (const { body } of refusals) scanner.addLine(JSON.stringify(body));
  expect(refusals.length).toBeGreaterThan(20);
  expect(scanner.findings()).toEqual([]);
});

const bytesAsHex = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

test('only the hash of a secret key is stored, and each other secret in one table', async () => {
  const userId = 'a-secret-user-id-in-this-test';
  const title = 'a-secret-title-in-this-test';
  const project = await service.createProject();
  const { endpoint } = await service.subscribe(project, userId);
  await service.send(project, { title });
  const { tables } = service.stack.dynamodb;
  const texts = new Map<string, string>();
  for (const [variable, table] of Object.entries(tables)) {
    texts.set(variable, JSON.stringify(await readTable(service.dynamo, table), bytesAsHex));
  }
  const tablesWith = (secret: string) =>
    [...texts].filter(([, text]) => text.includes(secret)).map(([variable]) => variable);

  expect(tablesWith('carillon_sk_')).toEqual([]);
  const hash = createHash('sha256').update(project.secretKey).digest('hex');
  expect(tablesWith(hash)).toEqual(['PROJECTS_TABLE']);
  expect(tablesWith(project.identityKey)).toEqual(['IDENTITY_KEYS_TABLE']);
  const vapidKeys = await readTable(service.dynamo, tables.VAPID_KEYS_TABLE);
  expect(vapidKeys).not.toHaveLength(0);
  for (const { privateKey } of vapidKeys) {
    expect(tablesWith(privateKey as string)).toEqual(['VAPID_KEYS_TABLE']);
  }
  expect(tablesWith(Buffer.from(project.internalKey).toString('hex'))).toEqual(['PROJECTS_TABLE']);
  // Who has an endpoint can unsubscribe it. Its origin, the push service, is no secret.
  expect(tablesWith(new URL(endpoint).pathname)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(tablesWith(userId)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(tablesWith(title)).toEqual(['NOTIFICATIONS_TABLE']);
});

test('what is stored of a request with an Idempotency-Key cannot be found by guessing the key', async () => {
  const key = 'order-1042';
  const send = { title: 'T', userIds: ['ada'] };
  const projects = [await service.createProject(), await service.createProject()];
  for (const project of projects) await service.send(project, send, { 'idempotency-key': key });
  const { NOTIFICATIONS_TABLE } = service.stack.dynamodb.tables;
  const items = await readTable(service.dynamo, NOTIFICATIONS_TABLE);
  const keyed = items.filter(
    (item) => item.requestHash !== undefined && projects.some(({ ref }) => ref === item.projectRef),
  );
  expect(keyed).toHaveLength(2);
  const hashes = keyed.flatMap((item) => [item.requestHash, String(item.notificationId).slice(4)]);
  // Of the same key and request, two projects store nothing that is the same.
  expect(new Set(hashes).size).toBe(4);
});

test('all that these tests have stored and logged is listed in contract/wording/stored-data.ts', async () => {
  const found = [...unlisted('Log', [...logged])];
  for (const name of tableNames) {
    const table = service.stack.dynamodb.tables[tableVariables[name]];
    const items = await readTable(service.dynamo, table);
    found.push(...unlisted(constructIdOf(name), items.flatMap(Object.keys)));
  }
  expect(found).toEqual([]);
});
