import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type RouteName, routes } from '../../contract/routes.ts';
import type { RateLimitItem } from '../../lambdas/store/items.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
const calls: string[] = [];

/** Instances of each function. */
const concurrency = 3;
const limit = 60;

beforeAll(async () => {
  service = await startService({
    concurrency,
    // What holds a flood back here are the functions' rate limits.
    throttled: false,
    onDynamoDbCall: ({ operation }) => {
      calls.push(operation);
    },
  });
  project = await service.createProject();
});
afterAll(() => service.stop());

const reads = ['GetItem', 'TransactGetItems', 'Query'];
const writes = () => calls.filter((operation) => !reads.includes(operation)).length;

const wrongKey = { authorization: `Bearer carillon_sk_${'a'.repeat(43)}` };

function call(name: RouteName, request: Partial<CallOptions>): Promise<ApiResponse> {
  const requests = {
    subscribe: { body: service.stack.pushService.subscribe().toJSON() },
    unsubscribe: { query: '?endpoint=https%3A%2F%2Ffcm.googleapis.com%2Fx' },
    send: { body: { title: 'T' }, headers: { authorization: `Bearer ${project.secretKey}` } },
    track: { body: { type: 'shown' } },
  } satisfies Record<RouteName, Partial<CallOptions>>;
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId: randomUUID() },
    ...requests[name],
    ...request,
  });
}

/** So many requests, as many at once as there are instances. */
async function flood(times: number, request: (index: number) => Promise<ApiResponse>) {
  const statuses = new Map<number, number>();
  let next = 0;
  const one = async () => {
    while (next < times) {
      const { status } = await request(next++);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return statuses;
}

const minute = () => Math.floor(Date.now() / 60_000);

/** Runs anew where the minute, which is what is counted in, ended in the middle of it. */
async function withinOneMinute<T>(run: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const begun = minute();
    const result = await run(attempt);
    if (minute() === begun) return result;
  }
}

async function hitsOf(bucket: string): Promise<number[]> {
  const items: RateLimitItem[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await service.dynamo.send(
      new ScanCommand({
        TableName: service.stack.dynamodb.tables.RATE_LIMITS_TABLE,
        ExclusiveStartKey: from,
      }),
    );
    items.push(...((page.Items ?? []) as RateLimitItem[]));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items.filter((item) => item.bucket.includes(bucket)).map(({ hits }) => hits);
}

const everyRoute: RouteName[] = ['subscribe', 'unsubscribe', 'send', 'track'];

describe('a flood from one address costs no write beyond the limit, save one refused for each instance', () => {
  test.each(everyRoute)('%s', async (name) => {
    await withinOneMinute(async (attempt) => {
      const address = `203.0.113.${10 + 50 * attempt + everyRoute.indexOf(name)}`;
      const within = await flood(limit, () => call(name, { address }));
      calls.length = 0;
      const beyond = await flood(400, () => call(name, { address }));
      return { within, beyond, written: writes(), hits: await hitsOf(`#${name}#${address}#`) };
    }).then(({ within, beyond, written, hits }) => {
      expect(within.get(429)).toBeUndefined();
      expect([...beyond]).toEqual([[429, 400]]);
      expect(written).toBeLessThanOrEqual(concurrency);
      expect(hits).toEqual([limit]);
    });
  });

  test('nor do the addresses of one IPv6 network, which count as one', async () => {
    const { statuses, written } = await withinOneMinute(async (attempt) => {
      calls.length = 0;
      const statuses = await flood(400, (index) =>
        call('track', { address: `2001:db8:0:${attempt}:${index.toString(16)}::1` }),
      );
      return { statuses, written: writes() };
    });
    expect(statuses).toEqual(
      new Map([
        [404, limit],
        [429, 400 - limit],
      ]),
    );
    // Each beacon within the limit costs its count and one conditional call.
    expect(written).toBeLessThanOrEqual(2 * limit + concurrency);
  });

  test.each(['subscribe', 'unsubscribe', 'track'] as const)(
    '%s: nor of projects that there are not, beyond which none is read either',
    async (name) => {
      const { statuses, written, made } = await withinOneMinute(async (attempt) => {
        calls.length = 0;
        const statuses = await flood(400, (index) => {
          const projectId = `none-${attempt}-${index}`;
          const parameters = { projectId, notificationId: randomUUID() };
          return call(name, { parameters, address: `203.0.113.${5 + attempt}` });
        });
        return { statuses, written: writes(), made: calls.length };
      });
      expect(statuses.get(404)).toBe(limit);
      expect(statuses.get(429)).toBe(400 - limit);
      expect(written).toBeLessThanOrEqual(limit + concurrency);
      expect(made).toBeLessThanOrEqual(2 * (limit + concurrency));
    },
  );

  test.each([
    ['a wrong key', wrongKey, 1],
    ['a malformed key', { authorization: 'Bearer x' }, 2],
    ['no key', {}, 3],
  ])('send: nor under %s, however many projects it invents', async (_, headers, network) => {
    const { statuses, written, made } = await withinOneMinute(async (attempt) => {
      calls.length = 0;
      const statuses = await flood(200, (index) => {
        const parameters = { projectId: `none-${attempt}-${index}` };
        const address = `198.18.${network}.${attempt}`;
        return call('send', { parameters, address, headers });
      });
      return { statuses, written: writes(), made: calls.length };
    });
    expect(statuses.get(401)).toBe(limit);
    expect(statuses.get(429)).toBe(200 - limit);
    expect(written).toBeLessThanOrEqual(limit + concurrency);
    expect(made).toBeLessThanOrEqual(2 * (limit + concurrency));
  });
});

describe('a beacon for a notification that is not the project’s costs at most one conditional call beyond the rate limit’s', () => {
  async function foreignId(): Promise<string> {
    const other = await service.createProject();
    return (await service.send(other, { title: 'T' })).body.id;
  }
  const ids: [string, () => Promise<string> | string, number][] = [
    ['of another project', foreignId, 1],
    ['invented', randomUUID, 1],
    ['invented, in capitals', () => randomUUID().toUpperCase(), 1],
    ['of nothing but zeros', () => '00000000-0000-0000-0000-000000000000', 1],
    ['of an idempotency key', () => `key#${'a'.repeat(64)}`, 0],
    ['no id', () => 'x', 0],
    ['very long', () => 'a'.repeat(3000), 0],
    ['a name of every object', () => '__proto__', 0],
    ['a NUL', () => '\u0000', 0],
  ];

  test.each(ids)('%s', async (_, id, conditional) => {
    const parameters = { projectId: project.projectId, notificationId: await id() };
    // Has each instance know the project.
    await flood(2 * concurrency, () => call('track', { parameters }));
    const TableName = service.stack.dynamodb.tables.NOTIFICATIONS_TABLE;
    const before = await service.dynamo.send(new ScanCommand({ TableName }));
    calls.length = 0;
    const statuses = await flood(20, () => call('track', { parameters }));
    const made = calls.filter((operation) => operation !== 'GetItem');
    expect([...statuses]).toEqual([[404, 20]]);
    expect(made).toEqual(Array(20 * (1 + conditional)).fill('UpdateItem'));
    const after = await service.dynamo.send(new ScanCommand({ TableName }));
    expect(after.Items).toEqual(before.Items);
  });
});
