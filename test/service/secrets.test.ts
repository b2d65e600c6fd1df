import { createHash } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { pathOf, type RouteName, routes } from '../../contract/routes.ts';
import type { DynamoDbFault } from '../../local/dynamodb/proxy.ts';
import { type DynamoDbResponse, errorResponse } from '../../local/dynamodb/response.ts';
import type { Behaviour } from '../../local/push-service/behaviour.ts';
import { requestLine } from '../../local/start/request-line.ts';
import { SecretScanner } from '../fixtures/secret-scanner.ts';
import {
  type ApiResponse,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';

const wrongKey = `carillon_sk_${'wrong-key-of-43-characters'.padEnd(43, '0')}`;
const userId = 'a-user-whom-nobody-may-read-of';
const content = {
  title: 'a-title-for-its-readers-alone',
  body: 'a-body-for-its-readers-alone',
  url: 'https://shop.example.com/a-page-for-its-readers-alone',
};

let service: Service;
let project: ProjectCredentials;
/** What becomes of every call to the database. */
let fault: DynamoDbFault | undefined;
/** Written by the functions since the last look. */
let log: string[] = [];
/** Lines that `npm start` would have printed. */
const printed: string[] = [];
/** All that callers were told. */
const refusals: ApiResponse[] = [];

beforeAll(async () => {
  service = await startService({
    onLog: ({ text }) => log.push(text),
    onRequest: (line) => printed.push(requestLine(line)),
    onDynamoDbCall: () => fault,
  });
  project = await service.createProject();
});
beforeEach(() => {
  fault = undefined;
  log = [];
});
// Fails where any line of any of these tests had something of a key, an endpoint or a body in it.
afterAll(() => service.stop());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** A request of every route that would succeed, and has secrets in all its parts. */
function requestsWithSecrets(owner = project) {
  const { endpoint, keys } = service.stack.pushService.subscribe(owner).toJSON();
  const { projectId, secretKey } = owner;
  const notificationId = '00000000-0000-4000-8000-000000000000';
  const headers = { ...bearer(secretKey), 'idempotency-key': 'an-order-of-nobody-elses' };
  return {
    subscribe: { parameters: { projectId }, body: { endpoint, keys, userId } },
    unsubscribe: { parameters: { projectId }, query: `?endpoint=${encodeURIComponent(endpoint)}` },
    send: { parameters: { projectId }, headers, body: content },
    track: { parameters: { projectId, notificationId }, body: { type: 'shown' } },
  } satisfies Record<RouteName, object>;
}

async function call(name: RouteName, overrides: object = {}) {
  const answer = await service.call(routes[name], { ...requestsWithSecrets()[name], ...overrides });
  if (answer.status >= 400) refusals.push(answer);
  return answer;
}

const everyRoute = Object.keys(routes) as RouteName[];

test('the main job is logged without its secrets', async () => {
  const { parameters, body } = requestsWithSecrets().subscribe;
  for (const _ of ['added', 'updated']) {
    expect((await call('subscribe', { parameters, body })).status).toBe(201);
  }
  const browser = await service.subscribe(project, userId);
  const { body: sent } = await service.send(project, { ...content, userIds: [userId] });
  expect(sent.delivered).toBeGreaterThan(0);
  await browser.show();
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  expect((await call('unsubscribe', { query })).status).toBe(200);

  const lines = log.map((text) => JSON.parse(text) as { message?: string; _aws?: object });
  expect(lines.filter(({ message }) => message === 'request')).toHaveLength(6);
  expect(lines.filter(({ message }) => message === 'delivery')).toHaveLength(1);
  expect(lines.filter(({ _aws }) => _aws !== undefined)).toHaveLength(1);
});

test.each<[string, Behaviour]>([
  ['refuses the token', { status: 403, body: 'the token' }],
  ['has lost the subscription', { status: 410 }],
  ['is busy', { status: 429, headers: { 'retry-after': '3600' } }],
  ['breaks the connection', { reset: true }],
])('a push service that %s is logged without the endpoint', async (_, behaviour) => {
  const owner = await service.createProject();
  const browser = await service.subscribe(owner, userId);
  // As push services do, it says in its answer what it was asked.
  const echo = behaviour.status === undefined ? {} : { body: browser.endpoint };
  browser.behave({ ...behaviour, ...echo });
  expect((await service.send(owner, content)).body).toMatchObject({ attempted: 1, delivered: 0 });
  expect(log.filter((text) => text.includes('"delivery"'))).toHaveLength(1);
});

test.each<[string, RouteName, object, number]>([
  ['a wrong key', 'send', { headers: bearer(wrongKey) }, 401],
  ['a key of another scheme', 'send', { headers: { authorization: `Basic ${wrongKey}` } }, 401],
  ['a key as the project’s id', 'send', { parameters: { projectId: wrongKey } }, 401],
  [
    'a key as the id of one to subscribe to',
    'subscribe',
    { parameters: { projectId: wrongKey } },
    404,
  ],
  ['a body that breaks off', 'send', { body: `{"title":"${content.title}` }, 400],
  ['a body that is no JSON', 'subscribe', { body: `endpoint=${wrongKey}` }, 400],
  ['fields of wrong types', 'send', { body: { title: [content.title], url: userId } }, 400],
  ['a text that is too long', 'send', { body: { title: content.title.repeat(20) } }, 400],
  ['a message that is too large', 'send', { body: { ...content, body: 'ü'.repeat(2000) } }, 413],
  ['an endpoint that is nobody’s', 'subscribe', { body: { endpoint: content.url } }, 400],
  ['an event that is none', 'track', { body: { type: content.title } }, 400],
  ['an endpoint that is none', 'unsubscribe', { query: `?endpoint=${wrongKey}` }, 400],
])('%s is refused without a word of it', async (_, name, overrides, status) => {
  // Not taken for a repetition of another test's.
  const headers = name === 'send' ? { headers: bearer(project.secretKey) } : {};
  expect((await call(name, { ...headers, ...overrides })).status).toBe(status);
  expect(log).toHaveLength(1);
});

/** A transaction that met an item, as DynamoDB returns it to those who ask. */
function metItem(): DynamoDbResponse {
  const { endpoint, keys } = requestsWithSecrets().subscribe.body;
  const Item = { endpoint: { S: endpoint }, auth: { S: keys.auth }, userId: { S: userId } };
  const reasons = { CancellationReasons: [{ Code: 'ValidationError', Item }] };
  return errorResponse('TransactionCanceledException', 'Transaction cancelled.', reasons);
}

test.each<[string, () => DynamoDbFault, number]>([
  ['throttles', () => errorResponse('ProvisionedThroughputExceededException', 'Slow down.'), 503],
  ['hangs up', () => 'lost call', 503],
  ['finds the request wrong', () => errorResponse('ValidationException', 'Wrong.'), 500],
  ['tells of items', metItem, 500],
])('where the database %s, every route is logged without its secrets', async (_, make, status) => {
  fault = make();
  const answers = await Promise.all(everyRoute.map((name) => call(name)));
  expect(answers.map((answer) => answer.status)).toEqual(everyRoute.map(() => status));
  expect(log.filter((text) => text.includes('"level":"ERROR"'))).toHaveLength(everyRoute.length);
});

test('a send that ends in a fault is logged without its secrets', async () => {
  const owner = await service.createProject();
  await service.subscribe(owner, userId);
  const { parameters, headers, body } = requestsWithSecrets(owner).send;
  await service.call(routes.send, {
    parameters,
    headers: { authorization: headers.authorization },
    body,
  });
  log = [];
  fault = metItem();
  expect((await call('send', { parameters, body })).status).toBe(500);
  expect(log.join('')).toContain('"cancellation":["ValidationError"]');
});

test('a request is printed by npm start without its secrets, wherever in the address they are', async () => {
  const { endpoint } = service.stack.pushService.subscribe(project);
  const { projectId, secretKey } = project;
  const addresses = [
    `${pathOf(routes.unsubscribe, { projectId })}?endpoint=${encodeURIComponent(endpoint)}`,
    `${pathOf(routes.send, { projectId })}?key=${secretKey}`,
    pathOf(routes.subscribe, { projectId: secretKey }),
    `${pathOf(routes.send, { projectId })}/${secretKey}`,
    `/${secretKey}`,
  ];
  printed.length = 0;
  for (const method of ['POST', 'DELETE', 'GET', 'OPTIONS']) {
    for (const address of addresses) await fetch(service.stack.baseUrl + address, { method });
  }
  const scanner = new SecretScanner();
  scanner.addSecrets('the key', [secretKey]);
  scanner.addSecrets('the endpoint', [endpoint, encodeURIComponent(endpoint)]);
  for (const line of printed) scanner.addLine(line);
  expect(printed).toHaveLength(20);
  expect(scanner.findings()).toEqual([]);
});

test('a secret would be found in a log, be it quoted, escaped or in a URL', () => {
  const scanner = new SecretScanner();
  scanner.addSecrets('body', { keys: { auth: project.secretKey } });
  expect(scanner.findings()).toEqual([]);
  scanner.addLine(JSON.stringify({ text: `at\n${project.secretKey}/x` }));
  expect(scanner.findings()).toEqual([expect.stringContaining('body keys auth')]);
});

test('no refusal tells a secret, not even the caller’s own', () => {
  const scanner = new SecretScanner();
  scanner.addSecrets('a key', [wrongKey, project.secretKey]);
  scanner.addSecrets('a text', { userId, ...content });
  for (const { body } of refusals) scanner.addLine(JSON.stringify(body));
  expect(refusals.length).toBeGreaterThan(20);
  expect(scanner.findings()).toEqual([]);
});

test('of a secret key the tables hold the hash, and hold what else is secret in one table each', async () => {
  await service.subscribe(project, userId);
  await service.send(project, content);
  const { tables } = service.stack.dynamodb;
  const texts = new Map<string, string>();
  for (const [variable, TableName] of Object.entries(tables)) {
    const { Items } = await service.dynamo.send(new ScanCommand({ TableName }));
    texts.set(variable, JSON.stringify(Items));
  }
  const having = (secret: string) =>
    [...texts].filter(([, text]) => text.includes(secret)).map(([variable]) => variable);

  expect(having('carillon_sk_')).toEqual([]);
  const hash = createHash('sha256').update(project.secretKey).digest('hex');
  expect(having(hash)).toEqual(['PROJECTS_TABLE']);
  const keys = await service.dynamo.send(new ScanCommand({ TableName: tables.VAPID_KEYS_TABLE }));
  expect(keys.Items).not.toHaveLength(0);
  for (const { privateKey } of keys.Items!) {
    expect(having(privateKey)).toEqual(['VAPID_KEYS_TABLE']);
  }
  expect(having(service.stack.pushService.origin)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(having(userId)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(having(content.title)).toEqual(['NOTIFICATIONS_TABLE']);
});
