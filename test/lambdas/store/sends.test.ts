import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { partKeys } from '../../../lambdas/store/counters.ts';
import { eventCounterStore, notificationStore } from '../../../lambdas/store/notifications.ts';
import type { NewNotification } from '../../../lambdas/store/sends.ts';
import { type Database, useDatabase } from '../../fixtures/database.ts';
import {
  claimSlice,
  newNotification,
  readNotificationItem,
  sendsOf,
  sliceKey,
  slicesOf,
} from './stored-notifications.ts';

const database = useDatabase();

const sends = () => sendsOf(database);
const begin = (notification: NewNotification, cap: number | null = null) =>
  sends().begin(notification, 'request', cap);
const cancel = (notification: NewNotification, by = 'request') => sends().cancel(notification, by);

const found = (project: ProjectRef, { id }: NewNotification) =>
  notificationStore(database.dynamo, database.tables.NOTIFICATIONS_TABLE, () => new Date()).find(
    project,
    id,
  );

const keyed = { keyHash: 'a1', requestHash: 'b2' };
const earlier = (project: ProjectRef, time = '2126-11-20T12:00:00Z') =>
  sends().earlier(project, 'a1', new Date(time));

const newProject = async () => (await database.createProject()).ref;
const sentIn = (project: ProjectRef, month = '2126-11') => database.usage(project, month);
const unknownProject = 'unknown' as ProjectRef;

/** Its clock is in the month of the notifications. */
const registryOn = (dynamo: DynamoDBDocumentClient) =>
  projectRegistry(dynamo, projectTables(database.tables), () => new Date('2126-11-20T12:00:00Z'));

/** The database's client, with a function that sees the input of each call first. */
function intercepted(
  onCall: (input: TransactWriteCommandInput) => unknown,
): DynamoDBDocumentClient {
  const send = async (command: { readonly input: TransactWriteCommandInput }) => {
    await onCall(command.input);
    return database.dynamo.send(command as never);
  };
  return { send } as unknown as DynamoDBDocumentClient;
}

/** The database's client, which fails after this many calls. */
function interruptedAfter(calls: number): DynamoDBDocumentClient {
  let made = 0;
  return intercepted(() => {
    made += 1;
    if (made > calls) throw new Error('Interrupted.');
  });
}

test('begin takes a unit of the month and stores the notification', async () => {
  const project = await newProject();
  const begun = newNotification(project);
  expect(await begin(begun, 10)).toBe('begun');
  expect(await sentIn(project)).toBe(1);
  const { content, division, sentAt, expiresAt } = begun;
  expect(await found(project, begun)).toEqual({
    id: begun.id,
    ...{ content, division, sentAt, expiresAt },
  });
  expect(await readNotificationItem(database, project, begun.id)).toEqual({
    projectRef: project,
    notificationId: begun.id,
    content: { title: 'T', url: 'https://example.com/' },
    shownSample: 10,
    ...{ subscribers: 3, conditions: {}, slices: 1, countersPerSlice: 1 },
    respondedAsync: false,
    sentAt: '2126-11-20T12:00:00.000Z',
    expiresAt,
  });
});

test.each([10, null])('begin stores nothing for an unknown project: cap %s', async (cap) => {
  const orphan = newNotification(unknownProject);
  expect(await begin(orphan, cap)).toBe('project_gone');
  expect(await readNotificationItem(database, unknownProject, orphan.id)).toBeUndefined();
  expect(await sentIn(unknownProject)).toBe(0);
});

test.each([
  ['before its first send of the month', []],
  ['after a send', ['2126-11-20T11:00:00Z']],
  ['after a send in another month', ['2126-12-01T00:00:00Z', '2126-10-31T23:59:59Z']],
])('begin stores nothing for a project that is being removed, %s', async (_, times) => {
  const { projectId, ref } = await database.createProject();
  for (const time of times) expect(await begin(newNotification(ref, time))).toBe('begun');
  await expect(registryOn(interruptedAfter(2)).remove(projectId)).rejects.toThrow();
  const orphans = ['2126-11-20T12:00:00Z', ...times].flatMap((time) =>
    Array.from({ length: 50 }, () => newNotification(ref, time)),
  );
  for (const orphan of orphans) {
    expect(await begin(orphan)).toBe('project_gone');
    expect(await readNotificationItem(database, ref, orphan.id)).toBeUndefined();
  }
});

