import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { ErrorCode } from '../../contract/wire/errors.ts';
import { limits } from '../../contract/wire/limits.ts';
import { sendSchema } from '../../contract/wire/notification.ts';
import { type RouteName, routes } from '../../contract/wire/routes.ts';
import { readTables } from '../fixtures/read-table.ts';
import { browserRoutes, notificationRoutes, ownerRoutes } from '../fixtures/route-names.ts';
import { type CallOptions, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;
let notificationId: string;

const service = useService();
beforeAll(async () => {
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});

type Overrides = Partial<CallOptions>;

function call(name: RouteName, overrides: Overrides = {}) {
  const parameters = { notificationId, ...overrides.parameters };
  return callWithValidRequest(service, project, name, { ...overrides, parameters });
}

const endpoint = encodeURIComponent('https://updates.push.services.mozilla.com/wpush/v2/a');

/** API Gateway joins the values of a repeated parameter with commas. */
const repeatedParameters: readonly (readonly [RouteName, string])[] = [
  ['unsubscribe', `?endpoint=${endpoint}&endpoint=${endpoint}`],
  ['listNotifications', '?limit=1&limit=2'],
  ['listNotifications', '?cursor=AZNvDopRfD6dUw9dmjx_EA&limit=1&cursor=AZNvDopRfD6dUw9dmjx_EA'],
  ['track', '?tally=0&tally=0'],
  ['getUser', '?userId=ada&userId=bob'],
  ['removeUser', '?userId=ada&user%49d=ada'],
];

/** Of every response: no cache may store it, and no browser takes it for another type or comes back over http. */
const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000',
};

const withBody = ['subscribe', 'send', 'track'] as const;

// One case for each rule. Rules of single fields: test/contract. Hostile input: test/reliability.
describe('a refused request changes nothing and returns an error', () => {
  const refusals: [RouteName, string, Overrides, number, ErrorCode][] = [
    ...withBody.flatMap((name): typeof refusals => [
      [name, 'a body that is not JSON', { body: '{"title":' }, 400, 'invalid_json'],
      [name, 'the body null', { body: 'null' }, 400, 'invalid_request'],
      [name, 'an empty object', { body: {} }, 400, 'invalid_request'],
      [
        name,
        'a body over the limit',
        { body: JSON.stringify({ x: 'x'.repeat(limits.bodyBytes[name]) }) },
        413,
        'payload_too_large',
      ],
      ...[
        ...(name === 'track' ? [] : ['text/plain']),
        'application/x-www-form-urlencoded',
        'application/json; charset=iso-8859-1',
      ].map((type): (typeof refusals)[number] => [
        name,
        `the content type ${type}`,
        { headers: { 'content-type': type } },
        415,
        'unsupported_media_type',
      ]),
    ]),
    ...browserRoutes.flatMap((name) =>
      ['no-such-project', 'Upper', '-dash', 'a'.repeat(65), 'ü', '%2e%2e'].map(
        (projectId): (typeof refusals)[number] => [
          name,
          `the project ${projectId}`,
          { parameters: { projectId } },
          404,
          'project_not_found',
        ],
      ),
    ),
    ['unsubscribe', 'no endpoint', { query: '' }, 400, 'invalid_request'],
    ['unsubscribe', 'an invalid endpoint', { query: '?endpoint=x' }, 400, 'invalid_request'],
    [
      'send',
      'a push message over the limit',
      { body: { title: 'T', body: '€'.repeat(2000) } },
      413,
      'payload_too_large',
    ],
    ...ownerRoutes.flatMap((name) => [
      ...['', 'Bearer', 'Bearer x', 'Basic abc', `Bearer carillon_sk_${'a'.repeat(43)}`].map(
        (authorization): (typeof refusals)[number] => [
          name,
          `the authorization "${authorization}"`,
          { headers: { authorization } },
          401,
          'unauthorized',
        ],
      ),
      ...['no-such-project', 'Upper', 'a'.repeat(65)].map(
        (projectId): (typeof refusals)[number] => [
          name,
          `the project ${projectId}`,
          { parameters: { projectId } },
          401,
          'unauthorized',
        ],
      ),
    ]),
    ['listNotifications', 'an invalid limit', { query: '?limit=0' }, 400, 'invalid_request'],
    ['listNotifications', 'a malformed cursor', { query: '?cursor=x' }, 400, 'invalid_request'],
    ...repeatedParameters.map(([name, query]): (typeof refusals)[number] => [
      name,
      `the query ${query}`,
      { query },
      400,
      'invalid_request',
    ]),
    ['getUser', 'no user id', { query: '' }, 400, 'invalid_request'],
    ['removeUser', 'no user id', { query: '' }, 400, 'invalid_request'],
    ['track', 'an unknown type', { body: { type: 'closed' } }, 400, 'invalid_request'],
    ...['1', 'x'].map((counter): (typeof refusals)[number] => [
      'track',
      `the event counter ${counter}`,
      { query: `?tally=${counter}` },
      404,
      'notification_not_found',
    ]),
    ...notificationRoutes.flatMap((name) =>
      [randomUUID(), 'x', '%00', '{}'].map((id): (typeof refusals)[number] => [
        name,
        `the notification ${id}`,
        { parameters: { notificationId: id } },
        404,
        'notification_not_found',
      ]),
    ),
  ];

  test.each(refusals)('%s: %s', async (name, _, overrides, status, code) => {
    const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
    const { status: actual, headers, body } = await call(name, overrides);
    expect({ status: actual, code: body.error.code }).toEqual({ status, code });
    expect(body.error.message).toMatch(/^.{10,200}$/);
    expect(headers.get('content-type')).toBe('application/json');
    expect(Array.isArray(body.error.issues)).toBe(code === 'invalid_request');
    expect(Object.fromEntries(headers)).toMatchObject(safeHeaders);
    expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
  });
});

