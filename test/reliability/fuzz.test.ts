import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { type ErrorCode, errorTable } from '../../contract/errors.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { RateLimitItem } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { damage, type Mutation, type Plan, plan } from './fixtures/fuzzing.ts';
import { readProjectItems } from './fixtures/owned-tables.ts';
import { ProjectModel } from './fixtures/project-model.ts';
import {
  closeConnections,
  type RawAnswer,
  type RawRequest,
  sendable,
  sendBytes,
  sendRaw,
} from './fixtures/raw-request.ts';
import { seed } from './fixtures/seed.ts';

/** Each has a project of its own and sends one request after the other. */
const clients = 4;
const requestsEach = 2600;
const rawRequests = 2000;

const browsersEach = 10;
const cap = 12;

let service: Service;

beforeAll(async () => {
  service = await startService({ concurrency: 2, throttled: false });
});
afterAll(async () => {
  closeConnections();
  await service.stop();
});

let addresses = 0;

/** Another for each request, so that the rate limit does not hide what is behind it. */
function nextAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

test('no generated request is answered by a 5xx, and none changes a table otherwise than the API’s document says', async () => {
  const before = await everything('PROJECTS_TABLE');
  const models = await Promise.all(Array.from({ length: clients }, fuzz));
  for (const model of models) {
    const { tables } = service.stack.dynamodb;
    model.expectMatches(await readProjectItems(service.dynamo, tables, model.owner.projectId));
  }

  // And nothing lies where no model looks.
  const ids = new Set(models.map(({ owner }) => owner.projectId));
  for (const table of ['SUBSCRIPTIONS_TABLE', 'NOTIFICATIONS_TABLE', 'USAGE_TABLE'] as const) {
    const foreign = (await everything(table)).filter(
      ({ projectId }) => !ids.has(String(projectId)),
    );
    expect(foreign).toEqual([]);
  }
  const projects = await everything('PROJECTS_TABLE');
  expect(projects).toHaveLength(before.length + clients);
  const rates = (await everything('RATE_LIMITS_TABLE')) as unknown as RateLimitItem[];
  for (const { bucket, hits } of rates) {
    const [projectId = '', action = '', address = '', minute, ...rest] = bucket.split('#');
    expect(ids.has(projectId) || projectId === '-').toBe(true);
    expect(Object.keys(routes)).toContain(action);
    expect(address).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect([hits, minute, rest]).toEqual([1, expect.stringMatching(/^\d+$/), []]);
  }
  expect(rates.length).toBeLessThanOrEqual(clients * requestsEach);
});

/** Makes a project and sends generated requests to it. @returns what must have become of it. */
async function fuzz(_: unknown, client: number): Promise<ProjectModel> {
  const owner = await service.createProject({ subscriberCap: cap, monthlySendCap: null });
  const { applicationServerKey } = owner;
  const browsers = Array.from({ length: browsersEach }, () =>
    service.stack.pushService.subscribe({ applicationServerKey }),
  );
  const gone = browsers.slice(0, 2);
  for (const browser of gone) browser.unsubscribe();
  const model = new ProjectModel(owner, browsers, gone, cap);
  const plans = fc.sample(plan, { seed: seed + client, numRuns: requestsEach });
  let accepted = 0;
  for (const [index, one] of plans.entries()) {
    const request = sendable(one.mutations.reduce(mutated, requestOf(one, model, browsers)));
    const answer = await sendRaw(service.stack.baseUrl, request);
    try {
      expectWellAnswered(request, answer);
      if (one.mutations.length === 0) expect([200, 201, 403, 409, 422]).toContain(answer.status);
      model.apply(request, answer);
    } catch (error) {
      throw new Error(
        `Request ${index} of client ${client}: ${shown(request)}\n${answer.status} ${answer.text}`,
        {
          cause: error,
        },
      );
    }
    if (answer.status < 300) accepted += 1;
  }
  // Or the model would have had nothing to predict.
  expect(accepted).toBeGreaterThan(requestsEach / 10);
  return model;
}

