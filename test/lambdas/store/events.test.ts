import { type Database, startDatabase } from '../../fixtures/database.ts';
import { claimFirstShare, newNotification, sendsOf, talliesOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

/** A notification that is being delivered. */
async function delivering(projectId: string) {
  const begun = newNotification(projectId);
  await sendsOf(database).begin(begun, null);
  await claimFirstShare(database, begun, 'invocation');
  return begun;
}

test('55 concurrent beacons are counted by type', async () => {
  const projectId = await database.createProject();
  const { id } = await delivering(projectId);
  const tallies = talliesOf(database);
  const shown = Array.from({ length: 40 }, () => tallies.count(projectId, id, 0, 'shown'));
  const clicked = Array.from({ length: 15 }, () => tallies.count(projectId, id, 0, 'clicked'));
  await Promise.all([...shown, ...clicked]);
  expect(await tallies.find(id, [0])).toMatchObject([{ shown: 40, clicked: 15 }]);
});

test('a beacon for a notification of another project stores nothing', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const { id } = await delivering(projectId);
  expect(await talliesOf(database).count(other, id, 0, 'shown')).toBe(false);
  expect(await talliesOf(database).find(id, [0])).toMatchObject([{ shown: 0, clicked: 0 }]);
});

test('a beacon for a cancelled notification is refused', async () => {
  const projectId = await database.createProject();
  const begun = await delivering(projectId);
  await sendsOf(database).cancel(begun, 'invocation');
  expect(await talliesOf(database).count(projectId, begun.id, 0, 'shown')).toBe(false);
});
