import { type Database, startDatabase } from '../../fixtures/database.ts';
import { eventsOf, newNotification, readRecord, sendsOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

test('55 concurrent beacons are counted by type', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  await sendsOf(database).begin(begun, null);
  const shown = Array.from({ length: 40 }, () =>
    eventsOf(database).count(projectId, begun.id, 'shown'),
  );
  const clicked = Array.from({ length: 15 }, () =>
    eventsOf(database).count(projectId, begun.id, 'clicked'),
  );
  await Promise.all([...shown, ...clicked]);
  expect(await readRecord(database, projectId, begun.id)).toMatchObject({ shown: 40, clicked: 15 });
});

test('a beacon for a notification of another project stores nothing', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const begun = newNotification(projectId);
  await sendsOf(database).begin(begun, null);
  expect(await eventsOf(database).count(other, begun.id, 'shown')).toBe(false);
  expect(await readRecord(database, other, begun.id)).toBeUndefined();
});