test('a first attempt that arrives after the second one began counts once', async () => {
  const project = await newProject();
  const inputs: TransactWriteCommandInput[] = [];
  const late = intercepted(async (input) => {
    inputs.push(input);
    // The first attempt was refused, since the month did not exist.
    if (inputs.length === 3) await database.dynamo.send(new TransactWriteCommand(inputs[0]!));
  });
  const notification = { ...newNotification(project), keyed };
  const onLate = sendsOf({ ...database, dynamo: late });
  expect(await onLate.begin(notification, 'request', 10)).toBe('begun');
  expect(inputs).toHaveLength(3);
  expect(await sentIn(project)).toBe(1);
});

test('begin touches no item that all sends of a project share', async () => {
  const project = await newProject();
  const number = 200;
  const inputs: TransactWriteCommandInput[] = [];
  const recorded = sendsOf({ ...database, dynamo: intercepted((input) => inputs.push(input)) });
  for (let sent = 0; sent < number; sent += 1) {
    const outcome = await recorded.begin(newNotification(project), 'request', null);
    expect(outcome).toBe('begun');
  }
  const sendsByItem = new Map<string, number>();
  const counters = new Set<string>();
  for (const { TransactItems = [] } of inputs) {
    for (const { Update, ConditionCheck, Put } of TransactItems) {
      const write = Update ?? ConditionCheck ?? Put!;
      const item = JSON.stringify([write.TableName, 'Key' in write ? write.Key : Put!.Item]);
      sendsByItem.set(item, (sendsByItem.get(item) ?? 0) + 1);
      if (Update !== undefined) counters.add(item);
    }
  }
  expect(counters.size).toBeGreaterThanOrEqual(5);
  // An eighth of them is expected.
  expect(Math.max(...sendsByItem.values())).toBeLessThan(number / 4);
});

describe('a request with an Idempotency-Key', () => {
  test('is found with its notification and the request that owns it', async () => {
    const project = await newProject();
    expect(await earlier(project)).toBeUndefined();
    const begun = { ...newNotification(project), keyed };
    await begin(begun, 10);
    expect(await earlier(project)).toMatchObject({
      ...{ requestHash: 'b2', sendId: begun.id },
      ...{ ownedBy: 'request', ownedAt: begun.sentAt.getTime() },
    });
  });

  test('is recognised for 24 hours, at the cap too', async () => {
    const project = await newProject();
    const at = (time: string) => ({ ...newNotification(project, time), keyed });
    expect(await begin(at('2126-11-20T12:00:00Z'), 1)).toBe('begun');
    expect(await begin(at('2126-11-21T11:59:59Z'), 1)).toBe('repeated');
    expect(await earlier(project, '2126-11-21T11:59:59Z')).toBeDefined();
    expect(await earlier(project, '2126-11-21T12:00:00Z')).toBeUndefined();
    expect(await begin(at('2126-11-21T12:00:00Z'), 2)).toBe('begun');
  });

  test('does not affect the same key in another project', async () => {
    expect(await begin({ ...newNotification(await newProject()), keyed }, 10)).toBe('begun');
    expect(await begin({ ...newNotification(await newProject()), keyed }, 10)).toBe('begun');
  });

  test('is continued by one of many repetitions, which alone may cancel it then', async () => {
    const project = await newProject();
    const begun = { ...newNotification(project), keyed };
    await begin(begun, 10);
    const first = (await earlier(project))!;
    const now = new Date('2126-11-20T12:01:00Z');
    const requests = ['r1', 'r2', 'r3'];
    const continued = await Promise.all(
      requests.map((by) => sends().continueSend(project, 'a1', first, by, now)),
    );
    expect(continued.filter(Boolean)).toHaveLength(1);
    const owner = requests[continued.indexOf(true)]!;
    expect(await earlier(project)).toMatchObject({ ownedBy: owner, ownedAt: now.getTime() });
    expect(await cancel(begun)).toBe(false);
    expect(await sentIn(project)).toBe(1);
    expect(await cancel(begun, owner)).toBe(true);
    expect(await sentIn(project)).toBe(0);
  });

  test('is continued by a repetition whose write was repeated', async () => {
    const project = await newProject();
    await begin({ ...newNotification(project), keyed }, 10);
    const first = (await earlier(project))!;
    const now = new Date('2126-11-20T12:01:00Z');
    expect(await sends().continueSend(project, 'a1', first, 'r1', now)).toBe(true);
    expect(await sends().continueSend(project, 'a1', first, 'r1', now)).toBe(true);
  });
});

