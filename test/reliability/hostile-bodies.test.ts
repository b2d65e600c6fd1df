import { gzipSync } from 'node:zlib';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { limits } from '../../contract/limits.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import { readProjectItems } from './fixtures/project-items.ts';

let service: Service;
let project: ProjectCredentials;
let notificationId: string;

beforeAll(async () => {
  service = await startService({ concurrency: 2 });
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});
afterAll(() => service.stop());

const withBody = ['subscribe', 'send', 'track'] as const;
type RouteWithBody = (typeof withBody)[number];

/** A body that this route takes. */
function goodBody(name: RouteWithBody): Record<string, unknown> {
  const bodies = {
    subscribe: () => ({ ...service.stack.pushService.subscribe().toJSON() }),
    send: () => ({ title: 'T' }),
    track: () => ({ type: 'shown' }),
  };
  return bodies[name]();
}

function call(name: RouteName, request: Partial<CallOptions>): Promise<ApiResponse> {
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId },
    ...request,
    headers: { authorization: `Bearer ${project.secretKey}`, ...request.headers },
  });
}

/** All that the tables hold, rate limits aside. */
async function contents(): Promise<string[][]> {
  const { RATE_LIMITS_TABLE, ...tables } = service.stack.dynamodb.tables;
  return Promise.all(
    Object.values(tables).map(async (TableName) => {
      const { Items = [] } = await service.dynamo.send(new ScanCommand({ TableName }));
      return Items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
    }),
  );
}

interface Body {
  readonly bytes: Buffer | string;
  readonly headers?: Record<string, string>;
  /** The status of a body that is short enough for its route; 400 if absent. */
  readonly status?: number;
}

const megabyte = 1024 * 1024;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const manyKeys = (count: number) =>
  Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join();
/** The members of an object, without its braces. */
const membersOf = (body: object) => JSON.stringify(body).slice(1, -1);

