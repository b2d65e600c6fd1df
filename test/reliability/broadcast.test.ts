import fc from 'fast-check';
import { createBrowserKeys } from '../../admin/browser.ts';
import { routes } from '../../contract/wire/routes.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';
import { until } from '../fixtures/until.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import { cases } from './fixtures/seed.ts';

const runs = 3;

const service = useService({ concurrency: 4 });

const keys = createBrowserKeys();
const unlimited = { subscriberCap: null, monthlySendCap: null, rateLimitPerMinute: null };

/** Reads the stored endpoints, and expects the subscriber counter to equal their number. */
async function storedEndpoints({ ref }: ProjectCredentials): Promise<Set<string>> {
  const { tables } = service.stack.dynamodb;
  const { subscriptions, subscribers } = await readProjectItems(service.dynamo, tables, ref);
  expect(subscribers).toBe(subscriptions.size);
  return new Set([...subscriptions.values()].map(({ origin, path }) => origin + path));
}

const numbersOfMessages = (browsers: readonly SimulatedBrowser[]) =>
  new Set(browsers.map(({ messages }) => messages.length));

test('a broadcast sends each unchanged subscriber exactly one push while others subscribe, update and unsubscribe, and a push service falls behind', async () => {
  const count = fc.integer({ min: 20, max: 60 });
  const property = fc.asyncProperty(
    // Up to three pages of 1,000 items.
    fc.integer({ min: 900, max: 2200 }),
    // More than may be in flight to one push service, or less.
    fc.constantFrom(1, 700),
    count,
    count,
    count,
    async (staying, stalling, leaving, changing, joining) => {
      const project = await service.createProject(unlimited);
      const { applicationServerKey, projectId } = project;
      const { pushService, dynamodb } = service.stack;
      const make = (number: number) =>
        Array.from({ length: number }, () => pushService.subscribe({ applicationServerKey, keys }));
      const [unchanged, stalled] = [make(staying), make(stalling)];
      const [leavers, changers, gone] = [make(leaving), make(changing), make(leaving)];
      const all = [...unchanged, ...stalled, ...leavers, ...changers, ...gone];
      await storeSubscribers(service.dynamo, dynamodb.tables, project, all);
      for (const browser of gone) browser.unsubscribe();
      for (const browser of stalled) browser.behave({ stall: true });
      const { requests } = pushService.stats();

      // The broadcast cannot end before the push service responds to all.
      const sending = service.send(project, { title: 'T' });
      await until('a push', () => pushService.stats().requests > requests);
      const parameters = { projectId };
      const newcomers: SimulatedBrowser[] = [];
      await Promise.all([
        ...Array.from({ length: joining }, async () => {
          newcomers.push(await service.subscribe(project));
        }),
        ...leavers.map(({ endpoint }) => {
          const query = `?endpoint=${encodeURIComponent(endpoint)}`;
          return service.call(routes.unsubscribe, { parameters, query });
        }),
        ...changers.map((browser) => {
          const body = { ...browser.toJSON(), userId: 'u' };
          return service.call(routes.subscribe, { parameters, body });
        }),
      ]);
      for (const browser of stalled) browser.behave({});
      const { status, body } = await sending;

      expect(status).toBe(201);
      expect(body).toMatchObject({ removed: gone.length, failed: 0 });
      expect(body.attempted).toBe(body.delivered + body.removed);
      const remaining = [...unchanged, ...stalled, ...changers];
      expect(numbersOfMessages(remaining)).toEqual(new Set([1]));
      for (const number of numbersOfMessages([...leavers, ...newcomers])) {
        expect(number).toBeLessThanOrEqual(1);
      }
      const endpoints = [...remaining, ...newcomers].map(({ endpoint }) => endpoint);
      expect(await storedEndpoints(project)).toEqual(new Set(endpoints));
    },
  );
  await fc.assert(property, cases(runs, { endOnFailure: true }));
});
