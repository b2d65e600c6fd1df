import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { ProjectNotFound } from '../../admin/project-errors.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { limitOf } from '../../contract/project.ts';
import { audienceStore } from '../../lambdas/store/audience.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { endpointHash, subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { connect, type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/owned-tables.ts';
import { cases } from './fixtures/seed.ts';

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
const mixesAtOnce = 40;
const races = 40;

const clock = () => new Date();
const deployedCap = 4;

/** The parts of the functions and of the operator's command, on a client of their own. */
function partsOn(dynamo: typeof scheduled) {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
  const tables = { subscriptions, usage };
  return {
    subscriptions: subscriptionStore(dynamo, tables, clock),
    audiences: audienceStore(dynamo, tables),
    registry: projectRegistry(dynamo, projectTables(database.tables), clock),
    // Of a function that has just started: it remembers no project.
    projects: projectStore(dynamo, database.tables.PROJECTS_TABLE, clock),
  };
}

const endpoints = Array.from({ length: 6 }, () => subscription().endpoint);
const hashes = endpoints.map(endpointHash);

type Operation =
  | { readonly kind: 'subscribe'; readonly index: number; readonly userId: string | undefined }
  | { readonly kind: 'unsubscribe'; readonly index: number }
  | { readonly kind: 'gone'; readonly indices: readonly number[] }
  | { readonly kind: 'cap'; readonly cap: number | null | 'default' }
  | { readonly kind: 'delete' };

const index = fc.nat({ max: endpoints.length - 1 });
const cap = fc.oneof(
  fc.integer({ min: 1, max: endpoints.length }),
  fc.constantFrom(null, 'default' as const),
);
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('subscribe' as const),
      index,
      userId: fc.option(fc.constantFrom('u1', 'u2'), { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('unsubscribe' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('gone' as const),
      indices: fc.uniqueArray(index, { minLength: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cap' as const), cap }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
) satisfies fc.Arbitrary<Operation>;

/** What some do at the same time, each one thing after the other. */
const doings = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 5,
});

/** What must hold of the call that an operation ended with, given what there was around it. */
type Verdict = (before: ProjectItems, after: ProjectItems) => void;

/** How often each endpoint was created so far, by its hash. */
type Creations = Map<string, number>;

/** Runs an operation to its end. */
async function perform(
  { subscriptions, audiences, registry, projects }: ReturnType<typeof partsOn>,
  projectId: string,
  operation: Operation,
  creations: Creations,
): Promise<Verdict> {
  switch (operation.kind) {
    case 'subscribe': {
      const project = await projects.find(projectId);
      if (project === undefined) return () => {};
      const limit = limitOf(project.plan.subscriberCap, deployedCap);
      const { userId } = operation;
      const endpoint = endpoints[operation.index]!;
      const hash = endpointHash(endpoint);
      const wanted = subscription({ endpoint, ...(userId !== undefined && { userId }) });
      const outcome = await subscriptions.save(projectId, wanted, limit);
      return (before, after) => {
        expect(outcome).toBe(rightOutcome(before, hash, limit));
        if (outcome === 'created') creations.set(hash, (creations.get(hash) ?? 0) + 1);
        if (outcome === 'created' || outcome === 'updated') {
          expect(after.subscriptions.get(hash)?.userId).toBe(userId);
        }
      };
    }
    case 'unsubscribe': {
      const endpoint = endpoints[operation.index]!;
      const hash = endpointHash(endpoint);
      const outcome = await subscriptions.remove(projectId, endpoint);
      return (before, after) => {
        const wasThere = before.subscribers !== undefined && before.subscriptions.has(hash);
        expect(outcome).toBe(wasThere ? 'removed' : 'absent');
        if (wasThere) expect(after.subscriptions.has(hash)).toBe(false);
      };
    }
    case 'gone': {
      const named = operation.indices.map((one) => hashes[one]!);
      const createdBefore = new Map(creations);
      await audiences.removeGone(projectId, named);
      return (_, after) => {
        if (after.subscribers === undefined) return;
        for (const hash of named.filter((one) => after.subscriptions.has(one))) {
          // Only one that came back meanwhile may stay.
          expect(creations.get(hash)).toBeGreaterThan(createdBefore.get(hash) ?? 0);
        }
      };
    }
    case 'cap':
      await ignoringDeletion(registry.setPlan(projectId, { subscriberCap: operation.cap }));
      return () => {};
    case 'delete':
      await ignoringDeletion(registry.remove(projectId, randomBytes));
      return (_, { subscribers, subscriptions: left }) => {
        expect({ subscribers, left: left.size }).toEqual({ subscribers: undefined, left: 0 });
      };
  }
}

function rightOutcome(
  { subscriptions, subscribers }: ProjectItems,
  hash: string,
  limit: number | null,
) {
  if (subscriptions.has(hash)) return 'updated';
  if (subscribers === undefined) return 'project_gone';
  return limit === null || subscriptions.size < limit ? 'created' : 'cap_reached';
}

async function ignoringDeletion(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof ProjectNotFound)) throw error;
  }
}

