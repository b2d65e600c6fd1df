import { gzipSync } from 'node:zlib';
import { limits } from '../../contract/wire/limits.ts';
import { type RouteName, routes } from '../../contract/wire/routes.ts';
import { readTables } from '../fixtures/read-table.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  useService,
} from '../fixtures/service.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import { type RouteWithBody, routesWithBody, validBody } from './fixtures/valid-body.ts';

interface HostileBody {
  readonly bytes: Buffer | string;
  readonly headers?: Record<string, string>;
  /** Expected status at a route whose limit the body is within; 400 by default. */
  readonly status?: number;
}

const megabyte = 1024 * 1024;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const manyKeys = (count: number) =>
  Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join();
/** JSON of an object, without its braces. */
const membersOf = (body: object) => JSON.stringify(body).slice(1, -1);

/** Invalid bodies, made from a valid one. */
const invalidBodies: Record<string, (valid: Record<string, unknown>) => HostileBody> = {
  // The gateway's limit.
  'over 10 MB': () => ({ bytes: Buffer.alloc(10 * megabyte + 1, ' '), status: 413 }),
  // Within it, but over Lambda's 6 MB for an event.
  '10 MB': () => ({ bytes: Buffer.alloc(10 * megabyte, ' '), status: 413 }),
  // Within that, but over the limit of each route.
  '5 MB': () => ({ bytes: Buffer.alloc(5 * megabyte, ' ') }),
  '500,000 nested lists': () => ({ bytes: nested(500_000) }),
  'a field of 100,000 nested lists': (valid) => ({
    bytes: JSON.stringify(fill(valid, 0)).replace('0', nested(100_000)),
  }),
  '500 nested lists': () => ({ bytes: nested(500) }),
  '100,000 unknown fields only': () => ({ bytes: `{${manyKeys(100_000)}}` }),
  '50 unknown fields only': () => ({ bytes: `{${manyKeys(50)}}` }),
  'a list of 100,000 objects': () => ({ bytes: JSON.stringify(Array(100_000).fill({})) }),
  'an escaped lone surrogate': (valid) => ({
    bytes: JSON.stringify(fill(valid, 'SURROGATE')).replace('SURROGATE', '\\ud800'),
  }),
  'a reversed surrogate pair': (valid) => ({
    bytes: JSON.stringify(fill(valid, 'SURROGATE')).replace('SURROGATE', '\\udc00\\ud800'),
  }),
  'the fields in __proto__': (valid) => ({
    bytes: `{"__proto__":${JSON.stringify(valid)}}`,
  }),
  'the fields in constructor.prototype': (valid) => ({
    bytes: `{"constructor":{"prototype":${JSON.stringify(valid)}}}`,
  }),
  'duplicate fields, the invalid ones last': (valid) => ({
    bytes: `{${membersOf(valid)},${membersOf(fill(valid, 7))}}`,
  }),
  'UTF-16': (valid) => ({ bytes: Buffer.from(JSON.stringify(valid), 'utf16le') }),
  'UTF-16 with its charset': (valid) => ({
    bytes: Buffer.from(JSON.stringify(valid), 'utf16le'),
    headers: { 'content-type': 'application/json; charset=utf-16le' },
    status: 415,
  }),
  gzip: (valid) => ({
    bytes: gzipSync(JSON.stringify(valid)),
    headers: { 'content-encoding': 'gzip' },
  }),
  'gzip of 100 MB': () => ({
    bytes: gzipSync(Buffer.alloc(100 * megabyte, ' ')),
    headers: { 'content-encoding': 'gzip' },
  }),
  'a NUL at the end': (valid) => ({ bytes: `${JSON.stringify(valid)}\0` }),
  'a NUL between tokens': (valid) => ({
    bytes: JSON.stringify(valid).replace(':', ':\0'),
  }),
  'NULs only': () => ({ bytes: Buffer.alloc(1000) }),
  'two JSON documents': (valid) => ({
    bytes: JSON.stringify(valid) + JSON.stringify(valid),
  }),
  'a comment': (valid) => ({ bytes: `/* */${JSON.stringify(valid)}` }),
  NaN: (valid) => ({
    bytes: JSON.stringify(fill(valid, 0)).replace('0', 'NaN'),
  }),
  'a number over the maximum': (valid) => ({
    bytes: JSON.stringify(fill(valid, 0)).replace('0', '1e999'),
  }),
  'a multipart form': (valid) => ({
    bytes: `--x\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(valid)}\r\n--x--`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    status: 415,
  }),
  'two media types': (valid) => ({
    bytes: JSON.stringify(valid),
    headers: { 'content-type': 'application/json, text/plain' },
    status: 415,
  }),
  'a media type with a longer name': (valid) => ({
    bytes: JSON.stringify(valid),
    headers: { 'content-type': 'application/jsonp' },
    status: 415,
  }),
};

