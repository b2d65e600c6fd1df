import { GetCommand } from '@aws-sdk/lib-dynamodb';
import {
  beaconStore,
  type NewNotification,
  secondsToNextMonth,
  sendStore,
} from '../../lambdas/store/notifications.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';

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

const beacons = () => beaconStore(database.dynamo, database.tables.NOTIFICATIONS_TABLE);

function notification(projectId: string, sentAt = '2026-11-20T12:00:00Z'): NewNotification {
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

test('a send takes a unit of its month and leaves a record for beacons', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  expect(await sends().begin(begun, 10)).toBe('begun');
  expect(await database.usage(projectId, '2026-11')).toBe(1);
  expect(await record(projectId, begun.id)).toEqual({
    projectId,
    notificationId: begun.id,
    title: 'T',
    url: 'https://example.com/',
    sentAt: '2026-11-20T12:00:00.000Z',
    expiresAt: Date.parse('2027-02-18T12:00:00Z') / 1000,
    shown: 0,
    clicked: 0,
  });
});

test('nothing is taken or left for a project that has been deleted', async () => {
  const orphan = notification('no-such-project');
  expect(await sends().begin(orphan, 10)).toBe('project_gone');
  expect(await sends().begin(orphan, null)).toBe('project_gone');
  expect(await record('no-such-project', orphan.id)).toBeUndefined();
  expect(await database.usage('no-such-project', '2026-11')).toBe(0);
});

test('200 sends at once against a cap of 50 leave 50 accepted, each with its record', async () => {
  const projectId = await database.createProject();
  const wanted = Array.from({ length: 200 }, () => notification(projectId));
  const outcomes = await Promise.all(wanted.map((one) => sends().begin(one, 50)));
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(50);
  expect(await database.usage(projectId, '2026-11')).toBe(50);
  const records = await Promise.all(wanted.map(({ id }) => record(projectId, id)));
  expect(records.map(Boolean)).toEqual(outcomes.map((outcome) => outcome === 'begun'));
});

test('the count begins anew at midnight UTC of the 1st', async () => {
  const projectId = await database.createProject();
  const last = notification(projectId, '2026-11-30T23:59:59.999Z');
  expect(await sends().begin(last, 1)).toBe('begun');
  expect(await sends().begin(notification(projectId, '2026-11-30T23:59:59.999Z'), 1)).toBe(
    'cap_reached',
  );
  expect(await sends().begin(notification(projectId, '2026-12-01T00:00:00Z'), 1)).toBe('begun');
  expect(await database.usage(projectId, '2026-11')).toBe(1);
  expect(await database.usage(projectId, '2026-12')).toBe(1);
});

test.each([
  ['2026-11-30T23:59:59.500Z', 1],
  ['2026-12-31T23:00:00Z', 3600],
  ['2028-02-01T00:00:00Z', 29 * 24 * 60 * 60],
])('from %s the next month is %i seconds away', (now, seconds) => {
  expect(secondsToNextMonth(new Date(now))).toBe(seconds);
});

test('a unit given back can be taken again, and is given back once', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  await sends().begin(begun, 1);
  await sends().giveBack(begun);
  await expect(sends().giveBack(begun)).rejects.toThrow();
  expect(await database.usage(projectId, '2026-11')).toBe(0);
  expect(await record(projectId, begun.id)).toBeUndefined();
  expect(await sends().begin(notification(projectId), 1)).toBe('begun');
});

test('the counts are added to the record, and beacons that came before them stay', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  await sends().begin(begun, null);
  expect(await beacons().count(projectId, begun.id, 'shown')).toBe(true);
  const counts = { attempted: 5, delivered: 2, removed: 1, failed: 2 };
  await sends().finish(projectId, { id: begun.id, ...counts, unreached: 3 });
  expect(await record(projectId, begun.id)).toMatchObject({ ...counts, unreached: 3, shown: 1 });
});

test('a send that reached everyone leaves no word of unreached ones', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  await sends().begin(begun, null);
  const counts = { attempted: 1, delivered: 1, removed: 0, failed: 0 };
  await sends().finish(projectId, { id: begun.id, ...counts, unreached: undefined });
  expect(await record(projectId, begun.id)).toMatchObject(counts);
  expect(await record(projectId, begun.id)).not.toHaveProperty('unreached');
});

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
