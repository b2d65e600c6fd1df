import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { routes } from '../../contract/routes.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { createBrowserKeys } from '../../local/push-service/browser-keys.ts';
import { type PushService, startPushService } from '../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import {
  type HoldingPushService,
  startHoldingPushService,
} from './fixtures/holding-push-service.ts';
import { readProjectItems } from './fixtures/owned-tables.ts';
import { cases } from './fixtures/seed.ts';

const rounds = 3;

let other: PushService;
let holding: HoldingPushService;
let service: Service;
let queries = 0;

beforeAll(async () => {
  other = await startPushService();
  holding = await startHoldingPushService();
  service = await startService({
    concurrency: 4,
    environment: { EXTRA_PUSH_ORIGINS: `${other.origin},${holding.origin}` },
    onDynamoDbCall: ({ operation }) => {
      if (operation === 'Query') queries += 1;
    },
  });
});
afterAll(async () => {
  await service.stop();
  await other.stop();
  await holding.stop();
});

const keys = createBrowserKeys();

/** Stores subscriptions past the API: hundreds, in moments. */
async function store({ projectId }: ProjectCredentials, subscriptions: readonly Subscribing[]) {
  const { SUBSCRIPTIONS_TABLE, USAGE_TABLE } = service.stack.dynamodb.tables;
  const tables = { subscriptions: SUBSCRIPTIONS_TABLE, usage: USAGE_TABLE };
  const { save } = subscriptionStore(service.dynamo, tables, () => new Date());
  await Promise.all(subscriptions.map((one) => save(projectId, one.toJSON(), null)));
}

type Subscribing = Pick<SimulatedBrowser, 'toJSON'>;

async function subscribe(project: ProjectCredentials, at: PushService, number: number) {
  const { applicationServerKey } = project;
  const browsers = Array.from({ length: number }, () =>
    at.subscribe({ applicationServerKey, keys }),
  );
  await store(project, browsers);
  return browsers;
}

const unlimited = { subscriberCap: null, monthlySendCap: null, rateLimitPerMinute: null };

/** Endpoints that the table holds; their number is that of the counter. */
async function endpointsOf({ projectId }: ProjectCredentials): Promise<Set<string>> {
  const { tables } = service.stack.dynamodb;
  const { subscriptions, subscribers } = await readProjectItems(service.dynamo, tables, projectId);
  expect(subscribers).toBe(subscriptions.size);
  return new Set([...subscriptions.values()].map(({ endpoint }) => endpoint));
}

/** Stores subscriptions at the push service that holds. @returns their endpoints. */
async function subscribeHeld(project: ProjectCredentials, number: number): Promise<string[]> {
  const endpoints = Array.from({ length: number }, () => `${holding.origin}/${randomUUID()}`);
  const stated = {
    p256dh: keys.publicKey.toString('base64url'),
    auth: keys.authSecret.toString('base64url'),
  };
  const subscriptions = endpoints.map((endpoint) => ({ endpoint, keys: stated }));
  await store(
    project,
    subscriptions.map((one) => ({ toJSON: () => ({ ...one, expirationTime: null }) })),
  );
  return endpoints;
}

/** Sends, and does things that begin and end while the broadcast is under way. */
async function sendDuring(project: ProjectCredentials, doings: () => readonly Promise<unknown>[]) {
  holding.hold();
  const arrival = holding.arrival();
  const sending = service.send(project, { title: 'T' });
  await arrival;
  await Promise.all(doings());
  holding.release();
  const { status, body } = await sending;
  expect(status).toBe(201);
  expect(body.attempted).toBe(body.delivered + body.removed + body.failed);
  return body;
}

/** Have all got one message, none two. */
function expectOneEach(browsers: readonly SimulatedBrowser[]): void {
  expect(browsers.filter(({ messages }) => messages.length !== 1)).toEqual([]);
}

test('every subscriber there before a broadcast and untouched during it gets exactly one push, while others subscribe, update and unsubscribe', async () => {
  const some = fc.integer({ min: 20, max: 60 });
  const property = fc.asyncProperty(
    // Up to three pages of the table.
    fc.integer({ min: 900, max: 2200 }),
    some,
    some,
    some,
    async (staying, leaving, changing, coming) => {
      const project = await service.createProject(unlimited);
      const { pushService } = service.stack;
      const [untouched, leavers, changers, gone] = [
        await subscribe(project, pushService, staying),
        await subscribe(project, pushService, leaving),
        await subscribe(project, pushService, changing),
        await subscribe(project, other, leaving),
      ];
      const held = await subscribeHeld(project, 1);
      for (const browser of gone) browser.unsubscribe();

      const parameters = { projectId: project.projectId };
      const newcomers: SimulatedBrowser[] = [];
      const report = await sendDuring(project, () => [
        ...Array.from({ length: coming }, async () => {
          newcomers.push(await service.subscribe(project));
        }),
        ...leavers.map(({ endpoint }) =>
          service.call(routes.unsubscribe, {
            parameters,
            query: `?endpoint=${encodeURIComponent(endpoint)}`,
          }),
        ),
        ...changers.map((browser) => {
          const body = { ...browser.toJSON(), userId: 'u' };
          return service.call(routes.subscribe, { parameters, body });
        }),
      ]);

      expectOneEach([...untouched, ...changers]);
      for (const { messages } of [...leavers, ...newcomers]) {
        expect(messages.length).toBeLessThanOrEqual(1);
      }
      expect(report).toMatchObject({ removed: gone.length, failed: 0 });
      const remaining = [...untouched, ...changers, ...newcomers].map(({ endpoint }) => endpoint);
      expect(await endpointsOf(project)).toEqual(new Set([...remaining, ...held]));
    },
  );
  await fc.assert(property, cases(rounds, { endOnFailure: true }));
});

test('a push service left behind and read again gets exactly one push for each subscriber too', async () => {
  const project = await service.createProject(unlimited);
  const { pushService } = service.stack;
  const healthy = await subscribe(project, pushService, 900);
  // More than may be in hand of one push service: the reading gets ahead without it.
  const held = await subscribeHeld(project, 700);
  const queriesBefore = queries;
  const newcomers: SimulatedBrowser[] = [];
  const all = pushService.stats().accepted + healthy.length;
  const report = await sendDuring(project, () => [
    ...Array.from({ length: 40 }, async () => {
      newcomers.push(await service.subscribe(project));
    }),
    // Not one push to the other has been answered by then.
    pushService.waitFor(all),
  ]);
  expectOneEach(healthy);
  expect(held.map((endpoint) => holding.pushes.get(new URL(endpoint).pathname))).toEqual(
    held.map(() => 1),
  );
  for (const { messages } of newcomers) expect(messages.length).toBeLessThanOrEqual(1);
  expect(report.failed).toBe(0);
  expect((await endpointsOf(project)).size).toBe(900 + 700 + 40);
  // The audience has two pages: a third call is that of another reading.
  expect(queries - queriesBefore).toBeGreaterThan(2);
});

test('accepted sends at once are as many as the month has left, and the counter says so', async () => {
  const project = await service.createProject({ ...unlimited, monthlySendCap: 25 });
  const [browser] = await subscribe(project, service.stack.pushService, 1);
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => service.send(project, { title: 'T' })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(25).fill(201), ...Array(35).fill(429)]);
  expect(browser!.messages).toHaveLength(25);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 25 });
});
