import { randomBytes } from 'node:crypto';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { eventsOf, newNotification, readRecord, sendsOf } from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const sends = () => sendsOf(database);

test('begin takes a unit of the month and stores the notification', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  expect(await sends().begin(begun, 10)).toBe('begun');
  expect(await database.usage(projectId, '2126-11')).toBe(1);
  expect(await readRecord(database, projectId, begun.id)).toEqual({
    projectId,
    notificationId: begun.id,
    title: 'T',
    url: 'https://example.com/',
    sentAt: '2126-11-20T12:00:00.000Z',
    expiresAt: Date.parse('2127-02-18T12:00:00Z') / 1000,
    shown: 0,
    clicked: 0,
  });
});

test('begin stores nothing for a project that was deleted', async () => {
  const orphan = newNotification('no-such-project');
  expect(await sends().begin(orphan, 10)).toBe('project_gone');
  expect(await sends().begin(orphan, null)).toBe('project_gone');
  expect(await readRecord(database, 'no-such-project', orphan.id)).toBeUndefined();
  expect(await database.usage('no-such-project', '2126-11')).toBe(0);
});

test('200 concurrent sends with a cap of 50 store 50 notifications', async () => {
  const projectId = await database.createProject();
  const notifications = Array.from({ length: 200 }, () => newNotification(projectId));
  const outcomes = await Promise.all(notifications.map((one) => sends().begin(one, 50)));
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(50);
  expect(await database.usage(projectId, '2126-11')).toBe(50);
  const records = await Promise.all(
    notifications.map(({ id }) => readRecord(database, projectId, id)),
  );
  expect(records.map(Boolean)).toEqual(outcomes.map((outcome) => outcome === 'begun'));
});

test('each UTC month has its own count', async () => {
  const projectId = await database.createProject();
  const last = newNotification(projectId, '2126-11-30T23:59:59.999Z');
  expect(await sends().begin(last, 1)).toBe('begun');
  expect(await sends().begin(newNotification(projectId, '2126-11-30T23:59:59.999Z'), 1)).toBe(
    'cap_reached',
  );
  expect(await sends().begin(newNotification(projectId, '2126-12-01T00:00:00Z'), 1)).toBe('begun');
  expect(await database.usage(projectId, '2126-11')).toBe(1);
  expect(await database.usage(projectId, '2126-12')).toBe(1);
});

test('release returns the unit, once', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  await sends().begin(begun, 1);
  await sends().release(begun, 'r');
  await sends().release(begun, 'r');
  expect(await database.usage(projectId, '2126-11')).toBe(0);
  expect(await readRecord(database, projectId, begun.id)).toBeUndefined();
  expect(await sends().begin(newNotification(projectId), 1)).toBe('begun');
});

test('finish and release store nothing for a project that was deleted', async () => {
  const projectId = await database.createProject();
  const [ended, failed] = [newNotification(projectId), newNotification(projectId)];
  const registry = projectRegistry(
    database.dynamo,
    projectTables(database.tables),
    () => new Date(),
  );
  await sends().begin(ended, 10);
  await sends().begin(failed, 10);
  await registry.remove(projectId, randomBytes);
  await sends().finish(projectId, {
    id: ended.id,
    attempted: 1,
    delivered: 1,
    removed: 0,
    failed: 0,
  });
  await sends().release(failed, 'r');
  expect(await readRecord(database, projectId, ended.id)).toBeUndefined();
  expect(await database.usage(projectId, '2126-11')).toBe(0);
});

describe('cancel', () => {
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };

  test('undoes begin', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    expect(await readRecord(database, projectId, begun.id)).toBeUndefined();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().begin({ ...newNotification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('makes a later begin of the same notification fail', async () => {
    const projectId = await database.createProject();
    const late = { ...newNotification(projectId), idempotency };
    await sends().cancel(late, 'r');
    await expect(sends().begin(late, 10)).rejects.toThrow();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
  });

  test('stores nothing for a project that was deleted', async () => {
    const orphan = newNotification('no-such-project');
    await sends().cancel(orphan, 'r');
    expect(await readRecord(database, 'no-such-project', orphan.id)).toBeUndefined();
  });
});

test('finish stores the counts and keeps the counts of earlier beacons', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  await sends().begin(begun, null);
  expect(await eventsOf(database).count(projectId, begun.id, 'shown')).toBe(true);
  const counts = { attempted: 5, delivered: 2, removed: 1, failed: 2 };
  await sends().finish(projectId, { id: begun.id, ...counts, unreached: 3 });
  expect(await readRecord(database, projectId, begun.id)).toMatchObject({
    ...counts,
    unreached: 3,
    shown: 1,
  });
});

test('finish stores unreached only if a subscriber is unreached', async () => {
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  await sends().begin(begun, null);
  const counts = { attempted: 1, delivered: 1, removed: 0, failed: 0 };
  await sends().finish(projectId, { id: begun.id, ...counts, unreached: undefined });
  expect(await readRecord(database, projectId, begun.id)).toMatchObject(counts);
  expect(await readRecord(database, projectId, begun.id)).not.toHaveProperty('unreached');
});
