import { randomBytes } from 'node:crypto';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../admin/project-tables.ts';
import { noCounts } from '../../../contract/counts.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { openTally, tallyStore } from '../../../lambdas/store/tallies.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import {
  claimFirstShare,
  newNotification,
  readNotificationItem,
  sendsOf,
  talliesOf,
} from './stored-notifications.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const sends = () => sendsOf(database);

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
  const projectId = await database.createProject();
  const begun = newNotification(projectId);
  expect(await sends().begin(begun, 10)).toBe('begun');
  expect(await database.usage(projectId, '2126-11')).toBe(1);
  expect(await readNotificationItem(database, projectId, begun.id)).toEqual({
    projectId,
    notificationId: begun.id,
    content: { title: 'T', url: 'https://example.com/' },
    subscribers: 3,
    shares: 1,
    talliesPerShare: 1,
    respondedAsync: false,
    sentAt: '2126-11-20T12:00:00.000Z',
    expiresAt: Date.parse('2127-02-18T12:00:00Z') / 1000,
  });
});

test('begin stores nothing for a project that was deleted', async () => {
  const orphan = newNotification('no-such-project');
  expect(await sends().begin(orphan, 10)).toBe('project_gone');
  expect(await sends().begin(orphan, null)).toBe('project_gone');
  expect(await readNotificationItem(database, 'no-such-project', orphan.id)).toBeUndefined();
  expect(await database.usage('no-such-project', '2126-11')).toBe(0);
});

test.each([
  ['before its first send of the month', []],
  ['after a send', ['2126-11-20T11:00:00Z']],
  ['after a send in another month', ['2126-12-01T00:00:00Z', '2126-10-31T23:59:59Z']],
])('begin stores nothing for a project that is being removed, %s', async (_, times) => {
  const projectId = await database.createProject();
  for (const time of times) {
    expect(await sends().begin(newNotification(projectId, time), null)).toBe('begun');
  }
  await expect(registryOn(interruptedAfter(1)).remove(projectId, randomBytes)).rejects.toThrow();
  const orphans = ['2126-11-20T12:00:00Z', ...times].flatMap((time) =>
    Array.from({ length: 50 }, () => newNotification(projectId, time)),
  );
  for (const orphan of orphans) expect(await sends().begin(orphan, null)).toBe('project_gone');
  for (const { id } of orphans) {
    expect(await readNotificationItem(database, projectId, id)).toBeUndefined();
  }
});

test.each([
  ['before', 0],
  ['after', 1],
])(
  'begin stores nothing for an earlier project of the same id, %s the first send of the later one',
  async (_, earlierSends) => {
    const projectId = await database.createProject();
    for (let sent = 0; sent < earlierSends; sent += 1) {
      expect(await sends().begin(newNotification(projectId), null)).toBe('begun');
    }
    const orphan = { ...newNotification(projectId), projectCreatedAt: '2026-10-01T00:00:00.000Z' };
    expect(await sends().begin(orphan, null)).toBe('project_gone');
    await sends().cancel(orphan, 'r');
    expect(await readNotificationItem(database, projectId, orphan.id)).toBeUndefined();
    expect(await database.usage(projectId, '2126-11')).toBe(earlierSends);
  },
);

test('the first send of a month creates its counter, also if 20 arrive at the same time', async () => {
  const projectId = await database.createProject();
  const all = Array.from({ length: 20 }, () => newNotification(projectId));
  const outcomes = await Promise.all(all.map((one) => sends().begin(one, 20)));
  expect(outcomes).toEqual(Array(20).fill('begun'));
  expect(await database.usage(projectId, '2126-11')).toBe(20);
  const before = database.calls();
  expect(await sends().begin(newNotification(projectId), null)).toBe('begun');
  expect(database.calls() - before).toBe(1);
});

test('a first attempt that arrives after the second one began counts once', async () => {
  const projectId = await database.createProject();
  const inputs: TransactWriteCommandInput[] = [];
  const late = intercepted(async (input) => {
    inputs.push(input);
    // The first attempt was refused, since the month did not exist.
    if (inputs.length === 3) await database.dynamo.send(new TransactWriteCommand(inputs[0]!));
  });
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };
  const notification = { ...newNotification(projectId), idempotency };
  expect(await sendsOf({ ...database, dynamo: late }).begin(notification, 10)).toBe('begun');
  expect(inputs).toHaveLength(3);
  expect(await database.usage(projectId, '2126-11')).toBe(1);
});