test.each(Object.values(routes))('$name: the response has the safe headers', async ({ name }) => {
  const { status, headers } = await call(name);
  expect([200, 201]).toContain(status);
  expect(Object.fromEntries(headers)).toMatchObject(safeHeaders);
});

test('the issues name each invalid field', async () => {
  const { body } = await call('subscribe', { body: { endpoint: null, keys: { auth: '' } } });
  expect(body).toEqual({
    error: {
      code: 'invalid_request',
      message: '"endpoint" must be text of 1 to 2048 characters. There is more; see "issues".',
      issues: [
        { path: 'endpoint', message: 'must be text of 1 to 2048 characters' },
        { path: 'keys.p256dh', message: 'is required' },
        { path: 'keys.auth', message: 'must be base64url of 16 bytes' },
      ],
    },
  });
});

test('the issues name each repeated query parameter', async () => {
  const query = '?limit=1&cursor=a&limit=1&cursor=b';
  expect((await call('listNotifications', { query })).body).toEqual({
    error: {
      code: 'invalid_request',
      message: '"limit" must be given once. There is more; see "issues".',
      issues: [
        { path: 'limit', message: 'must be given once' },
        { path: 'cursor', message: 'must be given once' },
      ],
    },
  });
});

test('a parameter that the route does not have may be repeated', async () => {
  const { status } = await call('getUser', { query: '?userId=ada&x=1&x=2' });
  expect(status).toBe(200);
});

test('the issues name each unknown field of a send, with the most similar field', async () => {
  const browser = await service.subscribe(project);
  const { sends } = await service.usage(project.projectId);
  const { body } = await call('send', {
    body: { title: 'Ada, your result is in', userId: 'ada', colour: 'red' },
  });
  expect(body.error).toEqual({
    code: 'invalid_request',
    message:
      '"userId" is not a field of this request; did you mean "userIds"? There is more; see "issues".',
    issues: [
      { path: 'userId', message: 'is not a field of this request; did you mean "userIds"?' },
      {
        path: 'colour',
        message: `is not a field of this request; the fields are ${Object.keys(sendSchema.shape).join(', ')}`,
      },
    ],
  });
  expect(await service.usage(project.projectId)).toMatchObject({ sends });
  expect(browser.messages).toEqual([]);
});

test('the issues name at most ten unknown fields, cut to 64 characters', async () => {
  const fields = Array.from({ length: 1000 }, (_, index) => [`${'x'.repeat(100)}${index}`, 1]);
  const { body } = await call('send', { body: { title: 'T', ...Object.fromEntries(fields) } });
  expect(body.error.issues).toHaveLength(10);
  expect(body.error.issues![0]!.path).toBe('x'.repeat(64));
});

test.each(ownerRoutes)(
  '%s: another project’s key and an unknown project get the same response; a missing key gets 401',
  async (name) => {
    const other = await service.createProject();
    const { status, body } = await call(name, {
      headers: { authorization: `Bearer ${other.secretKey}` },
    });
    const unknown = await call(name, { parameters: { projectId: 'no-such-project' } });
    expect(status).toBe(401);
    expect([unknown.status, unknown.body]).toEqual([status, body]);
    const missing = await call(name, { headers: { authorization: '' } });
    expect([missing.status, missing.body.error.code]).toEqual([status, body.error.code]);
  },
);

test.each(notificationRoutes)(
  '%s does not find a notification of another project',
  async (name) => {
    const other = await service.createProject();
    const { body: sent } = await service.send(other, { title: 'T' });
    const { status, body } = await call(name, { parameters: { notificationId: sent.id } });
    expect({ status, code: body.error.code }).toEqual({
      status: 404,
      code: 'notification_not_found',
    });
  },
);

