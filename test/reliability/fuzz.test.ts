import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { TableVariable } from '../../contract/infrastructure/tables.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { type ErrorCode, errorTable } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import { cursorOf } from '../../lambdas/list-notifications/list-notifications.ts';
import type { RateLimitItem } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { readTable } from '../fixtures/read-table.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { AcceptedRequests } from './fixtures/accepted-requests.ts';
import type { DocumentedRequest } from './fixtures/documented-request.ts';
import { type GeneratedRequest, generatedRequest } from './fixtures/generated-request.ts';
import { damage } from './fixtures/mutation.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import {
  closeConnections,
  type RawRequest,
  type RawResponse,
  sendable,
  sendBytes,
  sendRaw,
} from './fixtures/raw-request.ts';
import { seed } from './fixtures/seed.ts';

/** Concurrent clients. Each has its own project and sends its requests in sequence. */
const clients = 4;
const requestsPerClient = 2600;
const rawRequests = 2000;

const browsersPerClient = 10;
const subscriberCap = 12;

let service: Service;

beforeAll(async () => {
  service = await startService({ concurrency: 2, throttled: false });
});
afterAll(async () => {
  closeConnections();
  await service.stop();
});

let addresses = 0;

/** A new address for each request, so that the rate limit refuses none. */
function nextAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

const read = (table: TableVariable) =>
  readTable(service.dynamo, service.stack.dynamodb.tables[table]);

test('generated requests never return 5xx, and only what was accepted is stored', async () => {
  const before = await read('PROJECTS_TABLE');
  const all = await Promise.all(Array.from({ length: clients }, fuzz));
  for (const accepted of all) {
    const { tables } = service.stack.dynamodb;
    const items = await readProjectItems(service.dynamo, tables, accepted.owner.ref);
    accepted.expectMatches(items, subscriberCap);
  }

  // No request wrote to another project.
  const ids = new Set(all.map(({ owner }) => owner.projectId));
  const owners = new Set<string>(all.map(({ owner }) => owner.ref));
  const sent = new Set(all.flatMap(({ notifications }) => [...notifications.keys()]));
  const owned = [
    'SUBSCRIPTIONS_TABLE',
    'NOTIFICATIONS_TABLE',
    'DELIVERIES_TABLE',
    'USAGE_TABLE',
  ] as const;
  for (const table of owned) {
    const foreign = (await read(table)).filter(({ projectRef, projectPart, id }) => {
      const [owner] = String(projectRef ?? projectPart).split('#');
      const [notificationId] = String(id).split('/');
      return !owners.has(owner!) && !sent.has(notificationId!);
    });
    expect(foreign).toEqual([]);
  }
  const projects = await read('PROJECTS_TABLE');
  expect(projects).toHaveLength(before.length + clients);
  const counted = (await read('RATE_LIMITS_TABLE')) as unknown as RateLimitItem[];
  // Beside the counts, the key of the day.
  const rates = counted.filter(({ bucket }) => !bucket.startsWith('key#'));
  for (const { bucket, hits } of rates) {
    const [projectId = '', route = '', addressHash = '', minute, ...rest] = bucket.split('#');
    expect(ids.has(projectId) || projectId === '-').toBe(true);
    expect(Object.keys(routes)).toContain(route);
    expect(addressHash).toMatch(/^[\w-]{43}$/);
    expect([hits, minute, rest]).toEqual([1, expect.stringMatching(/^\d+$/), []]);
  }
  expect(rates.length).toBeLessThanOrEqual(clients * requestsPerClient);
});

/** Creates a project and sends generated requests to it. @returns those that were accepted. */
async function fuzz(_: unknown, client: number): Promise<AcceptedRequests> {
  const userIds = client % 2 === 0 ? 'open' : 'signed';
  const owner = await service.createProject({ subscriberCap, monthlySendCap: null, userIds });
  const { applicationServerKey } = owner;
  const browsers = Array.from({ length: browsersPerClient }, () =>
    service.stack.pushService.subscribe({ applicationServerKey }),
  );
  for (const browser of browsers.slice(0, 2)) browser.unsubscribe();
  const accepted = new AcceptedRequests(owner);
  const requests = fc.sample(generatedRequest, { seed: seed + client, numRuns: requestsPerClient });
  let successes = 0;
  for (const [index, generated] of requests.entries()) {
    const request = sendable(
      generated.mutations.reduce(
        (changed, mutate) => mutate(changed),
        validRequest(generated, accepted, browsers),
      ),
    );
    const response = await sendRaw(service.stack.baseUrl, request);
    try {
      expectValidResponse(request, response);
      if (generated.mutations.length === 0) {
        // A renewal of a browser that was erased.
        const isRefused = generated.body?.renewal === true ? [410] : [];
        expect([200, 201, 403, 409, 422, ...isRefused]).toContain(response.status);
      }
      accepted.add(request, response);
    } catch (error) {
      throw new Error(
        `Request ${index} of client ${client}: ${describeRequest(request)}\n${response.status} ${response.text}`,
        { cause: error },
      );
    }
    if (response.status < 300) successes += 1;
  }
  // With fewer accepted requests the comparison would prove little.
  expect(successes).toBeGreaterThan(requestsPerClient / 10);
  return accepted;
}