/** A request that is accepted as it is. */
function requestOf(
  { route, pick, userId, title, idempotencyKey }: Plan,
  model: ProjectModel,
  browsers: readonly SimulatedBrowser[],
): RawRequest {
  const { projectId, secretKey } = model.owner;
  const browser = browsers[pick % browsers.length]!;
  const sent = [...model.notifications.keys()];
  const notificationId = sent[pick % sent.length] ?? randomUUID();
  const bodies = {
    subscribe: { ...browser.toJSON(), userId },
    unsubscribe: undefined,
    send: { title, ...(userId !== undefined && { userIds: [userId, 'u1'] }) },
    // Until there is one, there is nothing to report of.
    track: { type: pick % 2 === 0 ? 'shown' : 'clicked' },
  };
  const name = route === 'track' && sent.length === 0 ? 'send' : route;
  const body = bodies[name];
  const query = name === 'unsubscribe' ? `?endpoint=${encodeURIComponent(browser.endpoint)}` : '';
  return {
    method: routes[name].method,
    path: pathOf(routes[name], { projectId, notificationId }) + query,
    headers: {
      'x-forwarded-for': nextAddress(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(name === 'send' && { authorization: `Bearer ${secretKey}` }),
      ...(name === 'send' && idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
}

function mutated(request: RawRequest, mutation: Mutation): RawRequest {
  const { path, headers, body } = request;
  switch (mutation.kind) {
    case 'method':
      return { ...request, method: mutation.method };
    case 'segment': {
      const segments = path.split('/');
      segments[1 + (mutation.index % (segments.length - 1))] = mutation.text;
      return { ...request, path: segments.join('/') };
    }
    case 'path':
      return { ...request, path: editedPath(path, mutation.edit) };
    case 'query':
      return { ...request, path: path + mutation.text };
    case 'header': {
      const { [mutation.name]: _, ...others } = headers;
      const { name, value } = mutation;
      return { ...request, headers: value === undefined ? others : { ...others, [name]: value } };
    }
    case 'field':
    case 'drop': {
      const value = mutation.kind === 'drop' ? undefined : mutation.value;
      return { ...request, body: withField(body, mutation.path.split('.'), value) };
    }
    case 'body':
      return { ...request, body: Buffer.from(JSON.stringify(mutation.value)) };
    case 'bytes':
      return { ...request, body: spliced(body, mutation) };
  }
}

function editedPath(path: string, edit: (Mutation & { kind: 'path' })['edit']): string {
  switch (edit) {
    case 'append':
      return `${path}/events`;
    case 'prepend':
      return `/x${path}`;
    case 'double':
      return path.replaceAll('/', '//');
    case 'slash':
      return `${path}/`;
    case 'encode':
      return path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  }
}

/** The body with one field set, or dropped where there is no value; what is no object stays. */
function withField(body: Buffer, [name = '', inner]: string[], value: unknown): Buffer {
  let object: unknown;
  try {
    object = JSON.parse(body.toString());
  } catch {
    return body;
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return body;
  const members = Object.entries(object).filter(([key]) => key !== name);
  const before = (object as Record<string, unknown>)[name];
  const stated = inner === undefined ? value : { ...(before as object), [inner]: value };
  // From entries: an assignment of __proto__ would set the prototype.
  return Buffer.from(JSON.stringify(Object.fromEntries([...members, [name, stated]])));
}

interface Splice {
  readonly at: number;
  readonly remove: number;
  readonly add: Uint8Array;
}

function spliced(bytes: Buffer, { at, remove, add }: Splice): Buffer {
  const start = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, start), add, bytes.subarray(start + remove)]);
}

/** Below 500, and of the one form that answers have. */
function expectWellAnswered({ method }: RawRequest, { status, headers, text }: RawAnswer): void {
  expect(status).toBeLessThan(500);
  expect(status).toBeGreaterThanOrEqual(200);
  if (text === '') {
    // HEAD has no body, and no other answer is without but a preflight's and a parser's refusal.
    const refusals = [400, 431, ...(method === 'HEAD' ? [404, 413] : [])];
    expect([204, ...refusals]).toContain(status);
    return;
  }
  expect(headers['content-type']).toBe('application/json');
  const { error } = JSON.parse(text) as { error?: { code: ErrorCode } };
  if (error !== undefined) expect(errorTable[error.code]?.status).toBe(status);
}

function shown({ method, path, headers, body }: RawRequest): string {
  return `${method} ${path}\n${JSON.stringify(headers)}\n${body.toString().slice(0, 2000)}`;
}

/** All items of a table. */
async function everything(
  table: keyof Service['stack']['dynamodb']['tables'],
): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await service.dynamo.send(
      new ScanCommand({
        TableName: service.stack.dynamodb.tables[table],
        ExclusiveStartKey: from,
      }),
    );
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

test('no bytes on a connection are answered by a 5xx, and none change a table', async () => {
  const { projectId } = await service.createProject();
  const changeable = [
    'PROJECTS_TABLE',
    'VAPID_KEYS_TABLE',
    'SUBSCRIPTIONS_TABLE',
    'NOTIFICATIONS_TABLE',
    'USAGE_TABLE',
  ] as const;
  const contents = () => Promise.all(changeable.map(everything));
  const before = await contents();
  const requests = harmlessRequests(projectId).map((text) => Buffer.from(text));
  const damages = fc.sample(damage, { seed, numRuns: rawRequests });
  let next = 0;
  const one = async () => {
    while (next < damages.length) {
      const index = next++;
      const bytes = damages[index]!.reduce(spliced, requests[index % requests.length]!);
      const statuses = await sendBytes(service.stack.baseUrl, bytes);
      const wrong = statuses.filter((status) => status >= 500);
      if (wrong.length > 0)
        throw new Error(`${wrong} to ${JSON.stringify(bytes.toString('latin1'))}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  expect(await contents()).toEqual(before);
});

/** Requests of which none, accepted or not, changes anything. */
function harmlessRequests(projectId: string): string[] {
  const path = `/api/v1/projects/${projectId}`;
  const stranger = { endpoint: 'https://push.example.com/x', keys: { p256dh: 'x', auth: 'x' } };
  return [
    ['POST', path, stranger],
    ['DELETE', `${path}?endpoint=${encodeURIComponent('https://push.example.com/x')}`],
    ['POST', `${path}/notifications`, { title: 'T' }],
    ['POST', `${path}/notifications/${randomUUID()}/events`, { type: 'shown' }],
    ['OPTIONS', path],
  ].map(([method, target, body]) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    return [
      `${method} ${target} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/json',
      `Authorization: Bearer carillon_sk_${'a'.repeat(43)}`,
      `X-Forwarded-For: ${nextAddress()}`,
      `Content-Length: ${text.length}`,
      '',
      text,
    ].join('\r\n');
  });
}