/** Bodies that are refused, made of one that would be accepted. */
const refused: Record<string, (good: Record<string, unknown>) => Body> = {
  'over 10 MB': () => ({ bytes: Buffer.alloc(10 * megabyte + 1, ' '), status: 413 }),
  '10 MB of blanks': () => ({ bytes: Buffer.alloc(10 * megabyte, ' '), status: 413 }),
  '10 MB in one text': (good) => ({
    bytes: JSON.stringify(fill(good, 'a '.repeat(4.9 * megabyte))),
    status: 413,
  }),
  '5 MB in one text': (good) => ({
    bytes: JSON.stringify(fill(good, 'a '.repeat(2.5 * megabyte))),
  }),
  '5 MB of blanks': () => ({ bytes: Buffer.alloc(5 * megabyte, ' ') }),
  '2.9 million lists within each other': () => ({ bytes: nested(2_900_000) }),
  '5 MB of open brackets': () => ({ bytes: '['.repeat(5 * megabyte) }),
  '500,000 lists within each other': () => ({ bytes: nested(500_000) }),
  'a field that is 100,000 lists within each other': (good) => ({
    bytes: JSON.stringify(fill(good, 0)).replace('0', nested(100_000)),
  }),
  '500 lists within each other': () => ({ bytes: nested(500) }),
  '100,000 keys and none of the right ones': () => ({ bytes: `{${manyKeys(100_000)}}` }),
  '50 keys and none of the right ones': () => ({ bytes: `{${manyKeys(50)}}` }),
  'a list of 100,000': () => ({ bytes: JSON.stringify(Array(100_000).fill({})) }),
  'half a surrogate pair, escaped': (good) => ({
    bytes: JSON.stringify(fill(good, 'SURROGATE')).replace('SURROGATE', '\\ud800'),
  }),
  'the halves of a surrogate pair the wrong way round': (good) => ({
    bytes: JSON.stringify(fill(good, 'SURROGATE')).replace('SURROGATE', '\\udc00\\ud800'),
  }),
  'its fields in __proto__': (good) => ({
    bytes: `{"__proto__":${JSON.stringify(good)}}`,
  }),
  'its fields in constructor.prototype': (good) => ({
    bytes: `{"constructor":{"prototype":${JSON.stringify(good)}}}`,
  }),
  'the right fields twice, wrong ones last': (good) => ({
    bytes: `{${membersOf(good)},${membersOf(fill(good, 7))}}`,
  }),
  'UTF-16': (good) => ({ bytes: Buffer.from(JSON.stringify(good), 'utf16le') }),
  'UTF-16, said so': (good) => ({
    bytes: Buffer.from(JSON.stringify(good), 'utf16le'),
    headers: { 'content-type': 'application/json; charset=utf-16le' },
  }),
  gzip: (good) => ({
    bytes: gzipSync(JSON.stringify(good)),
    headers: { 'content-encoding': 'gzip' },
  }),
  'gzip of 100 MB': () => ({
    bytes: gzipSync(Buffer.alloc(100 * megabyte, ' ')),
    headers: { 'content-encoding': 'gzip' },
  }),
  'a byte order mark': (good) => ({ bytes: `\ufeff${JSON.stringify(good)}` }),
  'a NUL behind it': (good) => ({ bytes: `${JSON.stringify(good)}\0` }),
  'a NUL within it': (good) => ({
    bytes: JSON.stringify(good).replace(':', ':\0'),
  }),
  'nothing but NULs': () => ({ bytes: Buffer.alloc(1000) }),
  'two documents': (good) => ({
    bytes: JSON.stringify(good) + JSON.stringify(good),
  }),
  'a comment': (good) => ({ bytes: `/* */${JSON.stringify(good)}` }),
  'not a number': (good) => ({
    bytes: JSON.stringify(fill(good, 0)).replace('0', 'NaN'),
  }),
  'a number beyond all': (good) => ({
    bytes: JSON.stringify(fill(good, 0)).replace('0', '1e999'),
  }),
  'a form of parts': (good) => ({
    bytes: `--x\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(good)}\r\n--x--`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    status: 415,
  }),
  'two media types': (good) => ({
    bytes: JSON.stringify(good),
    headers: { 'content-type': 'application/json, text/plain' },
    status: 415,
  }),
  'a media type that only begins so': (good) => ({
    bytes: JSON.stringify(good),
    headers: { 'content-type': 'application/jsonp' },
    status: 415,
  }),
};

/** Puts a value into the one field that each route asks for. */
function fill(good: Record<string, unknown>, value: unknown): Record<string, unknown> {
  const [field = ''] = ['endpoint', 'title', 'type'].filter((name) => name in good);
  return { ...good, [field]: value };
}

/** Written otherwise, but the same request. */
const equivalent: Record<string, (good: Record<string, unknown>) => string> = {
  'wrong fields first and the right ones last': (good) =>
    `{${membersOf(fill(good, 7))},${membersOf(good)}}`,
  'blanks around it': (good) => `${' '.repeat(500)}${JSON.stringify(good)}\r\n\t`,
};

/** Fields that no route knows, beside the right ones. */
const unknownFields: Record<string, (good: Record<string, unknown>) => string> = {
  '50 other keys': (good) => `{${membersOf(good)},${manyKeys(50)}}`,
  'another field of 250 lists within each other': (good) =>
    `{${membersOf(good)},"other":${nested(250)}}`,
  'another field of 500 characters': (good) => JSON.stringify({ ...good, other: 'a '.repeat(250) }),
  // Computed, or it would set the prototype of this table.
  ['__proto__']: (good) => `{${membersOf(good)},"__proto__":{"userId":"polluted","isAdmin":true}}`,
  'constructor.prototype': (good) =>
    `{${membersOf(good)},"constructor":{"prototype":{"userId":"polluted"}}}`,
  'toString and the like': (good) =>
    `{${membersOf(good)},"toString":1,"valueOf":1,"toJSON":1,"then":1,"hasOwnProperty":1}`,
  'the keys of the tables': (good) =>
    JSON.stringify({ ...good, projectId: 'other', endpointHash: 'x', shown: 99, expiresAt: 0 }),
  'half a surrogate pair in another field': (good) => `{${membersOf(good)},"other":"\\ud800"}`,
};

