import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { ErrorBody } from '../../contract/wire/errors.ts';
import { type NotificationList, notificationListSchema } from '../../contract/wire/notification.ts';
import { cursorOf } from '../../lambdas/list-notifications/list-notifications.ts';
import { uuidV7 } from '../../lambdas/send/sending.ts';
import { expiryAfterHours } from '../../lambdas/store/items.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;
/** Calls of BatchGetItem since the last reset. */
let batches = 0;

const service = useService({
  throttled: false,
  onDynamoDbCall: ({ operation }) => {
    if (operation === 'BatchGetItem') batches += 1;
  },
});
beforeEach(async () => {
  project = await service.createProject({ monthlySendCap: null });
});

function call<Body = ErrorBody>(query = '', owner = project) {
  return callWithValidRequest<Body>(service, owner, 'listNotifications', { query });
}

async function list(query = '', owner = project): Promise<NotificationList> {
  const { status, body } = await call<NotificationList>(query, owner);
  expect(status).toBe(200);
  expect(notificationListSchema.parse(body)).toEqual(body);
  return body;
}

const idsOf = ({ notifications }: NotificationList) => notifications.map(({ id }) => id);

/** Sends one after the other. @returns the ids, the newest first. */
async function send(count: number, headers: Record<string, string> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const { body } = await service.send(project, { title: `T${sent}` }, headers);
    ids.push(body.id);
  }
  // Ids of one millisecond are in no particular order.
  return ids.sort().reverse();
}

function put(item: object) {
  const TableName = service.stack.dynamodb.tables.NOTIFICATIONS_TABLE;
  const { ref: projectRef } = project;
  return service.dynamo.send(new PutCommand({ TableName, Item: { projectRef, ...item } }));
}

const newId = (time = new Date()) => uuidV7(time, (length) => new Uint8Array(length).fill(255));

/** Stores a notification as send does, without the items of its delivery. */
async function store(
  sentAt: Date,
  division = { subscribers: 5_000_000, slices: 1, countersPerSlice: 1 },
  days = 90,
) {
  const notificationId = newId(sentAt);
  const content = { title: 'T' };
  const times = { sentAt: sentAt.toISOString(), expiresAt: expiryAfterHours(sentAt, days * 24) };
  const item = { notificationId, content, conditions: {}, ...division, respondedAsync: true };
  await put({ ...item, ...times });
  return notificationId;
}

/** Reads all pages. */
async function readAll(limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await list(`?limit=${limit}${cursor}`);
    ids.push(...idsOf(page));
    cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  return ids;
}

test('a project without notifications has an empty list', async () => {
  expect(await list()).toEqual({ notifications: [] });
});

test('each entry is what reading the notification returns, the newest first', async () => {
  const browser = await service.subscribe(project, 'ada');
  await service.send(project, { title: 'To everyone', url: 'https://example.com/' });
  await service.send(project, { title: 'To two', userIds: ['ada', 'bob'] });
  await browser.show();
  const { notifications } = await list();
  expect(notifications).toMatchObject([
    { title: 'To two', audience: { users: 2 }, status: 'sent', delivered: 1 },
    { title: 'To everyone', audience: 'everyone', attempted: 1, delivered: 1 },
  ]);
  expect(notifications.map(({ shown }) => shown).sort()).toEqual([0, 1]);
  for (const notification of notifications) {
    const parameters = { notificationId: notification.id };
    const read = await callWithValidRequest(service, project, 'getNotification', { parameters });
    expect(read.body).toEqual(notification);
  }
});

test('a notification that is being sent is in the list, with the counts so far', async () => {
  const id = await store(new Date());
  expect((await list()).notifications).toEqual([
    expect.objectContaining({ id, status: 'sending', attempted: 0 }),
  ]);
});

test.each([1, 2, 3, 7, 8, 100])('pages of %i contain each notification once', async (limit) => {
  const ids = await send(7);
  expect(await readAll(limit)).toEqual(ids);
});

test('the last page has no cursor, also if it is full', async () => {
  await send(2);
  expect(await list('?limit=2')).not.toHaveProperty('nextCursor');
  expect(await list('?limit=1')).toHaveProperty('nextCursor');
});