// Which slices may be cancelled: `slices.test.ts`.
describe('cancel', () => {
  const stored = (project: ProjectRef, { id }: NewNotification) =>
    readNotificationItem(database, project, id);

  test('undoes begin, once: its unit is free, and so is its key', async () => {
    const project = await newProject();
    const begun = { ...newNotification(project), keyed };
    await begin(begun, 1);
    expect([await cancel(begun), await cancel(begun)]).toEqual([true, true]);
    expect(await sentIn(project)).toBe(0);
    expect(await stored(project, begun)).toMatchObject({ cancelled: true });
    expect(await found(project, begun)).toBeUndefined();
    expect(await earlier(project)).toBeUndefined();
    expect(await begin({ ...newNotification(project), keyed }, 1)).toBe('begun');
  });

  test.each([true, false])(
    'makes a begin fail that arrives later: begun before %s',
    async (before) => {
      const project = await newProject();
      const late = { ...newNotification(project), keyed };
      if (before) await begin(late, 10);
      await cancel(late);
      // A second call has another token, so the database does not recognise it.
      await expect(begin(late, 10)).rejects.toThrow('ConditionalCheckFailed');
      expect(await sentIn(project)).toBe(0);
      expect(await earlier(project)).toBeUndefined();
    },
  );

  test('undoes begin after the same request has claimed a slice, and leaves no counter of events', async () => {
    const project = await newProject();
    const begun = newNotification(project);
    await begin(begun, 10);
    await claimSlice(database, begun, 'request/1');
    expect(await cancel(begun)).toBe(true);
    expect(await sentIn(project)).toBe(0);
    const events = eventCounterStore(database.dynamo, database.tables.DELIVERIES_TABLE);
    expect(await events.count(project, begun.id, 0, 'shown')).toBe(false);
  });

  test.each([
    ['another invocation has claimed', claimSlice],
    ['the owner has stopped', stopSlice],
  ])('changes nothing if a slice is one that %s', async (_, change) => {
    const project = await newProject();
    const { division, ...rest } = newNotification(project);
    const begun = { ...rest, division: { ...division, slices: 3 }, keyed };
    await begin(begun, 10);
    await change(database, begun, 'other');
    const record = await stored(project, begun);
    const slices = await slicesOf(database).find(begun.id, [0, 1, 2]);
    expect(await cancel(begun)).toBe(false);
    expect(await stored(project, begun)).toEqual(record);
    expect(await slicesOf(database).find(begun.id, [0, 1, 2])).toEqual(slices);
    expect(await sentIn(project)).toBe(1);
    expect(await earlier(project)).toBeDefined();
  });

  test('prevents that any slice is claimed later', async () => {
    const project = await newProject();
    const { division, ...rest } = newNotification(project);
    const begun = { ...rest, division: { ...division, slices: 3, countersPerSlice: 2 } };
    await begin(begun, 10);
    await cancel(begun);
    expect(await claimSlice(database, begun, 'late')).toMatchObject({ ended: 'cancelled' });
    expect(await slicesOf(database).find(begun.id, [0, 1, 2])).toMatchObject(
      Array(3).fill({ ended: 'cancelled' }),
    );
  });

  test.each([
    [true, 'nobody has claimed a slice', undefined],
    [false, 'another invocation has claimed a slice', claimSlice],
    [false, 'the owner has stopped a slice', stopSlice],
  ])('of a project that is being removed returns %p if %s', async (isUndone, _, change) => {
    const project = await newProject();
    const begun = newNotification(project);
    await begin(begun, 10);
    await change?.(database, begun, 'other');
    for (const Key of partKeys(project, '2126-11')) {
      const TableName = database.tables.USAGE_TABLE;
      await database.dynamo.send(new DeleteCommand({ TableName, Key }));
    }
    expect(await cancel(begun)).toBe(isUndone);
  });

  test('stores nothing for a project that never existed', async () => {
    const orphan = newNotification(unknownProject);
    await cancel(orphan);
    expect(await stored(unknownProject, orphan)).toBeUndefined();
    expect(await slicesOf(database).find(orphan.id, [0])).toEqual([undefined]);
  });

  test('stores nothing for a project that was deleted', async () => {
    const { projectId, ref } = await database.createProject();
    const failed = newNotification(ref);
    await begin(failed, 10);
    await registryOn(database.dynamo).remove(projectId);
    await cancel(failed);
    expect(await stored(ref, failed)).toBeUndefined();
    expect(await sentIn(ref)).toBe(0);
  });
});

async function stopSlice(database: Database, notification: NewNotification): Promise<void> {
  await slicesOf(database).stop(sliceKey(notification), 900);
}