test('begin stores the tallies of the share that the request delivers, or nothing', async () => {
  const projectId = await database.createProject();
  const { TALLIES_TABLE } = database.tables;
  const beginUnder = async (cap: number) => {
    const notification = newNotification(projectId);
    const claimed = [openTally({ ...key, projectId, notificationId: notification.id }, 0)];
    const outcome = await sends().begin({ ...notification, claimed }, cap);
    const [tally] = await tallyStore(database.dynamo, TALLIES_TABLE).find(notification.id, [0]);
    return [outcome, tally === undefined ? 'no tally' : 'tally'];
  };
  expect(await beginUnder(1)).toEqual(['begun', 'tally']);
  expect(await beginUnder(1)).toEqual(['cap_reached', 'no tally']);
});

const key = { firstTally: 0, expiresAt: 1_900_000_000 };

test('begin touches no item that all sends of a project share', async () => {
  const projectId = await database.createProject();
  const number = 200;
  const inputs: TransactWriteCommandInput[] = [];
  const recorded = sendsOf({
    ...database,
    dynamo: intercepted((input) => inputs.push(input)),
  });
  for (let sent = 0; sent < number; sent += 1) {
    expect(await recorded.begin(newNotification(projectId), null)).toBe('begun');
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

test('60 concurrent sends with a cap of 20 store 20 notifications', async () => {
  const projectId = await database.createProject();
  const notifications = Array.from({ length: 60 }, () => newNotification(projectId));
  const outcomes = await Promise.all(notifications.map((one) => sends().begin(one, 20)));
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(20);
  expect(await database.usage(projectId, '2126-11')).toBe(20);
  const records = await Promise.all(
    notifications.map(({ id }) => readNotificationItem(database, projectId, id)),
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

describe('cancel', () => {
  const idempotency = { keyHash: 'a1', requestHash: 'b2' };

  /** Whether the notification is stored, and not as cancelled. */
  async function isBegun({ projectId, id }: NewNotification): Promise<boolean> {
    const item = await readNotificationItem(database, projectId, id);
    return item !== undefined && !('cancelled' in item);
  }

  test('makes another attempt to begin, which arrives later, fail', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    // A second call has another token, so the database does not recognise it.
    await expect(sends().begin(begun, 10)).rejects.toThrow('ConditionalCheckFailed');
    expect(await isBegun(begun)).toBe(false);
    expect(await database.usage(projectId, '2126-11')).toBe(0);
  });

  test('returns the unit, once', async () => {
    const projectId = await database.createProject();
    const begun = newNotification(projectId);
    await sends().begin(begun, 1);
    await sends().cancel(begun, 'r');
    await sends().cancel(begun, 'r');
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await readNotificationItem(database, projectId, begun.id)).toMatchObject({
      cancelled: true,
    });
    expect(await sends().begin(newNotification(projectId), 1)).toBe('begun');
  });

  test('undoes begin', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    expect(await isBegun(begun)).toBe(false);
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().begin({ ...newNotification(projectId), idempotency }, 10)).toBe('begun');
  });

  test('undoes begin after the first share was claimed by the same invocation', async () => {
    const projectId = await database.createProject();
    const begun = newNotification(projectId);
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'r');
    await sends().cancel(begun, 'r');
    expect(await isBegun(begun)).toBe(false);
    expect(await database.usage(projectId, '2126-11')).toBe(0);
  });

  test('does nothing if another invocation has claimed the first share', async () => {
    const projectId = await database.createProject();
    const begun = { ...newNotification(projectId), idempotency };
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'other');
    const record = await readNotificationItem(database, projectId, begun.id);
    await sends().cancel(begun, 'r');
    expect(await readNotificationItem(database, projectId, begun.id)).toEqual(record);
    expect(await database.usage(projectId, '2126-11')).toBe(1);
    expect(await sends().earlier(projectId, 'a1')).toBeDefined();
  });

  test.each([
    ['undoes begin', 'without a push', 0],
    ['does nothing', 'after a push', 1],
  ])('%s if another invocation has ended the first share %s', async (_does, _when, attempted) => {
    const projectId = await database.createProject();
    const begun = newNotification(projectId);
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'other');
    const counts = { ...noCounts, attempted, delivered: attempted };
    await talliesOf(database).save(
      { projectId, notificationId: begun.id, firstTally: 0, expiresAt: 5_000_000_000 },
      { by: 'other', step: 2, previous: { by: 'other', step: 1 } },
      { until: 1000, position: 1, pending: 0, counts, ended: 'incomplete' },
    );
    await sends().cancel(begun, 'r');
    expect(await database.usage(projectId, '2126-11')).toBe(attempted);
  });

  test('does nothing after a stop, and says so', async () => {
    const projectId = await database.createProject();
    const { division, ...rest } = newNotification(projectId);
    const begun = { ...rest, division: { ...division, shares: 3 }, idempotency };
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'r');
    const last = { projectId, notificationId: begun.id, firstTally: 2, expiresAt: 5_000_000_000 };
    await talliesOf(database).stop(last, 900);
    const record = await readNotificationItem(database, projectId, begun.id);
    expect(await sends().cancel(begun, 'r')).toBe('stopped');
    expect(await readNotificationItem(database, projectId, begun.id)).toEqual(record);
    expect(await database.usage(projectId, '2126-11')).toBe(1);
    expect(await talliesOf(database).find(begun.id, [0, 2])).toMatchObject([
      { ended: undefined },
      { stoppedAt: 900 },
    ]);
  });

  test('either undoes a send or leaves it stopped', async () => {
    const projectId = await database.createProject();
    for (let round = 0; round < 10; round += 1) {
      const begun = newNotification(projectId);
      await sends().begin(begun, null);
      const share = { projectId, notificationId: begun.id, firstTally: 0, expiresAt: 5e9 };
      const [cancelled] = await Promise.all([
        sends().cancel(begun, 'r'),
        talliesOf(database).stop(share, 900),
      ]);
      const isKept = await isBegun(begun);
      const [tally] = await talliesOf(database).find(begun.id, [0]);
      expect(isKept).toBe(cancelled === 'stopped');
      expect(tally).toMatchObject(isKept ? { stoppedAt: 900 } : { ended: 'cancelled' });
      expect(tally!.ended === undefined || tally!.stoppedAt === undefined).toBe(true);
    }
  });

  test('leaves no tally that counts events', async () => {
    const projectId = await database.createProject();
    const begun = newNotification(projectId);
    await sends().begin(begun, 10);
    await claimFirstShare(database, begun, 'r');
    await sends().cancel(begun, 'r');
    expect(await talliesOf(database).count(projectId, begun.id, 0, 'shown')).toBe(false);
  });

  test('prevents that the first share is claimed later', async () => {
    const projectId = await database.createProject();
    const begun = newNotification(projectId);
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    expect(await claimFirstShare(database, begun, 'late')).toBe(false);
    // Otherwise an invocation without a deadline would take it over, as that of a dead function.
    expect(await talliesOf(database).find(begun.id, [0])).toMatchObject([{ ended: 'cancelled' }]);
  });

  test('prevents that any other share is claimed later', async () => {
    const projectId = await database.createProject();
    const { division, ...rest } = newNotification(projectId);
    const begun = { ...rest, division: { ...division, shares: 3, talliesPerShare: 2 } };
    await sends().begin(begun, 10);
    await sends().cancel(begun, 'r');
    const cancelled = { ended: 'cancelled' };
    expect(await talliesOf(database).find(begun.id, [0, 2, 4])).toMatchObject([
      cancelled,
      cancelled,
      cancelled,
    ]);
  });

  test('either undoes a send or leaves it to the invocation that claims it', async () => {
    const projectId = await database.createProject();
    for (let round = 0; round < 10; round += 1) {
      const begun = newNotification(projectId);
      await sends().begin(begun, null);
      const [claimed] = await Promise.all([
        claimFirstShare(database, begun, 'other'),
        sends().cancel(begun, 'r'),
      ]);
      expect(await isBegun(begun)).toBe(claimed);
    }
  });

  test('makes a later begin of the same notification fail', async () => {
    const projectId = await database.createProject();
    const late = { ...newNotification(projectId), idempotency };
    await sends().cancel(late, 'r');
    await expect(sends().begin(late, 10)).rejects.toThrow();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
    expect(await sends().earlier(projectId, 'a1')).toBeUndefined();
  });

  test('stores nothing for a project that never existed', async () => {
    const orphan = newNotification('no-such-project');
    await sends().cancel(orphan, 'r');
    expect(await readNotificationItem(database, 'no-such-project', orphan.id)).toBeUndefined();
    expect(await talliesOf(database).find(orphan.id, [0])).toEqual([undefined]);
  });

  test('stores nothing for a project that was deleted', async () => {
    const projectId = await database.createProject();
    const failed = newNotification(projectId);
    await sends().begin(failed, 10);
    await registryOn(database.dynamo).remove(projectId, randomBytes);
    await sends().cancel(failed, 'r');
    expect(await readNotificationItem(database, projectId, failed.id)).toBeUndefined();
    expect(await database.usage(projectId, '2126-11')).toBe(0);
  });
});
