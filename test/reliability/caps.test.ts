import { randomUUID } from 'node:crypto';
import { projectTables } from '../../admin/project-tables.ts';
import { importSubscriptions } from '../../admin/subscriptions/import.ts';
import { batchImport, type ImportedSubscription } from '../../admin/subscriptions/import-batch.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import type { NewNotification } from '../../lambdas/store/send-writes.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { endpointHash, subscriptionKey } from '../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { type Database, projectCreatedAt, startDatabase } from '../fixtures/database.ts';
import { subscription } from '../fixtures/subscription.ts';
import { readProjectItems } from './fixtures/project-items.ts';

const subscriberCap = 100;
const monthlyCap = 50;
const month = '2126-11';

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

function newNotification(projectId: string): NewNotification {
  const division = { subscribers: 0, shares: 1, talliesPerShare: 1, respondedAsync: false };
  const project = { projectId, projectCreatedAt };
  return { ...project, id: randomUUID(), content: { title: 'T' }, division, sentAt: clock() };
}

/** Subscribes new browsers, all at once. */
async function subscribe(projectId: string, count: number) {
  const { subscriptions } = stores();
  const created = Array.from({ length: count }, () => subscription());
  const saves = created.map((one) => subscriptions.save(projectId, one, subscriberCap));
  const outcomes = await Promise.all(saves);
  return created.filter((_, index) => outcomes[index] === 'created');
}

/** Begins sends, all at once. */
async function begin(projectId: string, count: number) {
  const { sends } = stores();
  const notifications = Array.from({ length: count }, () => newNotification(projectId));
  const outcomes = await Promise.all(notifications.map((one) => sends.begin(one, monthlyCap)));
  return notifications.filter((_, index) => outcomes[index] === 'begun');
}

async function importNew(projectId: string, count: number) {
  async function* all(): AsyncGenerator<ImportedSubscription> {
    for (let made = 0; made < count; made += 1) {
      const { endpoint, keys } = subscription();
      yield {
        ...subscriptionKey(projectId, endpointHash(endpoint.href)),
        ...{ origin: endpoint.origin, path: endpoint.path, ...keys },
        ...{ createdAt: 0, updatedAt: 0, vapidPairNumber: undefined },
      };
    }
  }
  const { importBatch } = stores();
  return importSubscriptions(all(), { projectId, importBatch, sleep: async () => {} });
}

/** What is counted and what is stored: of subscriptions, and of notifications. */
async function counts(projectId: string) {
  const items = await readProjectItems(database.dynamo, database.tables, projectId);
  const { subscriptions, subscribers, notifications, sendsByMonth } = items;
  return {
    subscribers: [subscribers, subscriptions.size],
    sends: [sendsByMonth.get(month) ?? 0, notifications.size],
  };
}

test('the caps are exact also while others unsubscribe, are imported and cancel', async () => {
  const projectId = await database.createProject({ subscriberCap });
  const [leaving, cancelled] = await Promise.all([subscribe(projectId, 80), begin(projectId, 40)]);
  const { subscriptions, sends } = stores();
  const hashes = leaving.map(({ endpoint }) => endpointHash(endpoint.href));
  const removals = [
    // Each fourth one alone, the others in batches.
    ...leaving.slice(0, 20).map(({ endpoint }) => subscriptions.remove(projectId, endpoint.href)),
    ...[20, 40, 60].map((at) => subscriptions.removeBatch(projectId, hashes.slice(at, at + 20))),
  ];
  const [subscribed, imported, begun] = await Promise.all([
    subscribe(projectId, 200),
    importNew(projectId, 200),
    begin(projectId, 100),
    ...removals,
    ...cancelled.map((one) => sends.cancel(one, 'nobody')),
  ]);
  const stored = subscribed.length + imported.created;
  expect(stored).toBeLessThanOrEqual(subscriberCap);
  expect(begun.length).toBeLessThanOrEqual(monthlyCap);
  expect(await counts(projectId)).toEqual({
    subscribers: [stored, stored],
    sends: [begun.length, begun.length],
  });

  await Promise.all([subscribe(projectId, 150), begin(projectId, 100)]);
  expect(await counts(projectId)).toEqual({ subscribers: [100, 100], sends: [50, 50] });
});
