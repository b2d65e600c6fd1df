import fc from 'fast-check';
import { type ProjectRegistry, projectRegistry } from '../../admin/project-registry.ts';
import { limitOf } from '../../contract/project.ts';
import { currentRemovals } from '../../lambdas/shares/current-removals.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { endpointHash } from '../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { cases } from './fixtures/seed.ts';
import { readSubscribers } from './fixtures/stored-subscribers.ts';

const runs = 20;
/** The deployment's cap. */
const defaultCap = 1000;

let database: Database;
let registry: ProjectRegistry;
let now: number;
const clock = () => new Date(now);

beforeAll(async () => {
  database = await startDatabase();
  registry = projectRegistry(database.dynamo, projectTables(database.tables), clock);
});
afterAll(() => database.stop());
beforeEach(() => {
  now = Date.UTC(2026, 10, 20);
});

const endpoints = Array.from({ length: 30 }, () => subscription().endpoint);
const index = fc.nat({ max: endpoints.length - 1 });
const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unsubscribe' as const), index }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('gone' as const),
      indices: fc.uniqueArray(index, { minLength: 1, maxLength: 8 }),
    }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
const operations = fc.array(operation, { minLength: 4, maxLength: 20 });

/** A function: it uses a project for 30 s after it has read it. */
function startFunction(projectId: string) {
  const { dynamo, tables } = database;
  const projects = projectStore(dynamo, tables.PROJECTS_TABLE, clock);
  const subscriptions = subscriptionStore(dynamo, projectTables(tables), clock);
  const removals = currentRemovals(subscriptions, projects);
  /** A broadcast keeps the project that it has started with, for up to 15 minutes. */
  const broadcast = projects.find(projectId);
  return {
    async subscribe(endpoint = subscription().endpoint) {
      const project = (await projects.find(projectId))!;
      const cap = limitOf(project.plan.subscriberCap, defaultCap);
      return subscriptions.save(project, subscription({ endpoint }), cap);
    },
    async perform(one: Operation): Promise<unknown> {
      if (one.kind === 'subscribe') return this.subscribe(endpoints[one.index]!);
      if (one.kind === 'unsubscribe') {
        const project = (await projects.find(projectId))!;
        return subscriptions.remove(project, endpoints[one.index]!.href);
      }
      const hashes = one.indices.map((gone) => endpointHash(endpoints[gone]!.href));
      return removals.removeBatch((await broadcast)!, hashes);
    },
  };
}

test('a project gets its first cap while subscriptions come and go: the counter stays exact, and so is the cap', async () => {
  const property = fc.asyncProperty(
    fc.array(operations, { minLength: 6, maxLength: 6 }),
    fc.integer({ min: 1, max: 30 }),
    async ([before = [], ...meanwhile], cap) => {
      const projectId = await database.createProject({ subscriberCap: null });
      const old = startFunction(projectId);
      const performAll = (all: readonly Operation[], fn = old) =>
        Promise.all(all.map((one) => fn.perform(one)));
      const read = () => readSubscribers(database.dynamo, database.tables, projectId);
      await performAll(before);

      let duringFold: Promise<unknown> = Promise.resolve();
      const changing = registry.setPlan(
        projectId,
        { subscriberCap: cap },
        {
          onWait: () => {},
          // Functions that know of the change and one that does not work side by side.
          async sleep(ms) {
            const fresh = startFunction(projectId);
            for (const [step, some] of meanwhile.entries()) {
              const isLast = step === meanwhile.length - 1;
              const half = Math.ceil(some.length / 2);
              const performing = Promise.all([
                performAll(some.slice(0, half)),
                performAll(some.slice(half), fresh),
              ]);
              if (isLast) {
                duringFold = performing;
              } else {
                await performing;
                const { stored, single, parts } = await read();
                expect(single + parts).toBe(stored);
                now += ms / (meanwhile.length - 1);
              }
            }
          },
        },
      );
      await Promise.all([changing, changing.then(() => duringFold)]);

      const { stored, ...counted } = await read();
      expect(counted).toEqual({ single: stored, parts: 0, partsInUse: 0 });

      const newest = startFunction(projectId);
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => newest.subscribe()));
      const room = Math.max(0, cap - stored);
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(room);
      expect(await read()).toMatchObject({ stored: stored + room, single: stored + room });
    },
  );
  await fc.assert(property, cases(runs, { endOnFailure: true }));
});