/** What there is of a project, without what differs from one to the next. */
async function stateOf(projectId: string) {
  const { tables } = service.stack.dynamodb;
  const all = await readProjectItems(service.dynamo, tables, projectId);
  const plain = (items: Iterable<object>) =>
    [...items].map((item) => {
      const differing = ['projectId', 'notificationId', 'sentAt', 'createdAt', 'updatedAt'];
      return Object.entries(item).filter(([key]) => ![...differing, 'expiresAt'].includes(key));
    });
  return {
    subscriptions: plain(all.subscriptions.values()).map((one) => one.sort()),
    notifications: plain(all.notifications.values()).map((one) => one.sort()),
    subscribers: all.subscribers,
    months: all.sendsByMonth,
  };
}

describe('a body that is none for its route is refused and changes nothing', () => {
  /** @returns the status; 413 where the body is longer than the route takes. */
  async function refusal(name: RouteWithBody, { bytes, headers = {}, status = 400 }: Body) {
    const before = await contents();
    const answer = await call(name, { body: bytes, headers });
    const isTooLong = Buffer.byteLength(bytes) > limits.bodyBytes[name] && status === 400;
    expect(answer.status).toBe(isTooLong ? 413 : status);
    expect(await contents()).toEqual(before);
  }

  describe.each(Object.entries(refused))('%s', (_, make) => {
    test.each(withBody)('at %s', (name) => refusal(name, make(goodBody(name))));
  });

  test.each(Object.entries(unknownFields))('%s, at send', (_, make) =>
    refusal('send', { bytes: make(goodBody('send')) }),
  );
});

describe('a body with more than its route asks for is taken as one without', () => {
  /** Both bodies, each to a project of its own, leave the same in the tables. */
  async function expectSame(name: RouteWithBody, good: object, other: string) {
    const states = [];
    for (const body of [JSON.stringify(good), other]) {
      const owner = await service.createProject();
      const sent = (await service.send(owner, { title: 'T' })).body.id;
      const { status } = await call(name, {
        parameters: { projectId: owner.projectId, notificationId: sent },
        headers: { authorization: `Bearer ${owner.secretKey}` },
        body,
      });
      expect(status).toBe(name === 'track' ? 200 : 201);
      states.push(await stateOf(owner.projectId));
    }
    expect(states[1]).toEqual(states[0]);
  }

  describe.each(Object.entries(equivalent))('%s', (_, make) => {
    test.each(withBody)('at %s', (name) => {
      const good = goodBody(name);
      return expectSame(name, good, make(good));
    });
  });

  describe.each(Object.entries(unknownFields))('%s', (_, make) => {
    test.each(['subscribe', 'track'] as const)('at %s', (name) => {
      const good = goodBody(name);
      return expectSame(name, good, make(good));
    });
  });
});

test('no body has left anything in the prototypes of the functions', async () => {
  const { projectId, secretKey } = await service.createProject();
  const browser = service.stack.pushService.subscribe();
  await call('subscribe', { parameters: { projectId }, body: { ...browser.toJSON() } });
  const { subscriptions } = await readProjectItems(
    service.dynamo,
    service.stack.dynamodb.tables,
    projectId,
  );
  expect([...subscriptions.values()].map(({ userId }) => userId)).toEqual([undefined]);
  const headers = { authorization: `Bearer ${secretKey}` };
  const { status } = await call('send', { parameters: { projectId }, headers, body: {} });
  expect(status).toBe(400);
});

