import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { eventStore } from '../../../lambdas/store/events.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';

// Far ahead: DynamoDB Local deletes within seconds what its TTL says is over.
let database: Database;
let made = 0;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

function sends() {
  const { PROJECTS_TABLE, NOTIFICATIONS_TABLE, USAGE_TABLE } = database.tables;
  return sendStore(database.dynamo, {
    projects: PROJECTS_TABLE,
    notifications: NOTIFICATIONS_TABLE,
    usage: USAGE_TABLE,
  });
}

const beacons = () => eventStore(database.dynamo, database.tables.NOTIFICATIONS_TABLE);

function notification(projectId: string, sentAt = '2126-11-20T12:00:00Z'): NewNotification {
  made += 1;
  const content = { title: 'T', body: undefined, url: 'https://example.com/' };
  return { projectId, id: `n${made}`, content, sentAt: new Date(sentAt) };
}

async function record(projectId: string, notificationId: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({
      TableName: database.tables.NOTIFICATIONS_TABLE,
      Key: { projectId, notificationId },
    }),
  );
  return Item;
}

test('beacons are counted by type, at once and exactly', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  await sends().begin(begun, null);
  const shown = Array.from({ length: 40 }, () => beacons().count(projectId, begun.id, 'shown'));
  const clicked = Array.from({ length: 15 }, () => beacons().count(projectId, begun.id, 'clicked'));
  await Promise.all([...shown, ...clicked]);
  expect(await record(projectId, begun.id)).toMatchObject({ shown: 40, clicked: 15 });
});

test('a beacon of an unknown notification, or of another project’s, leaves nothing', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const begun = notification(projectId);
  await sends().begin(begun, null);
  expect(await beacons().count(other, begun.id, 'shown')).toBe(false);
  expect(await record(other, begun.id)).toBeUndefined();
});