/** Sets the field that each route requires. */
function fill(valid: Record<string, unknown>, value: unknown): Record<string, unknown> {
  const [field = ''] = ['endpoint', 'title', 'type'].filter((name) => name in valid);
  return { ...valid, [field]: value };
}

/** Other spellings of the same JSON. */
const equivalentBodies: Record<string, (valid: Record<string, unknown>) => string> = {
  'duplicate fields, the valid ones last': (valid) =>
    `{${membersOf(fill(valid, 7))},${membersOf(valid)}}`,
  // RFC 8259 §8.1.
  'a byte order mark': (valid) => `\ufeff${JSON.stringify(valid)}`,
  'whitespace around the document': (valid) => `${' '.repeat(500)}${JSON.stringify(valid)}\r\n\t`,
};

/** Valid bodies with unknown fields, which subscribe and track ignore and send refuses. */
const unknownFields: Record<string, (valid: Record<string, unknown>) => string> = {
  '50 unknown fields': (valid) => `{${membersOf(valid)},${manyKeys(50)}}`,
  'an unknown field of 250 nested lists': (valid) => `{${membersOf(valid)},"other":${nested(250)}}`,
  'an unknown field of 500 characters': (valid) =>
    JSON.stringify({ ...valid, other: 'a '.repeat(250) }),
  // A computed key: a plain one would set the prototype of this object.
  ['__proto__']: (valid) =>
    `{${membersOf(valid)},"__proto__":{"userId":"polluted","isAdmin":true}}`,
  'constructor.prototype': (valid) =>
    `{${membersOf(valid)},"constructor":{"prototype":{"userId":"polluted"}}}`,
  'names of methods': (valid) =>
    `{${membersOf(valid)},"toString":1,"valueOf":1,"toJSON":1,"then":1,"hasOwnProperty":1}`,
  'attributes of the tables': (valid) =>
    JSON.stringify({ ...valid, projectId: 'other', endpointHash: 'x', shown: 99, expiresAt: 0 }),
  'a lone surrogate in an unknown field': (valid) => `{${membersOf(valid)},"other":"\\ud800"}`,
};

let project: ProjectCredentials;
let notificationId: string;

const service = useService({ concurrency: 2 });
beforeAll(async () => {
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});

function call(name: RouteName, request: Partial<CallOptions>): Promise<ApiResponse> {
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId },
    ...request,
    headers: { authorization: `Bearer ${project.secretKey}`, ...request.headers },
  });
}

/** Reads the items of a project, without ids and times, and without the hashes that its own key makes. */
async function comparableItems({ ref }: ProjectCredentials) {
  const { tables } = service.stack.dynamodb;
  const all = await readProjectItems(service.dynamo, tables, ref);
  const ignored =
    'id projectRef projectPart endpointHash notificationId leasedBy leasedUntil leaseWrite sentAt createdAt updatedAt expiresAt'.split(
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
