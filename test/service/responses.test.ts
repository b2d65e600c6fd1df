import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { ErrorBody, ErrorCode } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import {
  type ApiResponse,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
let notificationId: string;

beforeAll(async () => {
  service = await startService();
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});
afterAll(() => service.stop());

const origin = 'https://shop.example.com';

function subscriptionBody(overrides: object = {}) {
  return { ...service.stack.pushService.subscribe().toJSON(), ...overrides };
}

interface Request {
  readonly parameters?: Record<string, string>;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object | string | Buffer;
  readonly address?: string;
}

/** A request of this route that would be accepted, but for what is given. */
function call(name: RouteName, request: Request = {}): Promise<ApiResponse<ErrorBody>> {
  const defaults = {
    subscribe: { body: subscriptionBody() },
    unsubscribe: { query: '?endpoint=https%3A%2F%2Ffcm.googleapis.com%2Fx' },
    send: { body: { title: 'T' }, headers: { authorization: `Bearer ${project.secretKey}` } },
    track: { body: { type: 'shown' } },
  }[name] as Request;
  const parameters = { projectId: project.projectId, notificationId, ...request.parameters };
  const headers = { origin, ...defaults.headers, ...request.headers };
  return service.call(routes[name], { ...defaults, ...request, parameters, headers });
}

/** All that the tables hold, rate limits aside. */
async function contents() {
  const { RATE_LIMITS_TABLE, ...tables } = service.stack.dynamodb.tables;
  return Promise.all(
    Object.values(tables).map(async (TableName) => {
      const { Items = [] } = await service.dynamo.send(new ScanCommand({ TableName }));
      return Items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
    }),
  );
}

const everyRoute: RouteName[] = ['subscribe', 'unsubscribe', 'send', 'track'];
const withBody = ['subscribe', 'send', 'track'] as const;
const fromBrowsers: RouteName[] = ['subscribe', 'unsubscribe', 'track'];

describe('a refused request changes nothing and says what to do', () => {
  const refusals: [string, RouteName, () => Request, number, ErrorCode][] = [
    ...withBody.flatMap((name): typeof refusals => [
      [`${name}: no JSON`, name, () => ({ body: '{"title":' }), 400, 'invalid_json'],
      [`${name}: no body`, name, () => ({ body: '' }), 400, 'invalid_json'],
      [`${name}: null`, name, () => ({ body: 'null' }), 400, 'invalid_request'],
      [`${name}: a list`, name, () => ({ body: '[]' }), 400, 'invalid_request'],
      [`${name}: a text`, name, () => ({ body: '"title"' }), 400, 'invalid_request'],
      [`${name}: no field`, name, () => ({ body: {} }), 400, 'invalid_request'],
      [
        `${name}: another media type`,
        name,
        () => ({ headers: { 'content-type': 'text/plain' } }),
        415,
        'unsupported_media_type',
      ],
      [
        `${name}: a form`,
        name,
        () => ({
          body: 'title=T',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
        415,
        'unsupported_media_type',
      ],
    ]),
    ...fromBrowsers.flatMap((name): typeof refusals =>
      ['no-such-project', 'Upper', '-dash', 'a'.repeat(65), 'ü', '%2e%2e'].map((projectId) => [
        `${name}: project ${projectId}`,
        name,
        () => ({ parameters: { projectId } }),
        404,
        'project_not_found',
      ]),
    ),
    [
      'subscribe: an endpoint elsewhere',
      'subscribe',
      () => ({ body: subscriptionBody({ endpoint: 'https://example.com/push' }) }),
      400,
      'invalid_request',
    ],
    [
      'subscribe: a key that is none',
      'subscribe',
      () => ({ body: subscriptionBody({ keys: { p256dh: 'AAAA', auth: 'AAAA' } }) }),
      400,
      'invalid_request',
    ],
    ['unsubscribe: no endpoint', 'unsubscribe', () => ({ query: '' }), 400, 'invalid_request'],
    [
      'unsubscribe: no URL',
      'unsubscribe',
      () => ({ query: '?endpoint=x' }),
      400,
      'invalid_request',
    ],
    ...[{ userId: 'ada' }, { user_ids: ['ada'] }, { users: ['ada'] }, { silent: true }].map(
      (field): (typeof refusals)[number] => [
        `send: the unknown field ${Object.keys(field)}`,
        'send',
        () => ({ body: { title: 'T', ...field } }),
        400,
        'invalid_request',
      ],
    ),
    ...withBody.map((name): (typeof refusals)[number] => [
      `${name}: a body over its limit`,
      name,
      () => ({ body: JSON.stringify({ x: 'x'.repeat(limits.bodyBytes[name]) }) }),
      413,
      'payload_too_large',
    ]),
    ['send: nobody', 'send', () => ({ body: { title: 'T', userIds: [] } }), 400, 'invalid_request'],
    [
      'send: too large',
      'send',
      () => ({ body: { title: 'T', body: '€'.repeat(2000) } }),
      413,
      'payload_too_large',
    ],
    ...['', 'Bearer', 'Bearer x', 'Basic abc', `Bearer carillon_sk_${'a'.repeat(43)}`].map(
      (authorization): (typeof refusals)[number] => [
        `send: authorization "${authorization}"`,
        'send',
        () => ({ headers: { authorization } }),
        401,
        'unauthorized',
      ],
    ),
    ...['no-such-project', 'Upper', 'a'.repeat(65)].map((projectId): (typeof refusals)[number] => [
      `send: project ${projectId}`,
      'send',
      () => ({ parameters: { projectId } }),
      401,
      'unauthorized',
    ]),
    ['track: another type', 'track', () => ({ body: { type: 'closed' } }), 400, 'invalid_request'],
    ...[randomUUID(), 'x', '%00', '{}'].map((id): (typeof refusals)[number] => [
      `track: notification ${id}`,
      'track',
      () => ({ parameters: { notificationId: id } }),
      404,
      'notification_not_found',
    ]),
  ];

  test.each(refusals)('%s', async (_, name, request, status, code) => {
    const before = await contents();
    const answer = await call(name, request());
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
    expect(answer.body.error.message).toMatch(/^.{10,200}$/);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(Array.isArray(answer.body.error.issues)).toBe(code === 'invalid_request');
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(await contents()).toEqual(before);
  });

  test('names each wrong field', async () => {
    const { body } = await call('subscribe', { body: { endpoint: 7, keys: { auth: '' } } });
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

  test('names each unknown field of send, with the one that was probably meant', async () => {
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
          message:
            'is not a field of this request; the fields are title, body, url, icon, image, badge, userIds',
        },
      ],
    });
    expect(await service.usage(project.projectId)).toMatchObject({ sends });
    expect(browser.messages).toEqual([]);
  });

  test('names ten of the unknown fields of a body, and shortens their names', async () => {
    const fields = Array.from({ length: 1000 }, (_, index) => [`${'x'.repeat(100)}${index}`, 1]);
    const { body } = await call('send', { body: { title: 'T', ...Object.fromEntries(fields) } });
    expect(body.error.issues).toHaveLength(10);
    expect(body.error.issues![0]!.path).toBe('x'.repeat(64));
  });

  test('a key of another project is as wrong as any', async () => {
    const other = await service.createProject();
    const { status, body } = await call('send', {
      headers: { authorization: `Bearer ${other.secretKey}` },
    });
    const unknown = await call('send', { parameters: { projectId: 'no-such-project' } });
    expect(status).toBe(401);
    expect(body).toEqual(unknown.body);
  });
});

describe('the bearer scheme', () => {
  test.each(['bearer', 'BEARER'])('may be written "%s"', async (scheme) => {
    const authorization = `${scheme} ${project.secretKey}`;
    expect((await call('send', { headers: { authorization } })).status).toBe(201);
  });
});

describe('content type', () => {
  test.each(['application/json; charset=utf-8', 'Application/JSON'])(
    'may be "%s"',
    async (type) => {
      const answer = await call('track', { headers: { 'content-type': type } });
      expect(answer.status).toBe(200);
    },
  );
});

describe('CORS', () => {
  test.each(fromBrowsers)('%s lets every origin in, on success and on error', async (name) => {
    const good = await call(name);
    const bad = await call(name, { parameters: { projectId: 'no-such-project' } });
    expect([good.status, bad.status]).toEqual([name === 'subscribe' ? 201 : 200, 404]);
    for (const { headers } of [good, bad]) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toBe('Retry-After');
    }
  });

  test.each([
    ['subscribe', 'POST, DELETE'],
    ['unsubscribe', 'POST, DELETE'],
    ['track', 'POST'],
  ] as const)(
    'the preflight of %s admits %s with a JSON body, for two hours',
    async (name, methods) => {
      const answer = await service.call(
        { ...routes[name], method: 'OPTIONS' as 'POST' },
        {
          parameters: { projectId: project.projectId, notificationId },
          headers: { origin, 'access-control-request-method': routes[name].method },
        },
      );
      expect(answer.status).toBe(204);
      expect(answer.body).toBeUndefined();
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': methods,
        'access-control-allow-headers': 'Content-Type',
        'access-control-max-age': '7200',
      });
    },
  );

  test('send lets no browser in', async () => {
    const preflight = await service.call(
      { ...routes.send, method: 'OPTIONS' as 'POST' },
      { parameters: { projectId: project.projectId }, headers: { origin } },
    );
    expect(preflight.status).toBe(404);
    for (const { headers } of [preflight, await call('send')]) {
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('the rate limit', () => {
  const minute = () => Math.floor(Date.now() / 60_000);

  /** Runs a test anew where the minute, which is what is counted in, ended in the middle of it. */
  async function withinOneMinute<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      const begun = minute();
      const result = await run();
      if (minute() === begun) return result;
    }
  }

  /** The statuses of 61 requests, and the last answer. */
  async function requests(name: RouteName, request: Request) {
    const statuses: number[] = [];
    for (;;) {
      const answer = await call(name, request);
      statuses.push(answer.status);
      if (statuses.length === 61) return { statuses, last: answer };
    }
  }

  test.each(everyRoute)('of %s refuses the 61st request of a minute first', async (name) => {
    const address = '198.51.100.7';
    const { statuses, last, elsewhere } = await withinOneMinute(async () => {
      const { projectId, secretKey } = await service.createProject();
      const headers = { authorization: `Bearer ${secretKey}` };
      const request = { parameters: { projectId }, headers };
      const counted = await requests(name, { ...request, address });
      return { ...counted, elsewhere: await call(name, { ...request, address: '198.51.100.8' }) };
    });
    expect(statuses.indexOf(429)).toBe(60);
    expect(last.body.error.code).toBe('rate_limited');
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(last.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(elsewhere.status).not.toBe(429);
  });

  test('of a wrong key is the same for a project and for none', async () => {
    const headers = { authorization: `Bearer carillon_sk_${'a'.repeat(43)}` };
    const { projectId } = await service.createProject({ rateLimitPerMinute: null });
    for (const [index, id] of [projectId, 'no-such-project'].entries()) {
      let tries = 0;
      const { statuses } = await withinOneMinute(() => {
        tries += 1;
        const address = `198.51.${index}.${tries}`;
        return requests('send', { parameters: { projectId: id }, headers, address });
      });
      expect(statuses).toEqual([...Array(60).fill(401), 429]);
    }
  });
});

describe('caps', () => {
  test('the subscriber cap refuses a new endpoint and lets a known one update', async () => {
    const owner = await service.createProject({ subscriberCap: 1 });
    const known = await service.subscribe(owner);
    const parameters = { projectId: owner.projectId };
    const refused = await call('subscribe', { parameters });
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe('subscriber_cap_reached');
    const updated = await call('subscribe', {
      parameters,
      body: { ...known.toJSON(), userId: 'u' },
    });
    expect(updated.status).toBe(201);
  });

  test('the monthly cap refuses until the next month', async () => {
    const owner = await service.createProject({ monthlySendCap: 2 });
    expect((await service.send(owner, { title: 'T' })).status).toBe(201);
    expect((await service.send(owner, { title: 'T' })).status).toBe(201);
    const refused = await service.send(owner, { title: 'T' });
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: 'send_cap_reached' } });
    const retryAfter = Number(refused.headers.get('retry-after'));
    const now = new Date();
    const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000;
    expect(Math.abs(now.getTime() / 1000 + retryAfter - nextMonth)).toBeLessThan(5);
    expect(await service.usage(owner.projectId)).toMatchObject({ sends: 2 });
  });
});

test('an address that is no route is the gateway’s own 404', async () => {
  const response = await fetch(`${service.stack.baseUrl}/api/v2/projects/x`);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ message: 'Not Found' });
});
