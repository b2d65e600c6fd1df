import { randomBytes } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { eventStore } from '../../../lambdas/store/events.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { projectTables } from '../../../local/dynamodb/table-names.ts';
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

test('a send takes a unit of its month and leaves a record for beacons', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  expect(await sends().begin(begun, 10)).toBe('begun');
  expect(await database.usage(projectId, '2126-11')).toBe(1);
  expect(await record(projectId, begun.id)).toEqual({
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

test('nothing is taken or left for a project that has been deleted', async () => {
  const orphan = notification('no-such-project');
  expect(await sends().begin(orphan, 10)).toBe('project_gone');
  expect(await sends().begin(orphan, null)).toBe('project_gone');
  expect(await record('no-such-project', orphan.id)).toBeUndefined();
  expect(await database.usage('no-such-project', '2126-11')).toBe(0);
});

test('200 sends at once against a cap of 50 leave 50 accepted, each with its record', async () => {
  const projectId = await database.createProject();
  const wanted = Array.from({ length: 200 }, () => notification(projectId));
  const outcomes = await Promise.all(wanted.map((one) => sends().begin(one, 50)));
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(50);
  expect(await database.usage(projectId, '2126-11')).toBe(50);
  const records = await Promise.all(wanted.map(({ id }) => record(projectId, id)));
  expect(records.map(Boolean)).toEqual(outcomes.map((outcome) => outcome === 'begun'));
});

test('the count begins anew at midnight UTC of the 1st', async () => {
  const projectId = await database.createProject();
  const last = notification(projectId, '2126-11-30T23:59:59.999Z');
  expect(await sends().begin(last, 1)).toBe('begun');
  expect(await sends().begin(notification(projectId, '2126-11-30T23:59:59.999Z'), 1)).toBe(
    'cap_reached',
  );
  expect(await sends().begin(notification(projectId, '2126-12-01T00:00:00Z'), 1)).toBe('begun');
  expect(await database.usage(projectId, '2126-11')).toBe(1);
  expect(await database.usage(projectId, '2126-12')).toBe(1);
});

test('a unit returned can be taken again, and is returned once', async () => {
  const projectId = await database.createProject();
  const begun = notification(projectId);
  await sends().begin(begun, 1);
  await sends().release(begun, 'r');
  await sends().release(begun, 'r');
  expect(await database.usage(projectId, '2126-11')).toBe(0);
  expect(await record(projectId, begun.id)).toBeUndefined();
  expect(await sends().begin(notification(projectId), 1)).toBe('begun');
});

test('a send that ends after its project was deleted leaves nothing', async () => {
  const projectId = await database.createProject();
  const [ended, failed] = [notification(projectId), notification(projectId)];
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
  expect(await record(projectId, ended.id)).toBeUndefined();
  expect(await database.usage(projectId, '2126-11')).toBe(0);
});

describe('a send that is cancelled', () => {
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };

  test('has not happened where it had', async () => {
    const projectId = await database.createProject();
    const begun = { ...notification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    expect(await record(projectId, begun.id)).toBeUndefined();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().begin({ ...notification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('cannot happen later where it had not', async () => {
    const projectId = await database.createProject();
    const late = { ...notification(projectId), idempotency };
    await sends().cancel(late, 'r');
    await expect(sends().begin(late, 10)).rejects.toThrow();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
  });

  test('leaves nothing of a project that was deleted meanwhile', async () => {
    const orphan = notification('no-such-project');
    await sends().cancel(orphan, 'r');
    expect(await record('no-such-project', orphan.id)).toBeUndefined();
  });
});

describe('a request under a key', () => {
  const by = (requestId: string) => ({ requestId, at: new Date('2126-11-20T12:00:01Z') });
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };

  test('is begun once, however many come at once', async () => {
    const projectId = await database.createProject();
    const wanted = Array.from({ length: 20 }, () => ({ ...notification(projectId), idempotency }));
    const outcomes = await Promise.all(wanted.map((one) => sends().begin(one, 10)));
    expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'repeated')).toHaveLength(19);
    expect(await database.usage(projectId, '2126-11')).toBe(1);
  });

  test('is found with what it answered, once it has ended', async () => {
    const projectId = await database.createProject();
    const begun = { ...notification(projectId), idempotency };
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
    await sends().begin(begun, 10);
    const { requestHash } = idempotency;
    const begunOnly = { id: begun.id, requestHash, sentAt: begun.sentAt };
    expect(await sends().earlier(projectId, 'a1')).toEqual(begunOnly);
    const claim = by('r');
    await sends().claim(begun, claim);
    const earlier = { ...begunOnly, claimedAt: claim.at };
    expect(await sends().earlier(projectId, 'a1')).toEqual(earlier);
    const result = { id: begun.id, attempted: 3, delivered: 1, removed: 1, failed: 1 };
    await sends().finish(projectId, result);
    expect(await sends().earlier(projectId, 'a1')).toEqual({ ...earlier, result });
  });

  test('is repeated at the cap as well, and may be made again 24 hours later', async () => {
    const projectId = await database.createProject();
    const at = (time: string) => ({ ...notification(projectId, time), idempotency });
    expect(await sends().begin(at('2126-11-20T12:00:00Z'), 1)).toBe('begun');
    expect(await sends().begin(at('2126-11-21T11:59:59Z'), 1)).toBe('repeated');
    expect(await sends().begin(at('2126-11-21T12:00:00Z'), 2)).toBe('begun');
  });

  test('is forgotten with the unit that is returned', async () => {
    const projectId = await database.createProject();
    const begun = { ...notification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().release(begun, 'r');
    expect(await sends().begin({ ...notification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('is claimed by one request, which may repeat the call', async () => {
    const projectId = await database.createProject();
    const begun = { ...notification(projectId), idempotency };
    await sends().begin(begun, 10);
    const claims = await Promise.all(['r1', 'r2', 'r3'].map((id) => sends().claim(begun, by(id))));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const winner = `r${claims.indexOf(true) + 1}`;
    expect(await sends().claim(begun, by(winner))).toBe(true);
    expect(await sends().claim(begun, by('r4'))).toBe(false);
  });

  test('cannot be claimed where there is none', async () => {
    const projectId = await database.createProject();
    expect(await sends().claim(notification(projectId), by('r'))).toBe(false);
  });

  test('is released by the request that claimed it, and by no other', async () => {
    const projectId = await database.createProject();
    const begun = { ...notification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().claim(begun, by('r1'));
    expect(await sends().release(begun, 'r2')).toBe(true);
    await sends().cancel(begun, 'r2');
    expect(await database.usage(projectId, '2126-11')).toBe(1);
    expect(await sends().release(begun, 'r1')).toBe(true);
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().release(begun, 'r1')).toBe(false);
  });

  test('is its project’s own', async () => {
    const [one, other] = [await database.createProject(), await database.createProject()];
    await sends().begin({ ...notification(one), idempotency }, 10);
    expect(await sends().begin({ ...notification(other), idempotency }, 10)).toBe('begun');
  });
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