test('a page has 20 notifications by default and 100 at most', async () => {
  const start = Date.now() - 1000;
  for (let stored = 0; stored < 101; stored += 1) await store(new Date(start + stored));
  expect((await list()).notifications).toHaveLength(20);
  expect((await list('?limit=100')).notifications).toHaveLength(100);
});

test('sends during the reading make it neither skip nor repeat a notification', async () => {
  const ids = await send(20);
  let isRead = false;
  const sending = (async () => {
    while (!isRead) await send(1);
  })();
  const read = await readAll(3);
  isRead = true;
  await sending;
  expect(read.filter((id) => ids.includes(id))).toEqual(ids);
  expect(read).toEqual([...new Set(read)].sort().reverse());
});

test('idempotency keys and cancelled sends are not in the list and do not shorten a page', async () => {
  const older = await send(3, {});
  const cancelled = Array.from({ length: 30 }, (_, ms) => newId(new Date(Date.now() + ms)));
  for (const notificationId of cancelled) await put({ notificationId, cancelled: true });
  const { body } = await service.send(project, { title: 'T' }, { 'idempotency-key': 'order-1' });
  const expected = [body.id, ...older].sort().reverse();
  expect(idsOf(await list('?limit=4'))).toEqual(expected);
  expect(await readAll(2)).toEqual(expected);
});

test('each notification is kept as long as the setting said when it was sent, even if DynamoDB deletes it later', async () => {
  const sentBefore = (days: number, ms: number) => new Date(Date.now() - days * 86_400_000 + ms);
  const kept = await store(sentBefore(90, 60_000), undefined, 90);
  await store(sentBefore(90, -1000), undefined, 90);
  // Sent after the period was shortened: they end before the older one.
  const short = await store(sentBefore(1, 60_000), undefined, 1);
  const ended = await store(sentBefore(1, -1000), undefined, 1);
  expect(idsOf(await list())).toEqual([short, kept]);
  expect(await readAll(1)).toEqual([short, kept]);
  const parameters = { notificationId: ended };
  const read = await callWithValidRequest(service, project, 'getNotification', { parameters });
  expect(read).toMatchObject({ status: 404, body: { error: { code: 'notification_not_found' } } });
});

test('a page of large notifications ends before 2,000 items', async () => {
  const division = {
    ...{ subscribers: 5_000_000, slices: sliceSizes.slices },
    countersPerSlice: sliceSizes.counters,
  };
  const start = Date.now() - 1000;
  const ids: string[] = [];
  for (const ms of [4, 3, 2, 1, 0]) ids.push(await store(new Date(start + ms), division));
  batches = 0;
  const page = await list('?limit=100');
  expect(idsOf(page)).toEqual(ids.slice(0, 2));
  expect(page.nextCursor).toBeDefined();
  expect(batches).toBe(Math.ceil((2 * 864) / 100));
  expect(await readAll(100)).toEqual(ids);
});

describe('a cursor names a position in the own list', () => {
  test('of another project', async () => {
    const own = await send(2);
    const other = await service.createProject();
    const { body } = await service.send(other, { title: 'Of another project' });
    expect(idsOf(await list(`?cursor=${cursorOf(body.id)}`))).toEqual(own);
    expect(idsOf(await list(`?cursor=${cursorOf(own[0]!)}`, other))).toEqual([]);
  });

  test('of a deleted notification', async () => {
    const [newest, deleted, oldest] = await send(3);
    await service.dynamo.send(
      new DeleteCommand({
        TableName: service.stack.dynamodb.tables.NOTIFICATIONS_TABLE,
        Key: { projectRef: project.ref, notificationId: deleted },
      }),
    );
    expect(idsOf(await list(`?cursor=${cursorOf(deleted!)}`))).toEqual([oldest]);
    expect(idsOf(await list(`?cursor=${cursorOf(newest!)}`))).toEqual([newest, oldest]);
  });

  test.each([
    ['before the first', '00000000-0000-0000-0000-000000000000', 0],
    ['of a UUID of version 4, which is later', '9c8b5b5c-6f0e-4f7e-8f0c-0d8c6b1f2a3e', 3],
    ['after the last', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 3],
  ])('%s', async (_, id, count) => {
    await send(2);
    await service.send(project, { title: 'T', userIds: ['x'] }, { 'idempotency-key': 'order-1' });
    const { notifications } = await list(`?cursor=${cursorOf(id)}`);
    expect(notifications).toHaveLength(count);
  });
});
