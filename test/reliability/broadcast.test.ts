import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createBrowserKeys } from '../../admin/browser/browser-keys.ts';
import { routes } from '../../contract/routes.ts';
import { subscribeSchema } from '../../contract/schemas/subscription.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { type PushService, startPushService } from '../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import {
  type HoldingPushService,
  startHoldingPushService,
} from './fixtures/holding-push-service.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import { cases } from './fixtures/seed.ts';

const runs = 3;
/** Calls to the database while subscriptions are stored; with thousands, a busy machine times out. */
const concurrentCalls = 50;

let secondPushService: PushService;
let holding: HoldingPushService;
let service: Service;

beforeAll(async () => {
  secondPushService = await startPushService();
  holding = await startHoldingPushService();
  service = await startService({
    concurrency: 4,
    environment: { EXTRA_PUSH_ORIGINS: `${secondPushService.origin},${holding.origin}` },
  });
});
afterAll(async () => {
  await service.stop();
  await secondPushService.stop();
  await holding.stop();
});

const keys = createBrowserKeys();

/** Stores subscriptions without the API, which would take seconds for hundreds of them. */
async function store({ ref }: ProjectCredentials, subscriptions: readonly Subscription[]) {
  const { SUBSCRIPTIONS_TABLE, USAGE_TABLE } = service.stack.dynamodb.tables;
  const tables = { subscriptions: SUBSCRIPTIONS_TABLE, usage: USAGE_TABLE };
  const { save } = subscriptionStore(service.dynamo, tables, () => new Date());
  const waiting = subscriptions.values();
  const { parse } = subscribeSchema([
    secondPushService.origin,
    holding.origin,
    service.stack.pushService.origin,
  ]);
  const worker = async () => {
    for (const subscription of waiting) {
      await save(ref, parse(subscription.toJSON()), null);
    }
  };
  await Promise.all(Array.from({ length: concurrentCalls }, worker));
}

type Subscription = Pick<SimulatedBrowser, 'toJSON'>;

async function subscribe(project: ProjectCredentials, pushService: PushService, count: number) {
  const { applicationServerKey } = project;
  const browsers = Array.from({ length: count }, () =>
    pushService.subscribe({ applicationServerKey, keys }),
  );
  await store(project, browsers);
  return browsers;
}

const unlimited = { subscriberCap: null, monthlySendCap: null, rateLimitPerMinute: null };

/** Reads the stored endpoints, and expects the subscriber counter to equal their number. */
async function storedEndpoints({ ref }: ProjectCredentials): Promise<Set<string>> {
  const { tables } = service.stack.dynamodb;
  const { subscriptions, subscribers } = await readProjectItems(service.dynamo, tables, ref);
  expect(subscribers).toBe(subscriptions.size);
  return new Set([...subscriptions.values()].map(({ origin, path }) => origin + path));
}

/** Stores subscriptions of the holding push service. @returns their endpoints. */
async function subscribeHeld(project: ProjectCredentials, count: number): Promise<string[]> {
  const endpoints = Array.from({ length: count }, () => `${holding.origin}/${randomUUID()}`);
  const encodedKeys = {
    p256dh: keys.publicKey.toString('base64url'),
    auth: keys.authSecret.toString('base64url'),
  };
  const subscriptions = endpoints.map((endpoint) => ({ endpoint, keys: encodedKeys }));
  await store(
    project,
    subscriptions.map((one) => ({ toJSON: () => ({ ...one, expirationTime: null }) })),
  );
  return endpoints;
}

/** Sends a broadcast that cannot complete before some concurrent operations have. */
async function sendDuring(
  project: ProjectCredentials,
  operations: () => readonly Promise<unknown>[],
) {
  holding.hold();
  const firstPush = holding.nextPush();
  const sending = service.send(project, { title: 'T' });
  await firstPush;
  await Promise.all(operations());
  holding.release();
  const { status, body } = await sending;
  expect(status).toBe(201);
  expect(body.attempted).toBe(body.delivered + body.removed + body.failed);
  return body;
}

function expectOneMessageEach(browsers: readonly SimulatedBrowser[]): void {
  expect(browsers.filter(({ messages }) => messages.length !== 1)).toEqual([]);
}

test('a broadcast sends each unchanged subscriber exactly one push while others subscribe, update and unsubscribe', async () => {
  const count = fc.integer({ min: 20, max: 60 });
  const property = fc.asyncProperty(
    // Up to three pages of 1,000 items.
    fc.integer({ min: 900, max: 2200 }),
    count,
    count,
    count,
    async (staying, leaving, changing, joining) => {
      const project = await service.createProject(unlimited);
      const { pushService } = service.stack;
      const [unchanged, leavers, changers, gone] = [
        await subscribe(project, pushService, staying),
        await subscribe(project, pushService, leaving),
        await subscribe(project, pushService, changing),
        await subscribe(project, secondPushService, leaving),
      ];
      const held = await subscribeHeld(project, 1);
      for (const browser of gone) browser.unsubscribe();

      const parameters = { projectId: project.projectId };
      const newcomers: SimulatedBrowser[] = [];
      const report = await sendDuring(project, () => [
        ...Array.from({ length: joining }, async () => {
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

      expectOneMessageEach([...unchanged, ...changers]);
      for (const { messages } of [...leavers, ...newcomers]) {
        expect(messages.length).toBeLessThanOrEqual(1);
      }
      expect(report).toMatchObject({ removed: gone.length, failed: 0 });
      const remaining = [...unchanged, ...changers, ...newcomers].map(({ endpoint }) => endpoint);
      expect(await storedEndpoints(project)).toEqual(new Set([...remaining, ...held]));
    },
  );
  await fc.assert(property, cases(runs, { endOnFailure: true }));
});

test('a broadcast sends exactly one push to each subscriber of a push service that fell behind', async () => {
  const project = await service.createProject(unlimited);
  const { pushService } = service.stack;
  const healthy = await subscribe(project, pushService, 900);
  // More than may be in flight to one push service, so that most wait in its queue.
  const held = await subscribeHeld(project, 700);
  const newcomers: SimulatedBrowser[] = [];
  const acceptedByThen = pushService.stats().accepted + healthy.length;
  const report = await sendDuring(project, () => [
    ...Array.from({ length: 40 }, async () => {
      newcomers.push(await service.subscribe(project));
    }),
    // The holding push service has responded to no push by then.
    pushService.waitFor(acceptedByThen),
  ]);
  expectOneMessageEach(healthy);
  expect(held.map((endpoint) => holding.pushes.get(new URL(endpoint).pathname))).toEqual(
    held.map(() => 1),
  );
  for (const { messages } of newcomers) expect(messages.length).toBeLessThanOrEqual(1);
  expect(report.failed).toBe(0);
  expect((await storedEndpoints(project)).size).toBe(900 + 700 + 40);
});