test.each(['bearer', 'BEARER'])('the scheme "%s" is accepted', async (scheme) => {
  const authorization = `${scheme} ${project.secretKey}`;
  expect((await call('send', { headers: { authorization } })).status).toBe(201);
});

test.each([
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'Application/JSON',
])('the content type %s is accepted', async (type) => {
  const response = await call('track', { headers: { 'content-type': type } });
  expect(response.status).toBe(200);
});

test('an unknown path gets the 404 of API Gateway', async () => {
  const response = await fetch(`${service.stack.baseUrl}/api/v2/projects/x`);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ message: 'Not Found' });
});

const origin = 'https://shop.example.com';

const callFrom = (name: RouteName, parameters: Record<string, string> = {}) =>
  call(name, { parameters, headers: { origin } });

function preflight(name: RouteName, requestedHeaders = 'content-type') {
  return service.call(
    { ...routes[name], method: 'OPTIONS' as 'POST' },
    {
      parameters: { projectId: project.projectId, notificationId },
      headers: {
        origin,
        'access-control-request-method': routes[name].method,
        'access-control-request-headers': requestedHeaders,
      },
    },
  );
}

test.each([
  ['subscribe', 201],
  ['unsubscribe', 200],
  ['track', 200],
] as const)('%s allows all origins to read responses and errors', async (name, status) => {
  const accepted = await callFrom(name);
  const refused = await callFrom(name, { projectId: 'no-such-project' });
  expect([accepted.status, refused.status]).toEqual([status, 404]);
  for (const { headers } of [accepted, refused]) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe('Retry-After');
  }
});

test.each([
  ['subscribe', 'POST, DELETE'],
  ['unsubscribe', 'POST, DELETE'],
  ['track', 'POST'],
] as const)(
  'the preflight of %s allows %s with any headers, for two hours',
  async (name, methods) => {
    const { status, headers, body } = await preflight(name, 'content-type,sentry-trace, baggage');
    expect(status).toBe(204);
    expect(body).toBeUndefined();
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      // By name too: old browsers do not know the asterisk.
      'access-control-allow-headers': '*, content-type, sentry-trace, baggage',
      'access-control-max-age': '7200',
      vary: 'Access-Control-Request-Headers',
    });
  },
);

test('no response allows credentials such as cookies', async () => {
  for (const { headers } of [await preflight('subscribe'), await callFrom('subscribe')]) {
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  }
});

test('a preflight repeats only the names of headers, and at most 50', async () => {
  const { headers } = await preflight('subscribe', 'x-a, in valid, x:b, <c>, é');
  expect(headers.get('access-control-allow-headers')).toBe('*, x-a');
  const many = Array.from({ length: 60 }, (_, index) => `x-${index}`);
  const { headers: ofMany } = await preflight('subscribe', many.join());
  expect(ofMany.get('access-control-allow-headers')).toBe(['*', ...many.slice(0, 50)].join(', '));
});

test('browsers may call only what needs no secret key', () => {
  expect(browserRoutes).toEqual(['subscribe', 'unsubscribe', 'track']);
});

// The preflight of getProject's path is that of subscribe.
test.each(ownerRoutes.filter((name) => name !== 'getProject'))(
  '%s allows no origin',
  async (name) => {
    const refused = await preflight(name);
    expect(refused.status).toBe(404);
    for (const { headers } of [refused, await callFrom(name)]) {
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  },
);

test('getProject allows no origin to read it', async () => {
  const { headers } = await callFrom('getProject');
  expect(headers.get('access-control-allow-origin')).toBeNull();
  const { headers: preflightHeaders } = await preflight('getProject');
  expect(preflightHeaders.get('access-control-allow-methods')).toBe('POST, DELETE');
});

/** Without the decompression of `fetch`. */
async function get(path: string) {
  const sent = request(service.stack.baseUrl + path).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

test('the deployed bundle serves a page whose files exist, compressed for everybody', async () => {
  const page = await get('/console');
  expect(page).toMatchObject({
    status: 200,
    headers: {
      'content-encoding': 'gzip',
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    },
  });
  const html = gunzipSync(page.body).toString();
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file!);
  const loaded = files.filter((file) => !file.startsWith('data:'));
  expect(loaded.length).toBeGreaterThanOrEqual(2);
  for (const file of loaded) {
    expect(file).toMatch(/^\/console\/[\w-]+-[\w-]{8}\.\w+$/);
    expect(await get(file)).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
  }
});

test('the whole page is below 250 kB, compressed', async () => {
  const page = await get('/console');
  const html = gunzipSync(page.body).toString();
  const files = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file]) => file!);
  const sizes = await Promise.all(files.map(async (file) => (await get(file)).body.length));
  const total = sizes.reduce((sum, size) => sum + size, page.body.length);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(250_000);
});
