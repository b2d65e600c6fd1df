import { randomUUID } from 'node:crypto';
import type { RouteName } from '../../contract/wire/routes.ts';
import type { RateLimitItem } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTable } from '../fixtures/read-table.ts';
import { everyRoute, ownerRoutes } from '../fixtures/route-names.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';
import { withinOneMinute } from '../fixtures/within-one-minute.ts';

let service: Service;
let project: ProjectCredentials;
/** One for all requests: making one takes longer than a request. */
let browser: SimulatedBrowser;
/** Operations of the functions' calls to DynamoDB. */
const calls: string[] = [];
/** Reads of what requests ask for. The project is read again every 30 s. */
let requestReads = 0;
/** Floods of requests for projects that do not exist. Each comes from its own address. */
let floods = 0;

/** Instances of each function. */
const concurrency = 3;
/** Requests per minute. */
const limit = 60;
/** Requests that are counted at most: each instance counts one beyond the limit. */
const counted = limit + concurrency;

beforeAll(async () => {
  service = await startService({
    concurrency,
    // Only the rate limit of the functions refuses requests here.
    throttled: false,
    onDynamoDbCall: ({ operation, parameters }) => {
      calls.push(operation);
      const ofProject = JSON.stringify(parameters).includes('"ProjectsTable');
      if (reads.includes(operation) && !ofProject) requestReads += 1;
    },
  });
  project = await service.createProject();
  browser = service.stack.pushService.subscribe(project);
});
afterAll(() => service.stop());

const reads = ['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query'];
const writes = () => calls.filter((operation) => !reads.includes(operation)).length;

const wrongKey = { authorization: `Bearer carillon_sk_${'a'.repeat(43)}` };

function call(name: RouteName, request: Partial<CallOptions>): Promise<ApiResponse> {
  return callWithValidRequest(service, project, name, request, browser);
}

/** Makes concurrent requests, one per instance. @returns the number of responses by status. */
async function flood(count: number, request: (index: number) => Promise<ApiResponse>) {
  const statuses = new Map<number, number>();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const { status } = await request(next++);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return statuses;
}

/** The counts of a route, by bucket. */
async function countsOf(name: RouteName): Promise<ReadonlyMap<string, number>> {
  const { RATE_LIMITS_TABLE } = service.stack.dynamodb.tables;
  const items = (await readTable(service.dynamo, RATE_LIMITS_TABLE)) as unknown as RateLimitItem[];
  const ofRoute = items.filter(({ bucket }) => bucket.includes(`#${name}#`));
  return new Map(ofRoute.map(({ bucket, hits }) => [bucket, hits]));
}

/** Calls to DynamoDB with which a route reads, beside the one that counts the request: owners' routes read one item. */
function readsOf(name: RouteName): number {
  return name === 'listNotifications' ? 2 : Number(ownerRoutes.includes(name));
}

