import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { newNotification, sendsOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const notifications = () => notificationStore(database.dynamo, database.tables.NOTIFICATIONS_TABLE);

test('a notification is found as it was sent, in its project only', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  await sendsOf(database).begin(begun, null);
  expect(await notifications().find(projectId, begun.id)).toEqual({
    id: begun.id,
    content: { title: 'T', url: 'https://example.com/' },
    plan: begun.plan,
    sentAt: begun.sentAt,
  });
  expect(await notifications().find('another-project', begun.id)).toBeUndefined();
  expect(await notifications().find(projectId, 'unknown')).toBeUndefined();
});

test('a cancelled notification is not found', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  // The second cancellation leaves an item, so that a late begin fails.
  await sendsOf(database).begin(begun, null);
  await sendsOf(database).cancel(begun, 'r');
  await sendsOf(database).cancel(begun, 'r');
  expect(await notifications().find(projectId, begun.id)).toBeUndefined();
});