describe('a line break in a field reaches no header, neither of an answer nor of a push', () => {
  const injection = 'x\r\nX-Injected: injected\r\n\r\ninjected';
  const encoded = encodeURIComponent(injection);
  const fields: [string, RouteName, () => Partial<CallOptions>][] = [
    ['endpoint', 'subscribe', () => ({ body: { ...goodBody('subscribe'), endpoint: injection } })],
    [
      'endpoint of a push service',
      'subscribe',
      () => ({
        body: {
          ...goodBody('subscribe'),
          endpoint: `${service.stack.pushService.origin}/push/${injection}`,
        },
      }),
    ],
    ...['p256dh', 'auth'].map((key): (typeof fields)[number] => [
      key,
      'subscribe',
      () => {
        const { endpoint, keys } = service.stack.pushService.subscribe().toJSON();
        return { body: { endpoint, keys: { ...keys, [key]: injection } } };
      },
    ]),
    ['userId', 'subscribe', () => ({ body: { ...goodBody('subscribe'), userId: injection } })],
    ['endpoint', 'unsubscribe', () => ({ query: `?endpoint=${encoded}` })],
    [
      'endpoint of a push service',
      'unsubscribe',
      () => ({ query: `?endpoint=https://fcm.googleapis.com/${encoded}` }),
    ],
    ...['title', 'body', 'url', 'icon', 'image', 'badge'].map((field): (typeof fields)[number] => [
      field,
      'send',
      () => ({ body: { title: 'T', [field]: injection } }),
    ]),
    ...['url', 'icon', 'image', 'badge'].map((field): (typeof fields)[number] => [
      `${field} on the web`,
      'send',
      () => ({ body: { title: 'T', [field]: `https://example.com/${injection}` } }),
    ]),
    ['userIds', 'send', () => ({ body: { title: 'T', userIds: [injection] } })],
    ['a user id that is subscribed', 'send', () => ({ body: { title: 'T', userIds: ['u'] } })],
    ['type', 'track', () => ({ body: { type: injection } })],
    ...(['subscribe', 'unsubscribe', 'send', 'track'] as const).flatMap((name): typeof fields => [
      ['projectId', name, () => ({ parameters: { projectId: injection, notificationId } })],
      ['a name in the query', name, () => ({ query: `?${encoded}=${encoded}` })],
      ['content type', name, () => ({ headers: { 'content-type': 'injected/x' } })],
      ['origin', name, () => ({ headers: { origin: 'https://injected.example' } })],
      ['host', name, () => ({ headers: { 'x-forwarded-host': 'injected.example' } })],
      [
        'preflight',
        name,
        () => ({
          headers: {
            'access-control-request-method': 'injected',
            'access-control-request-headers': 'injected',
          },
        }),
      ],
      ['request id', name, () => ({ headers: { 'x-amzn-trace-id': 'injected' } })],
    ]),
    [
      'notificationId',
      'track',
      () => ({ parameters: { projectId: project.projectId, notificationId: injection } }),
    ],
    ['idempotency key', 'send', () => ({ headers: { 'idempotency-key': 'injected' } })],
  ];

  test.each(fields)('%s of %s', async (_, name, request) => {
    const listener = await service.subscribe(project, 'u');
    const body = name === 'unsubscribe' ? undefined : goodBody(name);
    const { status, headers } = await call(name, { ...(body && { body }), ...request() });
    expect(status).toBeLessThan(500);
    for (const [header, value] of headers) {
      expect(answerHeaders).toContain(header);
      expect(value).not.toMatch(/injected/i);
    }
    await service.send(project, { title: 'T', userIds: ['u'] });
    for (const { headers: pushed } of listener.messages) {
      expect(new Set(Object.keys(pushed))).toEqual(pushHeaders);
      expect(Object.values(pushed).join()).not.toMatch(/injected/i);
    }
    expect(listener.messages.length).toBeGreaterThan(0);
  });
});

/** All the headers that an answer may have. */
const answerHeaders = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'apigw-requestid',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'retry-after',
  'vary',
  'www-authenticate',
];

/** All the headers that a push has. */
const pushHeaders = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'ttl',
]);
