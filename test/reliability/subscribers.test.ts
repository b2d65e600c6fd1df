import fc from 'fast-check';
import type { Plan, Project, ProjectRef } from '../../contract/project.ts';
import { connect, type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/project-items.ts';
import { cases } from './fixtures/seed.ts';
import {
  type Check,
  type Creations,
  clientsOfSubscriptions,
  endpointIndex,
  endpoints,
  perform,
  subscriptionOperation,
  subscriptionStores,
} from './fixtures/subscription-operations.ts';

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

const interleavings = 200;
const concurrentMixes = 40;

/** Expects the counter, unless the project is deleted, to equal the number of items. */
function expectExactCounter({ subscribers, subscriptions }: ProjectItems): void {
  if (subscribers !== undefined) expect(subscribers).toBe(subscriptions.size);
}

/** Creates a project with these endpoints subscribed. */
async function createProjectWith(
  indices: readonly number[],
  plan: Plan,
): Promise<Pick<Project, 'projectId' | 'ref'>> {
  const project = await database.createProject(plan);
  const { subscriptions } = subscriptionStores(database.dynamo, database.tables);
  for (const index of indices) {
    await subscriptions.save(project.ref, subscription({ endpoint: endpoints[index]! }), null);
  }
  return project;
}

/** The deployment's cap, and none. */
const plan: fc.Arbitrary<Plan> = fc.constantFrom({}, { subscriberCap: null });

const subscribedIndices = fc.uniqueArray(endpointIndex);
const read = (project: ProjectRef) => readProjectItems(database.dynamo, database.tables, project);

test('the subscriber counter equals the number of subscriptions after every call, and every call has the right outcome, in any interleaving', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    subscribedIndices,
    plan,
    clientsOfSubscriptions,
    async (scheduler, subscribed, plan, clients) => {
      const { projectId, ref } = await createProjectWith(subscribed, plan);
      const stores = subscriptionStores(scheduled, database.tables);
      const creations: Creations = new Map();
      const checks: Check[] = [];
      let before = await read(ref);
      await interleaving.run(
        scheduler,
        clients.map((operations) => async () => {
          for (const operation of operations) {
            checks.push(await perform(stores, projectId, operation, creations));
          }
        }),
        async () => {
          const after = await read(ref);
          expectExactCounter(after);
          for (const check of checks.splice(0)) check(before, after);
          before = after;
        },
      );
    },
  );
  await fc.assert(property, cases(interleavings));
});

test('the subscriber counter equals the number of subscriptions after any concurrent mix of subscribe, update, unsubscribe, removal at send, cap change and project deletion', async () => {
  const mixes = fc.array(subscriptionOperation, { minLength: 20, maxLength: 60 });
  const property = fc.asyncProperty(
    subscribedIndices,
    plan,
    mixes,
    async (subscribed, plan, operations) => {
      const { projectId, ref } = await createProjectWith(subscribed, plan);
      const stores = subscriptionStores(database.dynamo, database.tables);
      await Promise.all(operations.map((one) => perform(stores, projectId, one, new Map())));
      expectExactCounter(await read(ref));
    },
  );
  // No shrinking: a failure depends on timing and may not repeat.
  await fc.assert(property, cases(concurrentMixes, { endOnFailure: true }));
});