describe('a flood from one address writes nothing beyond the limit, and reads only which project it names', () => {
  test.each(everyRoute)('%s', async (name) => {
    const { within, beyond, written, read, hits } = await withinOneMinute(async (attempt) => {
      const address = `203.0.113.${10 + 50 * attempt + everyRoute.indexOf(name)}`;
      const before = await countsOf(name);
      const within = await flood(limit, () => call(name, { address }));
      calls.length = 0;
      requestReads = 0;
      const beyond = await flood(400, () => call(name, { address }));
      const made = { written: writes(), read: requestReads };
      const own = [...(await countsOf(name))].filter(([bucket]) => !before.has(bucket));
      return { within, beyond, ...made, hits: own.map(([, hits]) => hits) };
    });
    expect(within.get(429)).toBeUndefined();
    expect([...beyond]).toEqual([[429, 400]]);
    expect(written).toBeLessThanOrEqual(concurrency);
    expect(read).toBeLessThanOrEqual(concurrency * readsOf(name));
    expect(hits).toEqual([limit]);
  });

  test('subscribe: a wrong signature within the limit costs one read of the project and of its keys', async () => {
    const wrong = { userId: 'ada', userIdSignature: 'a'.repeat(43) };
    const { statuses, written, made } = await withinOneMinute(async (attempt) => {
      calls.length = 0;
      const statuses = await flood(400, () => {
        const body = { ...service.stack.pushService.subscribe().toJSON(), ...wrong };
        return call('subscribe', { body, address: `203.0.113.${250 + attempt}` });
      });
      return { statuses, written: writes(), made: calls.length };
    });
    expect(statuses).toEqual(
      new Map([
        [403, limit],
        [429, 400 - limit],
      ]),
    );
    // The write that counts the request, and the reads. Each instance may read the project once more.
    expect(written).toBeLessThanOrEqual(limit + concurrency);
    expect(made).toBeLessThanOrEqual(3 * (limit + concurrency));
  });

  test.each<
    [RouteName, what: string, headers: Record<string, string>, status: number, reads: number]
  >([
    // It may be a project that the function does not know yet, and this its right key.
    ['subscribe', 'no key', {}, 404, 2 * 400],
    ['unsubscribe', 'no key', {}, 404, 400],
    ['track', 'no key', {}, 404, 400],
    ['send', 'a wrong key', wrongKey, 401, 400],
    ['send', 'a malformed key', { authorization: 'Bearer x' }, 401, 0],
    ['send', 'no key', { authorization: '' }, 401, 0],
  ])('%s: projects that do not exist, with %s', async (...row) => {
    const [name, , headers, status, reads] = row;
    const { statuses, written, made } = await withinOneMinute(async () => {
      floods += 1;
      calls.length = 0;
      const address = `198.18.0.${floods}`;
      const statuses = await flood(400, (index) => {
        const parameters = { projectId: `none-${floods}-${index}`, notificationId: randomUUID() };
        return call(name, { parameters, headers, address });
      });
      return { statuses, written: writes(), made: calls.length };
    });
    expect(statuses.get(status)).toBe(limit);
    expect(statuses.get(429)).toBe(400 - limit);
    expect(written).toBeLessThanOrEqual(counted);
    expect(made).toBeLessThanOrEqual(counted + reads);
  });
});

describe('an event for a notification of no or another project costs at most one conditional call beyond the rate limit', () => {
  async function foreignId(): Promise<string> {
    const other = await service.createProject();
    return (await service.send(other, { title: 'T' })).body.id;
  }
  const ids: [string, () => Promise<string> | string, number][] = [
    ['of another project', foreignId, 1],
    ['random UUID', randomUUID, 1],
    ['random UUID in capitals', () => randomUUID().toUpperCase(), 1],
    ['nil UUID', () => '00000000-0000-0000-0000-000000000000', 1],
    ['key of an idempotency item', () => `key#${'a'.repeat(64)}`, 0],
    ['no UUID', () => 'x', 0],
    ['3,000 characters', () => 'a'.repeat(3000), 0],
    ['__proto__', () => '__proto__', 0],
    ['NUL', () => '\u0000', 0],
  ];

  test.each(ids)('%s', async (_, id, conditional) => {
    const parameters = { projectId: project.projectId, notificationId: await id() };
    // Now each instance has cached the project.
    await flood(2 * concurrency, () => call('track', { parameters }));
    const { DELIVERIES_TABLE } = service.stack.dynamodb.tables;
    const before = await readTable(service.dynamo, DELIVERIES_TABLE);
    calls.length = 0;
    const statuses = await flood(20, () => call('track', { parameters }));
    const made = calls.filter((operation) => operation !== 'GetItem');
    expect([...statuses]).toEqual([[404, 20]]);
    expect(made).toEqual(Array(20 * (1 + conditional)).fill('UpdateItem'));
    expect(await readTable(service.dynamo, DELIVERIES_TABLE)).toEqual(before);
  });
});
