import fc from 'fast-check';
import { shareOf } from '../../lambdas/store/counters.ts';
import { connect, type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/project-items.ts';
import { cases } from './fixtures/seed.ts';
import {
  deployed,
  endpoints,
  perform,
  subscriptionRequest,
  subscriptionStores,
} from './fixtures/subscription-operations.ts';

const runs = 30;

let database: Database;
let scheduled: ReturnType<typeof connect>;
let interleaving: Interleaving;

beforeAll(async () => {
  database = await startDatabase();
  scheduled = connect(database.endpoint);
  interleaving = new Interleaving(scheduled);
});
afterAll(async () => {
  scheduled.destroy();
  await database.stop();
});

const read = (projectId: string) => readProjectItems(database.dynamo, database.tables, projectId);

function expectExactCounter({ subscribers, subscriptions }: ProjectItems): void {
  expect(subscribers).toBe(subscriptions.size);
}

/** Expects that no part is above its share of the cap while another one has room. */
function expectBalanced({ partsOf }: ProjectItems, cap: number): void {
  const over = partsOf('subscribers').map((used, part) => used! - shareOf(cap, part));
  expect(Math.max(...over) > 0 && Math.min(...over) < 0).toBe(false);
}

test('two operators set the first cap at once: subscribers are counted once, and the cap is exact', async () => {
  const requests = fc.array(fc.array(subscriptionRequest, { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  });
  const cap = fc.integer({ min: 1, max: 30 });
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.nat({ max: 12 }),
    cap,
    cap,
    requests,
    async (scheduler, earlier, first, second, clients) => {
      const projectId = await database.createProject({ subscriberCap: null });
      const real = subscriptionStores(database.dynamo, database.tables);
      const save = (cap: number | null, endpoint = subscription().endpoint) =>
        real.subscriptions.save(projectId, subscription({ endpoint }), cap);
      const before = Array.from({ length: earlier }, () => subscription().endpoint);
      for (const endpoint of [...before, ...endpoints]) await save(null, endpoint);

      const stores = subscriptionStores(scheduled, database.tables);
      await interleaving.run(
        scheduler,
        [
          ...[first, second].map((subscriberCap) => async () => {
            await stores.registry.setPlan(projectId, { subscriberCap }, deployed);
          }),
          ...clients.map((operations) => async () => {
            for (const operation of operations) {
              await perform(stores, projectId, operation, new Map());
            }
          }),
        ],
        async () => expectExactCounter(await read(projectId)),
      );

      // When all functions know the cap, it is set once more.
      const limit = (await real.registry.find(projectId))!.plan.subscriberCap!;
      await real.registry.setPlan(projectId, { subscriberCap: limit }, deployed);
      const balanced = await read(projectId);
      expectBalanced(balanced, limit);
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => save(limit)));
      const room = Math.max(0, limit - balanced.subscriptions.size);
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(room);
      expectExactCounter(await read(projectId));
    },
  );
  await fc.assert(property, cases(runs));
});