/** The counter, where there is one, says how many items there are. */
function expectExact({ subscribers, subscriptions }: ProjectItems): void {
  if (subscribers !== undefined) expect(subscribers).toBe(subscriptions.size);
}

/** Makes a project with some of the endpoints subscribed. */
async function projectWith(known: readonly number[]): Promise<string> {
  const projectId = await database.createProject();
  const { subscriptions } = partsOn(database.dynamo);
  for (const one of known) {
    await subscriptions.save(projectId, subscription({ endpoint: endpoints[one]! }), null);
  }
  return projectId;
}

const known = fc.uniqueArray(index);
const read = (projectId: string) => readProjectItems(database.dynamo, database.tables, projectId);

test('the counter of subscribers equals the subscriptions after every single call, and each answer is right at its moment, in whatever order calls interleave', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    known,
    doings,
    async (scheduler, subscribed, all) => {
      const projectId = await projectWith(subscribed);
      const parts = partsOn(scheduled);
      const creations: Creations = new Map();
      const verdicts: Verdict[] = [];
      let before = await read(projectId);
      await interleaving.run(
        scheduler,
        all.map((operations) => async () => {
          for (const one of operations) {
            verdicts.push(await perform(parts, projectId, one, creations));
          }
        }),
        async () => {
          const after = await read(projectId);
          expectExact(after);
          for (const verdict of verdicts.splice(0)) verdict(before, after);
          before = after;
        },
      );
    },
  );
  await fc.assert(property, cases(interleavings));
});

test('the counter of subscribers equals the subscriptions after any mix of subscribe, update, unsubscribe, gone at send, cap change and deletion at once', async () => {
  const mixes = fc.array(operation, { minLength: 20, maxLength: 60 });
  const property = fc.asyncProperty(known, mixes, async (subscribed, operations) => {
    const projectId = await projectWith(subscribed);
    const parts = partsOn(database.dynamo);
    await Promise.all(operations.map((one) => perform(parts, projectId, one, new Map())));
    expectExact(await read(projectId));
  });
  // A failure may not come again: there is nothing to gain from shrinking it.
  await fc.assert(property, cases(mixesAtOnce, { endOnFailure: true }));
});

test('a cap is never passed by one and never refuses below: so many at once, as many as there is room for', async () => {
  const number = fc.integer({ min: 1, max: 60 });
  const property = fc.asyncProperty(
    fc.nat({ max: 20 }),
    number,
    number,
    async (there, limit, newcomers) => {
      const projectId = await database.createProject();
      const { subscriptions } = partsOn(database.dynamo);
      const save = () => subscriptions.save(projectId, subscription(), limit);
      const first = Math.min(there, limit);
      await Promise.all(Array.from({ length: first }, save));
      const outcomes = await Promise.all(Array.from({ length: newcomers }, save));
      const room = Math.min(newcomers, limit - first);
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(room);
      expect(outcomes.filter((outcome) => outcome === 'cap_reached')).toHaveLength(
        newcomers - room,
      );
      const { subscribers, subscriptions: items } = await read(projectId);
      expect({ subscribers, items: items.size }).toEqual({
        subscribers: first + room,
        items: first + room,
      });
    },
  );
  await fc.assert(property, cases(races, { endOnFailure: true }));
});