/** Completes a generated request with a browser, a notification and a key that exist. */
function validRequest(
  generated: GeneratedRequest,
  { owner, notifications }: AcceptedRequests,
  browsers: readonly SimulatedBrowser[],
): RawRequest {
  const { projectId, secretKey, applicationServerKey, identityKey } = owner;
  const browser = browsers[generated.pick % browsers.length]!;
  const sent = [...notifications.keys()];
  const notificationId = sent[generated.pick % sent.length] ?? randomUUID();
  const needsNotification = routes[generated.route].path.includes('{notificationId}');
  const { route, body, query, headers }: DocumentedRequest =
    needsNotification && sent.length === 0
      ? { route: 'send', body: { title: 'T' }, query: {}, headers: {} }
      : generated;
  const { endpoint, keys } = browser.toJSON();
  const signed = body?.userIdSignature === 'right' ? String(body.userId) : 'somebody else';
  const known = {
    ...{ endpoint, keys, applicationServerKey },
    userIdSignature: signUserId(identityKey, signed),
    cursor: cursorOf(notificationId),
  };
  const completeBody = body && withKnown(body, known);
  const completeQuery = withKnown(query, known);
  const parameters = Object.entries(completeQuery).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  const search = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return {
    method: routes[route].method,
    path: pathOf(routes[route], { projectId, notificationId }) + search,
    headers: {
      ...service.proxy.headersFrom(nextAddress()),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(routes[route].caller === 'owner' && { authorization: `Bearer ${secretKey}` }),
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    },
    body: Buffer.from(completeBody === undefined ? '' : JSON.stringify(completeBody)),
  };
}

/** Replaces the values of the fields that are known. */
function withKnown(fields: Fields, known: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, known[name] ?? value]),
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Expects a status below 500 and the API's response format. */
function expectValidResponse({ method }: RawRequest, { status, headers, text }: RawResponse): void {
  expect(status).toBeLessThan(500);
  expect(status).toBeGreaterThanOrEqual(200);
  if (text === '') {
    // Only HEAD, a preflight and a refusal by the HTTP parser have no body.
    const refusals = [400, 431, ...(method === 'HEAD' ? [404, 413] : [])];
    expect([204, ...refusals]).toContain(status);
    return;
  }
  expect(headers['content-type']).toBe('application/json');
  const { error } = JSON.parse(text) as { error?: { code: ErrorCode } };
  if (error !== undefined) expect(errorTable[error.code]?.status).toBe(status);
}

function describeRequest({ method, path, headers, body }: RawRequest): string {
  return `${method} ${path}\n${JSON.stringify(headers)}\n${body.toString().slice(0, 2000)}`;
}

test('malformed HTTP never returns 5xx and changes no table', async () => {
  const { projectId } = await service.createProject();
  const checkedTables = [
    'PROJECTS_TABLE',
    'VAPID_KEYS_TABLE',
    'SUBSCRIPTIONS_TABLE',
    'NOTIFICATIONS_TABLE',
    'DELIVERIES_TABLE',
    'USAGE_TABLE',
  ] as const;
  const readAll = () => Promise.all(checkedTables.map(read));
  const before = await readAll();
  const requests: readonly Buffer[] = harmlessRequests(projectId).map((text) => Buffer.from(text));
  const damages = fc.sample(damage, { seed, numRuns: rawRequests });
  let next = 0;
  const worker = async () => {
    while (next < damages.length) {
      const index = next++;
      const bytes = damages[index]!.reduce(
        (changed, splice) => splice(changed),
        requests[index % requests.length]!,
      );
      const statuses = await sendBytes(service.stack.baseUrl, bytes);
      const serverErrors = statuses.filter((status) => status >= 500);
      if (serverErrors.length > 0) {
        throw new Error(`${serverErrors} for ${JSON.stringify(bytes.toString('latin1'))}`);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, worker));
  expect(await readAll()).toEqual(before);
});

/** Requests that change nothing, because their key or their endpoint is invalid. */
function harmlessRequests(projectId: string): string[] {
  const path = `/api/v1/projects/${projectId}`;
  const invalid = { endpoint: 'https://push.example.com/x', keys: { p256dh: 'x', auth: 'x' } };
  return [
    ['POST', path, invalid],
    ['DELETE', `${path}?endpoint=${encodeURIComponent('https://push.example.com/x')}`],
    ['POST', `${path}/notifications`, { title: 'T' }],
    ['GET', path],
    ['GET', `${path}/notifications?limit=2&cursor=${cursorOf(randomUUID())}`],
    ['GET', `${path}/notifications/${randomUUID()}`],
    ['GET', `${path}/users?userId=ada`],
    ['DELETE', `${path}/users?userId=ada`],
    ['POST', `${path}/notifications/${randomUUID()}/events`, { type: 'shown' }],
    ['OPTIONS', path],
  ].map(([method, target, body]) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    return [
      `${method} ${target} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/json',
      `Authorization: Bearer carillon_sk_${'a'.repeat(43)}`,
      ...Object.entries(service.proxy.headersFrom(nextAddress())).map((entry) => entry.join(': ')),
      `Content-Length: ${text.length}`,
      '',
      text,
    ].join('\r\n');
  });
}
