import { projectTables } from '../../../admin/project-tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { readParts, subscriberCounter } from '../../../lambdas/store/counters.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { projectStore } from '../../../lambdas/store/projects.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { useDatabase } from '../../fixtures/database.ts';

// A local engine never reads stale items. What DynamoDB would do is seen only in the requests.

let reads: (boolean | undefined)[] = [];

const database = useDatabase();
beforeAll(async () => {
  database.dynamo.middlewareStack.add(
    (next) => (args) => {
      reads.push((args.input as { ConsistentRead?: boolean }).ConsistentRead);
      return next(args);
    },
    { step: 'initialize' },
  );
});
beforeEach(() => {
  reads = [];
});

const clock = () => new Date();
const project = 'shop' as ProjectRef;

test.each<[string, (tables: ReturnType<typeof projectTables>) => Promise<unknown>]>([
  [
    'a notification',
    ({ notifications }) => notificationStore(database.dynamo, notifications).find(project, 'id'),
  ],
  [
    'the list of notifications',
    ({ notifications }) => notificationStore(database.dynamo, notifications).newest(project, 1),
  ],
  [
    'the send of an idempotency key',
    (tables) => sendStore(database.dynamo, tables).earlier(project, 'hash', clock()),
  ],
  [
    'the parts of a counter',
    ({ usage }) => readParts(database.dynamo, subscriberCounter(usage, project)),
  ],
  ['a project', ({ projects }) => projectStore(database.dynamo, projects, clock).find('shop')],
])('%s is read consistently', async (_, read) => {
  await read(projectTables(database.tables));
  expect(reads).toEqual([true]);
});

test.each([true, false])('a broadcast that asks for it is read consistently: %s', async (asked) => {
  const store = audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
  const options = { limit: 1, consistent: asked, conditions: {}, sentAt: 0 };
  await store.everyone(project, { from: 0, to: 1 }, options);
  expect(reads).toEqual([asked]);
});
