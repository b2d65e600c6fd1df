import { projectTables } from '../../admin/project-tables.ts';
import { importSubscriptions } from '../../admin/subscriptions/import.ts';
import { batchImport, type ImportedSubscription } from '../../admin/subscriptions/import-batch.ts';
import type { Project } from '../../contract/project.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { endpointHash, subscriptionKey } from '../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { newNotification } from '../lambdas/store/stored-notifications.ts';
import { readProjectItems } from './fixtures/project-items.ts';

const subscriberCap = 100;
const monthlyCap = 50;
const month = '2126-11';

type OwnProject = Pick<Project, 'projectId' | 'ref'>;

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const clock = () => new Date(`${month}-20T12:00:00Z`);

function stores() {
  const { dynamo } = database;
  const tables = projectTables(database.tables);
  return {
    subscriptions: subscriptionStore(dynamo, tables, clock),
    sends: sendStore(dynamo, tables),
    importBatch: batchImport(dynamo, tables, projectStore(dynamo, tables.projects, clock), 1000),
  };
}

/** Subscribes new browsers, all at once. */
async function subscribe({ ref }: OwnProject, count: number) {
  const { subscriptions } = stores();
  const created = Array.from({ length: count }, () => subscription());
  const saves = created.map((one) => subscriptions.save(ref, one, subscriberCap));
  const outcomes = await Promise.all(saves);
  return created.filter((_, index) => outcomes[index] === 'created');
}

/** Begins sends, all at once. */
async function begin({ ref }: OwnProject, count: number) {
  const { sends } = stores();
  const notifications = Array.from({ length: count }, () => newNotification(ref));
  const outcomes = await Promise.all(
    notifications.map((one) => sends.begin(one, 'request', undefined, monthlyCap)),
  );
  return notifications.filter((_, index) => outcomes[index] === 'begun');
}

async function importNew({ projectId, ref }: OwnProject, count: number) {
  async function* all(): AsyncGenerator<ImportedSubscription> {
    for (let made = 0; made < count; made += 1) {
      const { endpoint, keys } = subscription();
      yield {
        ...subscriptionKey(ref, endpointHash(endpoint.href)),
        ...{ origin: endpoint.origin, path: endpoint.path, ...keys },
        ...{ createdAt: 0, updatedAt: 0, vapidPairNumber: undefined },
      };
    }
  }
  const { importBatch } = stores();
  return importSubscriptions(all(), { projectId, importBatch, sleep: async () => {} });
}

/** What is counted and what is stored: of subscriptions, and of notifications. */
async function counts({ ref }: OwnProject) {
  const items = await readProjectItems(database.dynamo, database.tables, ref);
  const { subscriptions, subscribers, notifications, sendsByMonth } = items;
  return {
    subscribers: [subscribers, subscriptions.size],
    sends: [sendsByMonth.get(month) ?? 0, notifications.size],
  };
}

test('the caps are exact also while others unsubscribe, are imported and cancel', async () => {
  const project = await database.createProject({ subscriberCap });
  const [leaving, cancelled] = await Promise.all([subscribe(project, 80), begin(project, 40)]);
  const { subscriptions, sends } = stores();
  const hashes = leaving.map(({ endpoint }) => endpointHash(endpoint.href));
  const removals = [
    // Each fourth one alone, the others in batches.
    ...leaving.slice(0, 20).map(({ endpoint }) => subscriptions.remove(project.ref, endpoint.href)),
    ...[20, 40, 60].map((at) => subscriptions.removeBatch(project.ref, hashes.slice(at, at + 20))),
  ];
  const [subscribed, imported, begun] = await Promise.all([
    subscribe(project, 200),
    importNew(project, 200),
    begin(project, 100),
    ...removals,
    ...cancelled.map((one) => sends.cancel(one, 'request')),
  ]);
  const stored = subscribed.length + imported.created;
  expect(stored).toBeLessThanOrEqual(subscriberCap);
  expect(begun.length).toBeLessThanOrEqual(monthlyCap);
  expect(await counts(project)).toEqual({
    subscribers: [stored, stored],
    sends: [begun.length, begun.length],
  });

  await Promise.all([subscribe(project, 150), begin(project, 100)]);
  expect(await counts(project)).toEqual({ subscribers: [100, 100], sends: [50, 50] });
});
